package dev.windlass.inbox;

import java.util.List;

/** The states of a message, with the numbers the database stores. */
public enum InboxStatus {
    /** 0: waits for its next attempt: to be claimed, if it is queued, or to be begun again. */
    READY,
    /** 1: being processed; has an owner and a lease. */
    IN_PROGRESS,
    /** 2: processed. */
    DONE,
    /** 3: given up: attempts used up, or refused. */
    DEAD;

    static InboxStatus of(int code) {
        return values()[code];
    }

    int code() {
        return List.of(values()).indexOf(this);
    }
}
