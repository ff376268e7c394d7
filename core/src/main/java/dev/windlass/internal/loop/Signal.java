package dev.windlass.internal.loop;

import java.util.Locale;

/**
 * What nodes tell each other on the channel of a table. As text it is the kind in small letters, and after a blank what it is
 * about.
 *
 * @param subject what it is about; empty if there is nothing to say, or too much
 */
public record Signal(Kind kind, String subject) {
    /** Several have become ready, or will soon: some may not be committed yet. */
    public static final Signal READY = new Signal(Kind.READY, "");

    /** What was sent may not have arrived, or will not arrive any more: it is good to look. Nobody sends this. */
    static final Signal MISSED = new Signal(Kind.MISSED, "");

    public enum Kind {
        /** Something of this topic, or of this name, is ready. */
        READY,
        /** Topics have been paused, resumed or limited. */
        TOPICS,
        /** Something in progress is to be cancelled. */
        CANCEL,
        /** Anything may have been sent, and was not heard. */
        MISSED,
        /** Who listens tells itself, to know whether it hears. */
        PROOF,
        /** What only newer programs know. */
        UNKNOWN;

        private final String text = name().toLowerCase(Locale.ROOT);
    }

    public static Signal of(String text) {
        int blank = text.indexOf(' ');
        String name = blank < 0 ? text : text.substring(0, blank);
        for (Kind kind : Kind.values()) {
            if (kind.text.equals(name)) {
                return new Signal(kind, blank < 0 ? "" : text.substring(blank + 1));
            }
        }
        return new Signal(Kind.UNKNOWN, text);
    }

    public String text() {
        return subject.isEmpty() ? kind.text : kind.text + " " + subject;
    }

    /** Whether it speaks of everything, and of what may still come. */
    public boolean isAboutAll() {
        return kind == Kind.READY && subject.isEmpty();
    }
}
