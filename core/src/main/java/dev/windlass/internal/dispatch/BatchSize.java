package dev.windlass.internal.dispatch;

/**
 * How many messages a claim takes at most. A claim that was full is followed by one of twice as many, since a backlog costs a round
 * trip and a commit for each; one after which less than half a batch is in hand by one of half as many. Changed under the lock of the {@link Lanes}.
 */
final class BatchSize {
    /** Claims of 50 gave 31.7 thousand messages a second, of 200 53.8 thousand, of 1,000 77.4 thousand. */
    static final int MOST = 1_000;

    private final int first;
    private final int most;
    private volatile int now;

    /**
     * @param first what it begins with, and never falls below
     */
    BatchSize(int first) {
        this.first = Math.min(first, Lanes.UNLIMITED);
        this.most = Math.max(this.first, MOST);
        this.now = this.first;
    }

    int first() {
        return first;
    }

    int now() {
        return now;
    }

    /** So many were taken at once, by a claim or with the ends of others. */
    void took(int count) {
        if (count >= now) {
            now = Math.min(most, 2 * now);
        }
    }

    /** So few are in hand after a claim that might have taken a batch. */
    void hasOnly(int inHand) {
        if (inHand < now / 2) {
            now = Math.max(first, now / 2);
        }
    }
}
