package dev.windlass.internal.lease;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.lease.LeaseStore.Release;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Workers;
import dev.windlass.lease.Lease;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives leases back. What cannot be given back now, because somebody has its row locked or the database is away, is tried
 * again: for a moment by whoever closes the lease, then in the background, until it has run out anyway.
 */
final class Releaser {
    private static final Logger log = LoggerFactory.getLogger(Lease.class);

    /** Within it, whoever has locked a row to renew it or to say that he waits is done. */
    private static final Duration MOMENT = Duration.ofMillis(100);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(1);
    private static final Duration PAUSE_IN_BACKGROUND = Duration.ofMillis(250);

    /** For all leases of a node that closes. */
    private static final Duration LONGEST_RELEASE = Duration.ofMinutes(1);

    private final Database database;
    private final LeaseStore store;
    private final Consumer<String> released;
    private final Set<HeldLease> left = ConcurrentHashMap.newKeySet();
    private final Loop loop;
    private volatile boolean closing;
    private volatile boolean away;

    /**
     * @param released gets the name of each lease that was given back
     */
    Releaser(Database database, LeaseStore store, Workers workers, Consumer<String> released) {
        this.database = database.answeringWithin(LONGEST_RELEASE);
        this.store = store;
        this.released = released;
        this.loop = new Loop("[" + database.name() + "] giving leases back", workers, this::releaseLeft);
    }

    /** An interrupt that arrived meanwhile would keep a pool from handing out the connection. */
    void release(HeldLease lease) {
        boolean interrupted = Thread.interrupted();
        try {
            if (!isReleasedWithin(lease, closing ? Duration.ZERO : MOMENT)) {
                log.info("{} cannot be released yet; trying again until it runs out", lease);
                left.add(lease);
                loop.start();
                loop.wakeWithin(PAUSE_IN_BACKGROUND);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean isReleasedWithin(HeldLease lease, Duration time) {
        Deadline deadline = Deadline.in(MonotonicClock.system(), time);
        for (Duration pause = FIRST_PAUSE; !isReleased(lease); pause = pause.multipliedBy(2)) {
            if (deadline.hasPassed()) {
                return false;
            }
            LockSupport.parkNanos(pause.toNanos());
        }
        return true;
    }

    /** Asks once. What its holder does not have any more need not be given back. */
    private boolean isReleased(HeldLease lease) {
        if (away) {
            return false;
        }
        try {
            Release answer = database.once(connection -> store.release(connection, lease.claim));
            if (answer == Release.NOT_NOW) {
                log.debug("{} is locked by somebody, and was not released", lease);
                return false;
            }
            log.debug("{} released", lease);
            released.accept(lease.name());
            return true;
        } catch (SQLException e) {
            log.debug("{} could not be released (SQLSTATE {})", lease, e.getSQLState());
            away = closing && database.dialect().isOutage(e); // a pool may take its time to say so for each lease
            return false;
        }
    }

    private Duration releaseLeft() {
        left.removeIf(lease -> lease.left().isZero() || isReleased(lease));
        return left.isEmpty() ? Loop.PARKED : PAUSE_IN_BACKGROUND;
    }

    /** From now on nobody who closes a lease waits: the node does, once for all. */
    void hurry() {
        closing = true;
    }

    Loop loop() {
        return loop;
    }

    void finish(Deadline deadline) {
        loop.askToStop();
        loop.awaitEnd(deadline);
        while (!releaseLeft().equals(Loop.PARKED) && !away && !deadline.hasPassed()) {
            LockSupport.parkNanos(FIRST_PAUSE.toNanos());
        }
        left.forEach(lease -> log.warn("{} could not be released and runs out by itself", lease));
    }

    /** Ends calls that hang. Whoever still works under a lease can release it later. */
    void abort() {
        database.breakOff();
    }
}
