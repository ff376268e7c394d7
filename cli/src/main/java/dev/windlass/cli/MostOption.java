package dev.windlass.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

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
            return Accepted.number(1, MOST, value);
        }
    }
}
