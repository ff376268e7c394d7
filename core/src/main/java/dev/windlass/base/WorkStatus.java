package dev.windlass.base;

import java.util.List;

/** The states of a message, a timer or a run, with the numbers the database stores. */
public enum WorkStatus {
    /** 0: waits to be claimed, perhaps until a later time. */
    READY,
    /** 1: claimed; has an owner and a lease. */
    IN_PROGRESS,
    /** 2: handled. */
    DONE,
    /** 3: given up: attempts used up, refused by the handler, or expired. A dead letter. */
    FAILED,
    /** 4: waits for its turn behind another, as under an ordering key. */
    WAITING,
    /** 5: cancelled before it was handled. */
    CANCELLED;

    /** The state that the database stores as this number. */
    public static WorkStatus of(int code) {
        return values()[code];
    }

    public int code() {
        return List.of(values()).indexOf(this);
    }
}
