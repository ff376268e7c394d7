package dev.windlass.lease;

import java.time.Duration;
import java.util.Optional;

/**
 * A number of permits under one name, each of which can be held by one, over all nodes.
 *
 * <p>A permit is a {@link Lease}: renewed by itself, and free again when its holder dies. All who use a name say the same number;
 * while they do not (in a rolling deploy), each gets a permit only if fewer than its own number are taken. A semaphore and a
 * lease of the same name have nothing to do with each other. Thread-safe.
 */
public interface LeaseSemaphore {

    String name();

    int permits();

    /** Takes a permit if one is free. Empty, too, if a transaction of somebody else keeps the semaphore locked for longer. */
    Optional<Lease> tryAcquire(Duration duration);

    /** Takes a permit, and waits for one if none is free. See {@link Leases#tryAcquire(String, Duration, Duration)}. */
    Optional<Lease> tryAcquire(Duration duration, Duration waitAtMost) throws InterruptedException;

    /** Does the work if a permit is free. See {@link Leases#runIfAcquired}. */
    boolean runIfAcquired(Duration duration, LeasedWork work) throws Exception;
}
