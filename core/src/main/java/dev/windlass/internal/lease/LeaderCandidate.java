package dev.windlass.internal.lease;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Workers;
import dev.windlass.lease.Leadership;
import dev.windlass.lease.LeasedWork;
import dev.windlass.lease.LostLeaseException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One node that stands for leader: a loop that asks for the lease, rests while the work runs, and stands again.
 *
 * <p>Not a thread: only the work of the leader has one.
 */
final class LeaderCandidate implements Leadership {
    private static final Logger log = LoggerFactory.getLogger(Leadership.class);

    /** How long a release is to be told of; said anew when half of it is over, since each time writes a row. */
    private static final Duration ATTENTION = Duration.ofMinutes(2);

    /** Work that fails at once is not to be passed around the nodes without a pause. */
    private static final Duration PAUSE_AFTER_WORK = Duration.ofSeconds(1);

    private final Database database;
    private final String store;
    private final LeasedWork work;
    private final Acquirer acquirer;
    private final WaitingRoom room;
    private final Workers workers;
    private final Duration grace;
    private final String name;
    private final Consumer<LeaderCandidate> closed;
    private final Loop loop;
    private final Runnable wake;
    private LeaseClaim claim; // the loop's own
    private Looks looks = new Looks();
    private Deadline attention = Deadline.in(MonotonicClock.system(), Duration.ZERO);
    private volatile Deadline notBefore = attention;
    private @Nullable HeldLease lease;
    private boolean stopping;

    LeaderCandidate(
            Database database,
            LeaseClaim claim,
            LeasedWork work,
            Acquirer acquirer,
            WaitingRoom room,
            Workers workers,
            Duration grace,
            Consumer<LeaderCandidate> closed) {
        this.database = database;
        this.store = database.name();
        this.claim = claim;
        this.name = claim.name();
        this.work = work;
        this.acquirer = acquirer;
        this.room = room;
        this.workers = workers;
        this.grace = grace;
        this.closed = closed;
        this.loop = new Loop("[" + store + "] election of " + claim.name(), workers, this::stand);
        this.wake = loop::wake;
    }

    void start() {
        room.enter(name, wake);
        loop.start();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isLeader() {
        HeldLease held = lease();
        return held != null && !held.isLost();
    }

    synchronized @Nullable HeldLease lease() {
        return lease;
    }

    Loop loop() {
        return loop;
    }

    private Duration stand() {
        if (lease() != null) {
            return Loop.PARKED;
        }
        if (!notBefore.hasPassed()) {
            return notBefore.remaining();
        }
        Acquirer.Outcome outcome = acquirer.ask(claim, attention());
        HeldLease won = outcome.lease();
        if (won == null) {
            return room.pause(outcome.answer(), looks);
        }
        looks = new Looks();
        claim = claim.again();
        if (take(won)) {
            begin(won);
        } else {
            won.close();
        }
        return Loop.PARKED;
    }

    private Duration attention() {
        if (attention.remaining().compareTo(ATTENTION.dividedBy(2)) < 0) {
            attention = Deadline.in(MonotonicClock.system(), ATTENTION);
        }
        return attention.remaining();
    }

    private synchronized boolean take(HeldLease won) {
        if (!stopping) {
            lease = won;
        }
        return !stopping;
    }

    /** Without a thread for the work the lease goes to a node that has one. */
    private void begin(HeldLease won) {
        try {
            workers.runHandlers(() -> lead(won));
        } catch (RuntimeException | Error e) {
            won.close();
            ended();
            throw e;
        }
    }

    private void lead(HeldLease won) {
        log.info("[{}] this node leads {} (fencing token {})", store, name, won.fencingToken());
        try {
            won.run(work);
            log.info("[{}] this node does not lead {} any more", store, name);
        } catch (LostLeaseException e) {
            log.warn("[{}] this node has lost the lead of {}", store, name, database.safe(e));
        } catch (Exception | Error e) {
            if (isStopping()) {
                log.info("[{}] the leader's work of {} ended as it was asked to", store, name, database.safe(e));
            } else {
                log.error("[{}] the leader's work of {} failed", store, name, database.safe(e));
            }
        } finally {
            Duration pause =
                    PAUSE_AFTER_WORK.plusMillis(ThreadLocalRandom.current().nextInt(500));
            notBefore = Deadline.in(MonotonicClock.system(), pause);
            ended();
            loop.wakeWithin(pause);
        }
    }

    private synchronized boolean isStopping() {
        return stopping;
    }

    private synchronized void ended() {
        lease = null;
    }

    synchronized void askToStop() {
        stopping = true;
        loop.askToStop();
        if (lease != null) {
            lease.askToStop();
        }
    }

    @Override
    public void close() {
        Deadline deadline = Deadline.in(MonotonicClock.system(), grace);
        askToStop();
        leave(deadline);
        HeldLease held = lease();
        if (held != null && !held.isWorkOf(Thread.currentThread())) {
            held.endWork(deadline);
        }
    }

    /** Stands no more, when it has been asked to stop. */
    void leave(Deadline deadline) {
        room.leave(name, wake);
        loop.awaitEnd(deadline);
        closed.accept(this);
    }
}
