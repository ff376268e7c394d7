package dev.windlass.internal.lease;

/** How often somebody who waits for a lease has looked in vain. */
final class Looks {
    private int all;
    private int unsettled;

    void count(AcquireAnswer refusal) {
        all++;
        unsettled = refusal.isUnsettled() ? unsettled + 1 : 0;
    }

    int all() {
        return all;
    }

    /** The last ones in a row that found the lease in the hands of somebody who is changing it. */
    int unsettled() {
        return unsettled;
    }
}
