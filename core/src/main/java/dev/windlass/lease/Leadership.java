package dev.windlass.lease;

/** A node's part in the election of a leader, until it is closed. */
public interface Leadership extends AutoCloseable {

    String name();

    /** Whether this node leads now. Asks no database. */
    boolean isLeader();

    /**
     * Ends this node's part. If it leads, the work is asked to stop ({@link Lease#cancellation}), has the shutdown grace to do so,
     * and then the next node leads at once. Work that does not stop is interrupted; if it goes on even then, no other node leads
     * until it ends or this {@link dev.windlass.Windlass} is closed and the lease runs out. Closing twice does nothing.
     */
    @Override
    void close();
}
