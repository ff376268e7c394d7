package dev.windlass.internal.lease;

/** Why a lease is not held any more, if its holder did not close it. */
enum LossReason {
    REFUSED("the database refused to renew it"),
    RAN_OUT("its time ran out without a renewal"),
    NODE_CLOSED("the Windlass it belongs to was closed");

    final String reason;

    LossReason(String reason) {
        this.reason = reason;
    }
}
