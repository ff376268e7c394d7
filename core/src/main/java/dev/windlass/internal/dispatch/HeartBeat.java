package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.queue.WorkStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of all that is in hand, every third of a lease, on the connection that the node keeps, which is opened
 * before the first claim.
 *
 * <p>A row that somebody has locked is neither renewed nor lost; it is asked for again soon, and lost when its lease has run out.
 */
final class HeartBeat<M> {
    private static final Logger log = LoggerFactory.getLogger(HeartBeat.class);
    private static final Duration SHORTEST_ANSWER = Duration.ofMillis(250);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);
    private static final Duration LAST_BEAT = Duration.ofMillis(300);
    private static final int MOST_NAMED = 10;

    private final Database database;
    private final WorkStore<M> store;
    private final InHand<M> inHand;
    private final Duration lease;
    private final Duration period;
    private final Duration patience;
    private final Duration answer;
    private final Node node;
    private final Loop loop;
    private volatile boolean all;

    HeartBeat(Database database, WorkStore<M> store, InHand<M> inHand, Node node, Duration lease) {
        this.database = database;
        this.store = store;
        this.inHand = inHand;
        this.lease = lease;
        this.period = lease.dividedBy(3);
        this.patience = lease.dividedBy(6);
        this.answer = max(SHORTEST_ANSWER, lease.dividedBy(6));
        this.node = node;
        this.loop = new Loop(
                "[" + database.name() + "] renewing leases",
                node.workers(),
                this::renew,
                min(Loop.MAX_PAUSE, max(SHORTEST_PAUSE, lease.dividedBy(12))));
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) <= 0 ? a : b;
    }

    private static Duration max(Duration a, Duration b) {
        return a.compareTo(b) >= 0 ? a : b;
    }

    void start() {
        node.use(this, answer);
        loop.start(Loop.PARKED);
    }

    Loop loop() {
        return loop;
    }

    /** There is something to renew again. */
    void begin() {
        loop.wakeWithin(period);
    }

    /** Makes sure that what is claimed next can be renewed. */
    void open() throws SQLException {
        node.open(patience);
    }

    /** Renews all there is at once, and learns what is to be cancelled. */
    void renewAll() {
        all = true;
        loop.wake();
    }

    private Duration renew() throws SQLException {
        long before = System.nanoTime();
        long young = all ? Long.MAX_VALUE : lease.toNanos() - period.toNanos() / 2;
        all = false;
        if (inHand.size() == 0) {
            return Loop.PARKED;
        }
        List<Attempt<M>> due = inHand.all().stream()
                .filter(attempt -> attempt.keepsLease() && attempt.leaseLeft(before) < young)
                .toList();
        return due.isEmpty() || renew(due, before) ? period : max(SHORTEST_PAUSE, period.dividedBy(10));
    }

    /** Returns whether something is known of each. */
    private boolean renew(List<Attempt<M>> due, long before) throws SQLException {
        node.busy();
        List<WorkStore.Held> held = due.stream().map(Attempt::held).toList();
        WorkStore.Answer answered = node.call(answer, connection -> store.heartbeat(connection, held, lease));
        List<Attempt<M>> lost = new ArrayList<>();
        for (Attempt<M> attempt : due) {
            if (answered.lost().contains(attempt.claimed.id())) {
                lost.add(attempt);
            } else if (!answered.locked().contains(attempt.claimed.id())) {
                attempt.renewed(before + lease.toNanos());
            }
            if (answered.cancelled().contains(attempt.claimed.id()) && attempt.cancel(Attempt.Reason.STOPPED)) {
                log.info(
                        "[{}] {} of {} is to be cancelled; its handler is asked to stop",
                        database.name(),
                        attempt.claimed.id(),
                        attempt.claimed.topic());
            }
        }
        lose(lost);
        return answered.locked().isEmpty();
    }

    /** A message that has ended meanwhile is not renewed either; only one that has not has lost its lease. */
    private void lose(List<Attempt<M>> lost) {
        List<Attempt<M>> asked = lost.stream()
                .filter(attempt -> attempt.cancel(Attempt.Reason.LEASE_LOST))
                .toList();
        for (Attempt<M> attempt : asked.subList(0, Math.min(MOST_NAMED, asked.size()))) {
            log.warn(
                    "[{}] lost the lease of message {} of topic {}; its handler is asked to stop",
                    database.name(),
                    attempt.claimed.id(),
                    attempt.claimed.topic());
        }
        if (asked.size() > MOST_NAMED) {
            log.warn("[{}] lost the leases of {} more messages", database.name(), asked.size() - MOST_NAMED);
        }
    }

    /** Writes down that the handlers of these start now; as little held up by handlers as a renewal is. */
    WorkStore.Answer start(List<WorkStore.Held> held) throws SQLException {
        return node.call(answer, connection -> store.start(connection, held));
    }

    /** Renews no more, and waits a moment for a renewal that is under way. */
    void finish() {
        loop.stop(LAST_BEAT);
    }
}
