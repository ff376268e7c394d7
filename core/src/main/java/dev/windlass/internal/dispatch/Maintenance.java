package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Chore;
import dev.windlass.internal.loop.Chores;
import dev.windlass.internal.loop.Lookout;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.queue.StuckWatch;
import dev.windlass.internal.queue.WorkStore;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reaps leases that ran out, ends what has expired, deletes what was kept long enough, and warns of topics without handler.
 *
 * <p>Two loops, since to delete may take long, and reaping must not wait for it: from that the database learns, too, that this
 * node lives. What has to do with leases is done when a look at the queue has found some.
 */
final class Maintenance<M> {
    private static final Logger log = LoggerFactory.getLogger(Maintenance.class);
    private static final Duration CLEAN_EVERY = Duration.ofMinutes(1);
    private static final Duration CLEAN_AT_LEAST_EVERY = Duration.ofMinutes(16);
    private static final long CLEAN_ALL_EVERY = Duration.ofHours(1).toNanos();
    private static final Duration SHORTEST_LOOK = Duration.ofSeconds(1);
    private static final long WARN_EVERY = Duration.ofMinutes(10).toNanos();
    private static final int MOST_WARNINGS = 20;
    private static final Duration STUCK_AGAIN = Duration.ofMinutes(1);

    private final Database database;
    private final WorkStore<M> store;
    private final QueueEvents events;
    private final Duration lease;
    private final Runnable foundWork;
    private final Chores leases;
    private final Chores leftovers;
    /** As far as known. Who reaps has to be there all the time: see the routine. */
    private volatile boolean leased;

    private Instant cleanedUpTo = Instant.MIN;
    private long cleanedAll = System.nanoTime();

    private final Map<String, Long> warned = new HashMap<>();

    Maintenance(
            Database database, WorkStore<M> store, QueueEvents events, Node node, Duration lease, Runnable foundWork) {
        this.database = database;
        this.store = store;
        this.events = events;
        this.lease = lease;
        this.foundWork = foundWork;
        String name = "[" + database.name() + "] ";
        StuckWatch stuck = new StuckWatch(database, events.queue(), store);
        leases = Chores.onDemand(
                name + "maintenance of leases",
                node.workers(),
                List.of(
                        new Chore(name + "reaping", this::reap, this::reaped),
                        new Chore(name + "expiring", this::expire, this::expired),
                        new Chore(name + "looking for stuck messages", stuck::look, none -> {})),
                () -> leased ? period() : stuck.isInDoubt() ? STUCK_AGAIN : Loop.PARKED);
        List<Chore> cleaning = new ArrayList<>();
        cleaning.add(new Chore(name + "cleaning", this::clean, this::cleaned));
        cleaning.add(new Chore(name + "looking for stuck messages", batch -> lookForStuck(stuck, batch), none -> {}));
        store.upkeep().forEach((what, work) -> cleaning.add(upkeep(name + what, work)));
        leftovers = node.chores(name + "maintenance", cleaning, CLEAN_EVERY, CLEAN_AT_LEAST_EVERY);
    }

    void start() {
        leases.start();
        leftovers.start();
    }

    List<Loop> loops() {
        return List.of(leases.loop(), leftovers.loop());
    }

    /** How often to look at leases. */
    Duration period() {
        return lease.dividedBy(3);
    }

    /** A look has found this. Returns when to look again. */
    Duration sees(Lookout.Seen seen) {
        boolean begins = seen.leased() && !leased;
        leased = seen.leased();
        Duration expires = leases.haveFailed() ? Loop.PARKED : seen.expiresIn().orElse(Loop.PARKED);
        if (begins || expires.compareTo(Duration.ZERO) <= 0) {
            leases.wake();
        }
        warnOf(seen.others());
        return min(leased ? period() : Loop.PARKED, max(SHORTEST_LOOK, expires));
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    private static Duration max(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? b : a;
    }

    private int reap(int batch) throws SQLException {
        int reaped = database.once(connection -> store.reap(connection, lease, batch, true));
        if (reaped > 0) {
            foundWork.run();
        }
        return reaped;
    }

    private void reaped(int count) {
        log.info("[{}] returned {} messages to ready whose lease had run out", database.name(), count);
        events.reaped(count);
    }

    private int expire(int batch) throws SQLException {
        return database.once(connection -> store.expire(connection, batch));
    }

    private void expired(int count) {
        log.info("[{}] failed {} messages that had expired", database.name(), count);
        events.expired(count);
    }

    /** Begins where it ended the last time; now and then at the start, where it may have left something that was locked. */
    private int clean(int batch) throws SQLException {
        if (System.nanoTime() - cleanedAll >= CLEAN_ALL_EVERY) {
            cleanedAll = System.nanoTime();
            cleanedUpTo = Instant.MIN;
        }
        WorkStore.Cleaned cleaned = database.once(connection -> store.clean(connection, batch, cleanedUpTo));
        cleanedUpTo = cleaned.reached().orElse(cleanedUpTo);
        return cleaned.deleted();
    }

    private void cleaned(int count) {
        log.debug("[{}] deleted {} messages that were done", database.name(), count);
        events.cleaned(count);
    }

    /** What is found in doubt is not to wait for the next cleaning, which may be far away. */
    private int lookForStuck(StuckWatch stuck, int batch) throws SQLException {
        int changed = stuck.look(batch);
        if (stuck.isInDoubt()) {
            leases.wake();
        }
        return changed;
    }

    private Chore upkeep(String name, WorkStore.Upkeep work) {
        return new Chore(name, batch -> database.once(connection -> work.run(connection, batch)), done -> {});
    }

    private void warnOf(List<String> topicsWithoutHandler) {
        long now = System.nanoTime();
        warned.values().removeIf(last -> now - last >= WARN_EVERY);
        int others = 0;
        for (String topic : topicsWithoutHandler) {
            if (warned.putIfAbsent(topic, now) == null) {
                events.unhandled(topic);
                if (warned.size() <= MOST_WARNINGS) {
                    log.warn(
                            "[{}] messages of topic {} are waiting, and this node has no handler for it; they stay ready"
                                    + " for a node that has one",
                            database.name(),
                            topic);
                } else {
                    others++;
                }
            }
        }
        if (others > 0) {
            log.warn(
                    "[{}] messages of {} further topics are waiting, and this node has no handler for them",
                    database.name(),
                    others);
        }
    }
}
