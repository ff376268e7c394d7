package dev.windlass.lease;

import dev.windlass.base.Cancellation;
import java.time.Instant;

/**
 * A name, or a permit of a semaphore, that this program holds alone until it closes this, or loses it.
 *
 * <p>It is renewed by itself, as long as the program and the database live. It can be lost nevertheless: the database was away,
 * or this process stood still, for longer than the lease. Ask {@link #throwIfLost} before each step that must not be done by
 * two. Between that question and the step time passes; full safety therefore needs the {@link #fencingToken}, sent along with
 * each write and compared by whatever is written to.
 *
 * <p>Not re-entrant: a second acquisition of the same name, also by the same thread, is refused while this one is held.
 * Thread-safe.
 */
public interface Lease extends AutoCloseable {

    String name();

    /** Who holds it, as others see it: the name of the node. */
    String owner();

    /**
     * A number greater than that of every holder before. A resource that remembers the greatest it has seen, and refuses
     * writes with a smaller one, is safe from holders that do not know yet that they have lost.
     */
    long fencingToken();

    /** Until when it holds without a further renewal, by the database's clock. Not to be compared with the clock of this machine. */
    Instant expiresAt();

    /** When it was acquired or last renewed, by the database's clock. */
    Instant serverTime();

    /**
     * Whether it is not held any more, or may not be: it was refused a renewal, its time ran out without one, or it was closed.
     * Never turns back to false. Asks no database.
     */
    boolean isLost();

    /**
     * Goes on only while the lease is held. Asks no database.
     *
     * @throws LostLeaseException if {@link #isLost}
     */
    void throwIfLost();

    /**
     * Renews it now, without waiting for the automatic renewal. Returns whether that worked; if not, the lease is lost or the
     * database did not answer, and {@link #isLost} tells which.
     */
    boolean tryRenewNow();

    /** Cancelled when the lease is lost or closed, and as soon as the {@link dev.windlass.Windlass} begins to close. */
    Cancellation cancellation();

    /**
     * Runs this, once, on a thread of its own, when the lease is lost, or at once if it is lost already. Not when it is
     * closed by the program.
     */
    void onLost(Runnable callback);

    /**
     * Gives it back, so that others can have it at once. Closing twice does nothing. Throws nothing, and does not wait: if the
     * database is away, or a transaction of somebody else keeps the row of the lease locked, it is given back as soon as that is
     * over, or runs out by itself.
     */
    @Override
    void close();
}
