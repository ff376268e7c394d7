package dev.windlass.cli;

import java.time.Duration;
import java.util.function.Consumer;
import picocli.CommandLine.TypeConversionException;

/** Asks which values can be taken, the library itself where it knows, so that a bad one is wrong use of its option. */
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

    static int number(int least, int most, String value) {
        int number = value.matches("\\d{1,6}") ? Integer.parseInt(value) : least - 1;
        if (number < least || number > most) {
            throw new TypeConversionException(
                    "expected a number from %,d to %,d, got '%s'".formatted(least, most, value));
        }
        return number;
    }
}
