package dev.windlass.benchmarks.system;

/** What not every system can do. */
public enum Ability {
    /** Writes a message in the caller's transaction. */
    TRANSACTION,
    /** Writes a message that is due at a given time. */
    TIMER,
    /** Handles messages of one key one after the other, in their order. */
    ORDERING
}
