package dev.windlass.cli;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a distance in time: 90s, 30m, 2h, 7d. */
final class Distance implements ITypeConverter<Duration> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})([smhd])");

    @Override
    public Duration convert(String value) {
        return read(value)
                .orElseThrow(() -> new TypeConversionException(
                        "expected a distance in time such as 90s, 30m, 2h or 7d, got '" + value + "'"));
    }

    static Optional<Duration> read(String value) {
        Matcher parts = FORM.matcher(value);
        if (!parts.matches()) {
            return Optional.empty();
        }
        long number = Long.parseLong(parts.group(1));
        return Optional.of(
                switch (parts.group(2)) {
                    case "s" -> Duration.ofSeconds(number);
                    case "m" -> Duration.ofMinutes(number);
                    case "h" -> Duration.ofHours(number);
                    default -> Duration.ofDays(number);
                });
    }
}
