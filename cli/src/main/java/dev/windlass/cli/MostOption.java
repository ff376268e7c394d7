package dev.windlass.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** How far is counted, or how many are looked at. */
final class MostOption {
    private static final int MOST = 100_000;

    @Option(
            names = "--most",
            paramLabel = "N",
            defaultValue = "1000",
            converter = UpTo.class,
            description = "Count up to so many, or look at so many (default: ${DEFAULT-VALUE}).")
    int most = 1000;

    static final class UpTo implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            int most = value.matches("\\d{1,6}") ? Integer.parseInt(value) : 0;
            if (most < 1 || most > MOST) {
                throw new TypeConversionException("expected a number from 1 to %,d, got '%s'".formatted(MOST, value));
            }
            return most;
        }
    }
}
