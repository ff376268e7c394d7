package dev.windlass.internal.lease;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.SqlError;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.lease.LeaseStore.Renewal;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Loops;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Workers;
import dev.windlass.lease.Lease;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the leases of one node: renews in one call whatever is due, and notices what is lost.
 *
 * <p>Two loops, since a renewal may have to wait for the database, and whoever loses a lease meanwhile must learn it. Neither
 * runs while no lease is held.
 */
final class LeaseRunner {
    private static final Logger log = LoggerFactory.getLogger(Lease.class);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration SHORTEST_CALL = Duration.ofMillis(100);
    private static final Duration LONGEST_CALL = Duration.ofSeconds(5);

    /** A release that gets no answer for that long is given up: the lease runs out. */
    private static final int LOCKED_TRIES = 5;

    /** Timers stand still while the machine is suspended; whoever has lost a lease by that should learn it soon after. */
    private static final Duration LONGEST_WATCH = Duration.ofSeconds(1);

    /** A timer may come a little early by the clock that decides; looking again at once would be a busy wait. */
    private static final Duration SLACK = Duration.ofMillis(1);

    private final Database database;
    private final Events events;
    private final LeaseStore store;
    private final Workers workers;
    private final MonotonicClock clock;
    private final InstantSource wall;
    private final double renewAt;
    private final Releaser releaser;
    private final Node node;
    private final Set<HeldLease> held = ConcurrentHashMap.newKeySet();
    private final Loop renewing;
    private final Loop watching;
    private final AtomicInteger failures = new AtomicInteger();
    private boolean told;

    LeaseRunner(
            Database database,
            LeaseStore store,
            Node node,
            MonotonicClock clock,
            InstantSource wall,
            double renewAt,
            Releaser releaser) {
        this.database = database;
        this.events = database.events();
        this.store = store;
        this.workers = node.workers();
        this.clock = clock;
        this.wall = wall;
        this.renewAt = renewAt;
        this.releaser = releaser;
        this.node = node;
        this.renewing = new Loop("[" + database.name() + "] renewing leases", node.workers(), this::renewDue);
        this.watching = new Loop("[" + database.name() + "] watching leases", node.workers(), this::watch);
    }

    double renewAt() {
        return renewAt;
    }

    String describe(HeldLease lease) {
        return "[" + database.name() + "] " + lease.claim + " (fencing token " + lease.fencingToken() + ")";
    }

    /** Opened before a request is sent, so that the window ends no later than what the database grants. */
    TrustWindow window(Duration duration) {
        return TrustWindow.open(clock, wall, duration);
    }

    /** @param began when it was first asked for */
    HeldLease keep(LeaseClaim claim, AcquireAnswer answer, TrustWindow window, long began) {
        HeldLease lease = new HeldLease(claim, this, answer, window);
        held.add(lease);
        node.use(this, callBound());
        node.busy();
        renewing.start();
        watching.start();
        renewing.wakeWithin(lease.untilRenewal());
        watching.wakeWithin(clamp(lease.left(), SLACK, LONGEST_WATCH));
        log.debug("{} acquired for {}", lease, claim.duration());
        events.tell(new WindlassEvent.LeaseAcquired(
                database.store(), lease.name(), lease.fencingToken(), Duration.ofNanos(System.nanoTime() - began)));
        return lease;
    }

    List<Loop> loops() {
        return List.of(renewing, watching);
    }

    Set<HeldLease> held() {
        return held;
    }

    /** How often in a row it was tried in vain to renew what is held. */
    int failures() {
        return held.isEmpty() ? 0 : failures.get();
    }

    private Duration renewDue() throws SQLException {
        List<HeldLease> due = held.stream()
                .filter(lease -> !lease.isLost() && lease.isRenewalDue())
                .toList();
        if (!due.isEmpty()) {
            renew(due);
        }
        if (held.isEmpty()) {
            node.leave(this);
            if (!held.isEmpty()) {
                node.use(this, callBound());
            }
        }
        Set<HeldLease> tried = Set.copyOf(due);
        return held.stream()
                .map(lease -> pauseBefore(lease, tried))
                .min(Duration::compareTo)
                .orElse(Loop.PARKED);
    }

    private void renew(List<HeldLease> due) {
        try {
            if (!settle(due, this::ask)) {
                failures.incrementAndGet(); // a row may be locked, or refused by the database
                return;
            }
            if (told) {
                log.info("[{}] leases are renewed again after {} failures", database.name(), failures);
            }
            failures.set(0);
            told = false;
        } catch (SQLException e) {
            failed(due, database.describe(e), SqlError.isOutage(e));
        } catch (RuntimeException e) {
            failed(due, e.getClass().getName(), false);
        }
    }

    /** Without the error's text: that of a server or driver may quote a row. */
    private void failed(List<HeldLease> due, String error, boolean outage) {
        failures.incrementAndGet();
        if (!told && !outage) {
            told = true;
            log.warn(
                    "[{}] could not renew {} leases ({}); trying again until they run out",
                    database.name(),
                    due.size(),
                    error);
        } else {
            log.debug("[{}] could not renew leases, {} times ({})", database.name(), failures, error);
        }
    }

    private Map<UUID, Renewal> ask(List<LeaseClaim> claims) throws SQLException {
        node.busy();
        return node.call(callBound().dividedBy(2), open -> store.renew(open, claims));
    }

    @FunctionalInterface
    private interface Question {
        Map<UUID, Renewal> ask(List<LeaseClaim> claims) throws SQLException;
    }

    private boolean settle(List<HeldLease> due, Question question) throws SQLException {
        List<TrustWindow> windows =
                due.stream().map(lease -> window(lease.claim.duration())).toList();
        Map<UUID, Renewal> answers =
                question.ask(due.stream().map(lease -> lease.claim).toList());
        for (int i = 0; i < due.size(); i++) {
            settle(due.get(i), windows.get(i), answers);
        }
        return answers.size() == due.size();
    }

    private void settle(HeldLease lease, TrustWindow window, Map<UUID, Renewal> answers) {
        Renewal renewal = answers.get(lease.claim.holder());
        if (renewal != null && renewal.renewed()) {
            lease.renewed(window, renewal.expiresAt());
            log.debug("{} renewed", lease);
            if (events.areHeard()) {
                events.tell(new WindlassEvent.LeaseRenewed(database.store(), lease.name(), lease.fencingToken()));
            }
        } else if (renewal != null) {
            lease.lose(LossReason.REFUSED);
        }
    }

    /** A call that hangs may cost no lease more than half of the time it has left when its renewal is due. */
    private Duration callBound() {
        Duration reserve =
                held.stream().map(HeldLease::reserve).min(Duration::compareTo).orElse(LONGEST_CALL);
        return clamp(reserve.dividedBy(2), SHORTEST_CALL, LONGEST_CALL);
    }

    /** One that has to be asked for again must not hold up the others: each has its own time. */
    private static Duration pauseBefore(HeldLease lease, Set<HeldLease> tried) {
        return tried.contains(lease) && lease.isRenewalDue()
                ? pauseBeforeRetry(lease)
                : SLACK.plus(lease.untilRenewal());
    }

    /** Quickly, and more quickly as the end comes near. */
    private static Duration pauseBeforeRetry(HeldLease lease) {
        Duration pause = clamp(lease.left().dividedBy(10), SHORTEST_PAUSE, LONGEST_PAUSE);
        return pause.multipliedBy(50 + ThreadLocalRandom.current().nextLong(51)).dividedBy(100);
    }

    private static Duration clamp(Duration value, Duration least, Duration most) {
        return value.compareTo(least) < 0 ? least : value.compareTo(most) > 0 ? most : value;
    }

    private Duration watch() {
        return held.stream()
                .filter(lease -> !lease.isLost())
                .map(HeldLease::left)
                .min(Duration::compareTo)
                .map(left -> clamp(left, SLACK, LONGEST_WATCH))
                .orElse(Loop.PARKED);
    }

    /** For a caller who does not want to wait for the loop. Whoever has the row locked is quick, as a rule: he says that he waits. */
    boolean renewNow(HeldLease lease) {
        try {
            for (int tries = 1; tries <= LOCKED_TRIES; tries++) {
                if (settle(List.of(lease), claims -> database.once(open -> store.renew(open, claims)))) {
                    return true;
                }
                LockSupport.parkNanos(SLACK.toNanos());
            }
            return false;
        } catch (SQLException e) {
            log.debug("{} could not be renewed (SQLSTATE {})", lease, e.getSQLState());
            return false;
        }
    }

    void lost(HeldLease lease, LossReason loss) {
        held.remove(lease);
        if (loss == LossReason.NODE_CLOSED) {
            log.info("{} ends: {}", lease, loss.reason);
        } else {
            log.warn("{} is lost: {}", lease, loss.reason);
            events.tell(new WindlassEvent.LeaseLost(database.store(), lease.name(), lease.fencingToken(), loss.reason));
        }
    }

    void doesNotStop(HeldLease lease) {
        log.warn("{} protects work that does not stop; it runs out when it is not renewed any more", lease);
    }

    void call(Runnable callback) {
        try {
            workers.runHandlers(() -> {
                try {
                    callback.run();
                } catch (Throwable e) {
                    log.error("[{}] a callback for a lost lease failed", database.name(), database.safe(e));
                }
            });
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            log.error("[{}] found no thread for the callback of a lost lease", database.name(), e);
        }
    }

    void closed(HeldLease lease, boolean release) {
        held.remove(lease);
        if (release) {
            releaser.release(lease);
        }
    }

    /** Renews no more, once nothing is held. */
    void finish(Deadline deadline) {
        Loops loops = new Loops(loops());
        loops.askToStop();
        loops.awaitEnd(deadline);
    }
}
