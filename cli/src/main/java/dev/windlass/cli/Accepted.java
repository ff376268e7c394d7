package dev.windlass.cli;

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
}
