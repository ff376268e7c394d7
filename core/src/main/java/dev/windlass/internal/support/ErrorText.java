package dev.windlass.internal.support;

import java.util.Objects;

/** Error texts as they are stored: bounded, and not cut within a character. */
public final class ErrorText {
    private static final int MAX = 2048;

    private ErrorText() {}

    /** What to store about a failure: bounded, and without what a database cannot store. */
    public static String of(Throwable failure) {
        return bounded(describe(failure).replace('\0', ' '));
    }

    /** An exception is the user's code too: its text may fail, or not be there. */
    private static String describe(Throwable failure) {
        try {
            return Objects.requireNonNull(failure.toString());
        } catch (Throwable e) {
            return failure.getClass().getName();
        }
    }

    public static String bounded(String text) {
        if (text.length() <= MAX) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(MAX - 1)) ? MAX - 1 : MAX);
    }
}
