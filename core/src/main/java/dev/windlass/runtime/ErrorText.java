package dev.windlass.runtime;

/** Error texts as they are stored: bounded, and not cut within a character. */
public final class ErrorText {
    private static final int MAX = 2048;

    private ErrorText() {}

    public static String bounded(String text) {
        if (text.length() <= MAX) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(MAX - 1)) ? MAX - 1 : MAX);
    }
}
