package dev.windlass.store;

import java.util.Optional;

/**
 * How a store is doing.
 *
 * @param problem why it is not open, or that its database does not answer; without what a database or a driver may quote
 */
public record StoreState(String id, Status status, Optional<String> problem) {

    /** What a store is at. */
    public enum Status {
        /** It is being opened for the first time. */
        OPENING,
        /** It is worked on, now or as soon as its database is there. */
        OPEN,
        /** It could not be opened, and is tried again. */
        FAILED,
        /** It is not wanted any more; its handlers finish. */
        CLOSING
    }
}
