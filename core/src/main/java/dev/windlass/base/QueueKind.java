package dev.windlass.base;

import java.util.Locale;

/** Which of the queues of a store. */
public enum QueueKind {
    OUTBOX,
    INBOX,
    WORK,
    TIMERS,
    RUNS;

    private final String text = name().toLowerCase(Locale.ROOT);

    /** As it is written in metrics and on the command line. */
    @Override
    public String toString() {
        return text;
    }
}
