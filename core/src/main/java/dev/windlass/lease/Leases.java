package dev.windlass.lease;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Things that one node at a time may do, or a fixed number of them: leases by name, permits, leaders.
 *
 * <pre>{@code
 * try (Lease lease = windlass.leases().tryAcquire("rebuild-index", Duration.ofSeconds(30)).orElse(null)) {
 *     ...
 * }
 * }</pre>
 *
 * <p>Names have up to 255 characters, not all of them white space, and do not end with a space. A duration is at least a millisecond and at most a day. It need not be as long as the
 * work, since a lease is renewed while it is held: it is the time for which others are kept out after a crash. Some ten
 * seconds are a good choice.
 *
 * <p>Bad arguments are refused before anything is written. A database that cannot be reached is a
 * {@link dev.windlass.base.WindlassException}; what was acquired without the answer arriving runs out by itself. Thread-safe.
 */
public interface Leases {

    /** Takes the lease of this name if nobody holds it: one round trip, and no waiting. */
    Optional<Lease> tryAcquire(String name, Duration duration);

    /** The same for a lease of which more is said: who holds it, when it is renewed. */
    Optional<Lease> tryAcquire(LeaseRequest request);

    /**
     * Takes the lease of this name, and waits for it if somebody holds it. Empty when the time is over.
     *
     * <p>Whoever waits is woken by a release on any node, and looks by himself when the lease runs out. Those who wait in one
     * process are served in order; between processes the quickest wins. Waiting holds no connection.
     *
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    Optional<Lease> tryAcquire(String name, Duration duration, Duration waitAtMost) throws InterruptedException;

    Optional<Lease> tryAcquire(LeaseRequest request, Duration waitAtMost) throws InterruptedException;

    /**
     * Does the work if nobody holds the lease, on this thread, and gives the lease back. Returns whether it was done.
     *
     * <p>When the lease is lost meanwhile, the thread is interrupted.
     *
     * @throws LostLeaseException if the lease was lost before the work ended; what the work threw, if it did, is the cause
     */
    boolean runIfAcquired(String name, Duration duration, LeasedWork work) throws Exception;

    /** What the database knows of this lease: who holds it, or held it last. */
    Optional<LeaseState> find(String name);

    /** The same for all leases and permits, in the order of their names. Those that nobody holds are kept for the retention. */
    List<LeaseState> list();

    /** A semaphore with 1 to 10,000 permits. Writes nothing. */
    LeaseSemaphore semaphore(String name, int permits);

    /**
     * Lets this node stand for leader: on exactly one of the nodes that do, the work runs. It runs on a thread of its own, and
     * should go on until its lease's {@link Lease#cancellation} is cancelled.
     *
     * <p>When the work ends, by returning or throwing, or the node dies or closes, the next node leads. A node whose work has
     * ended stands again after a pause. A database that goes away ends the leadership when the lease runs out, and the election
     * goes on when it is back.
     *
     * @param duration of the lease: for how long nobody leads after a crash
     */
    Leadership lead(String name, Duration duration, LeasedWork work);
}
