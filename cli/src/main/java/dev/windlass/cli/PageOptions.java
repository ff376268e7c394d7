package dev.windlass.cli;

import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** How much of a list is shown, and how. */
final class PageOptions {
    private static final int MOST = 10_000;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "50",
            converter = Limit.class,
            description = "Show at most so many (default: ${DEFAULT-VALUE}).")
    int limit = 50;

    @Option(names = "--json", description = "Print one JSON object per line.")
    boolean json;

    List<String> words() {
        return json
                ? List.of("--limit", Integer.toString(limit), "--json")
                : List.of("--limit", Integer.toString(limit));
    }

    private static final class Limit implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return Accepted.number(1, MOST, value);
        }
    }
}
