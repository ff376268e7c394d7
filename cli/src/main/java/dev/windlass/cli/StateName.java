package dev.windlass.cli;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.TypeConversionException;

/** States as they are written on the command line: in-progress for IN_PROGRESS. */
final class StateName {

    private StateName() {}

    static <E extends Enum<E>> E read(Class<E> states, String value) {
        return Arrays.stream(states.getEnumConstants())
                .filter(state ->
                        option(state).equals(value.toLowerCase(Locale.ROOT).replace('_', '-')))
                .findFirst()
                .orElseThrow(
                        () -> new TypeConversionException("expected one of " + all(states) + ", got '" + value + "'"));
    }

    private static <E extends Enum<E>> String all(Class<E> states) {
        return Arrays.stream(states.getEnumConstants()).map(StateName::option).collect(Collectors.joining(", "));
    }

    static String option(Enum<?> state) {
        return state.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static String words(Enum<?> state) {
        return state.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
