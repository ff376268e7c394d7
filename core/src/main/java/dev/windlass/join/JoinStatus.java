package dev.windlass.join;

/** Where a join is in its life. */
public enum JoinStatus {
    /** Not all steps have ended. */
    PENDING(0),
    /** All have ended, and none failed, or it does not matter. */
    COMPLETED(1),
    /** All have ended, and at least one failed. */
    FAILED(2),
    /** Somebody has cancelled it: its steps count nowhere, and nothing follows. */
    CANCELLED(3);

    private final int code;

    JoinStatus(int code) {
        this.code = code;
    }

    /** As it is stored. */
    public int code() {
        return code;
    }

    public static JoinStatus of(int code) {
        for (JoinStatus status : values()) {
            if (status.code == code) {
                return status;
            }
        }
        throw new IllegalArgumentException("expected the status of a join from 0 to 3, got " + code);
    }
}
