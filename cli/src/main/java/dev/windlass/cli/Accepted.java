package dev.windlass.cli;

import java.time.Duration;
import java.util.function.Consumer;
import picocli.CommandLine.TypeConversionException;

/** Asks the library itself which values it takes, so that a bad one is wrong use of its option. */
final class Accepted {

    private Accepted() {}

    static String by(Runnable attempt, String value) {
        try {
            attempt.run();
            return value;
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(String.valueOf(e.getMessage()));
        }
    }

    /** The same of a distance in time. */
    static Duration time(Consumer<Duration> attempt, String value) {
        Duration time = new Distance().convert(value);
        by(() -> attempt.accept(time), value);
        return time;
    }
}
