package dev.windlass.cli.http;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** In which format metrics are told to somebody who accepts these. */
final class ScrapeFormat {
    private static final String OPEN_METRICS = "application/openmetrics-text";
    private static final String PLAIN = "text/plain";
    private static final Pattern WEIGHT = Pattern.compile("(?i);\\s*q\\s*=\\s*([0-9.]{1,5})\\s*(;|$)");

    private ScrapeFormat() {}

    static String of(List<String> accepted) {
        double open = weight(OPEN_METRICS, accepted);
        return open > 0 && open >= weight(PLAIN, accepted)
                ? OPEN_METRICS + "; version=1.0.0; charset=utf-8"
                : PLAIN + "; version=0.0.4; charset=utf-8";
    }

    /** How much a type is wanted: 1 unless a number is said, 0 if it is not named. */
    private static double weight(String type, List<String> accepted) {
        return accepted.stream()
                .flatMap(header -> Stream.of(header.split(",", -1)))
                .map(String::strip)
                .filter(range -> range.split(";", 2)[0].strip().equalsIgnoreCase(type))
                .mapToDouble(ScrapeFormat::weight)
                .max()
                .orElse(0);
    }

    private static double weight(String range) {
        Matcher said = WEIGHT.matcher(range);
        try {
            return said.find() ? Double.parseDouble(said.group(1)) : 1;
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
