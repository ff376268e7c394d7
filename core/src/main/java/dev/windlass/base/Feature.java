package dev.windlass.base;

/** The parts of Windlass that a program can use alone, each with tables of its own. */
public enum Feature {
    OUTBOX,
    /** Timers and jobs. They become messages of the outbox, and cannot be without it. */
    SCHEDULE,
    INBOX,
    /** The work queue. */
    WORK,
    LEASES
}
