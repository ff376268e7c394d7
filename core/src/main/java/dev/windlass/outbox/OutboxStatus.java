package dev.windlass.outbox;

import java.util.List;

/** The states of a message, with the numbers the database stores. */
public enum OutboxStatus {
    /** 0: waits to be claimed, perhaps until a later time. */
    READY,
    /** 1: claimed; has an owner and a lease. */
    IN_PROGRESS,
    /** 2: handled. */
    DONE,
    /** 3: given up: attempts used up, refused by the handler, or expired. A dead letter. */
    FAILED,
    /** 4: waits for its turn behind another message of the same ordering key. */
    WAITING,
    /** 5: cancelled before it was handled. */
    CANCELLED;

    static OutboxStatus of(int code) {
        return values()[code];
    }

    int code() {
        return List.of(values()).indexOf(this);
    }
}
