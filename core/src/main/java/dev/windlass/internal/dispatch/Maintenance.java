package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Chore;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.queue.WorkStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reaps leases that ran out, ends what has expired, deletes what was kept long enough, and warns of topics without handler.
 *
 * <p>Two loops, since to delete may take long, and reaping must not wait for it: from that the database learns, too, that this
 * node lives. Each round does a batch of what there is, and the next one follows at once if something is left.
 */
final class Maintenance<M> {
    private static final Logger log = LoggerFactory.getLogger(Maintenance.class);
    private static final Duration CLEAN_EVERY = Duration.ofMinutes(1);
    private static final Duration RETRY = Duration.ofSeconds(5);
    private static final long WARN_EVERY = Duration.ofMinutes(10).toNanos();

    private final Database database;
    private final WorkStore<M> store;
    private final Set<String> topics;
    private final Telemetry telemetry;
    private final Duration lease;
    private final Runnable foundWork;
    private final List<Chore> leases;
    private final List<Chore> leftovers;
    private final Loop reaping;
    private final Loop cleaning;
    private final Map<String, Long> warned = new HashMap<>();
    private List<Chore> unfinished;

    Maintenance(
            Database database,
            WorkStore<M> store,
            Set<String> topics,
            Telemetry telemetry,
            Workers workers,
            Duration lease,
            Runnable foundWork) {
        this.database = database;
        this.store = store;
        this.topics = topics;
        this.telemetry = telemetry;
        this.lease = lease;
        this.foundWork = foundWork;
        String name = "[" + database.name() + "] ";
        leases = List.of(
                new Chore(name + "reaping", this::reap, this::reaped),
                new Chore(name + "expiring", this::expire, this::expired));
        leftovers = new ArrayList<>();
        leftovers.add(new Chore(name + "cleaning", this::clean, this::cleaned));
        store.upkeep().forEach((what, work) -> leftovers.add(upkeep(name + what, work)));
        leftovers.add(
                new Chore(name + "looking for topics without handler", batch -> warnOfUnknownTopics(), warnings -> {}));
        unfinished = leftovers;
        reaping = new Loop(name + "maintenance of leases", workers, this::lookAfterLeases);
        cleaning = new Loop(name + "maintenance", workers, this::cleanUp);
    }

    void start() {
        loops().forEach(Loop::start);
    }

    List<Loop> loops() {
        return List.of(reaping, cleaning);
    }

    private Duration lookAfterLeases() {
        if (!afterABatchOf(leases).isEmpty()) {
            return Duration.ZERO;
        }
        Duration period = lease.dividedBy(3);
        boolean failed = leases.stream().anyMatch(Chore::hasFailed);
        return failed && RETRY.compareTo(period) < 0 ? RETRY : period;
    }

    private Duration cleanUp() {
        unfinished = afterABatchOf(unfinished);
        if (!unfinished.isEmpty()) {
            return Duration.ZERO;
        }
        unfinished = leftovers;
        return CLEAN_EVERY;
    }

    private static List<Chore> afterABatchOf(List<Chore> chores) {
        return chores.stream().filter(Chore::run).toList();
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
        telemetry.reaped(database.name(), count);
    }

    private int expire(int batch) throws SQLException {
        return database.once(connection -> store.expire(connection, batch));
    }

    private void expired(int count) {
        log.info("[{}] failed {} messages that had expired", database.name(), count);
        telemetry.expired(database.name(), count);
    }

    private int clean(int batch) throws SQLException {
        return database.once(connection -> store.clean(connection, batch));
    }

    private void cleaned(int count) {
        log.debug("[{}] deleted {} messages that were done", database.name(), count);
        telemetry.cleaned(database.name(), count);
    }

    private Chore upkeep(String name, WorkStore.Upkeep work) {
        return new Chore(name, batch -> database.once(connection -> work.run(connection, batch)), done -> {});
    }

    private int warnOfUnknownTopics() throws SQLException {
        long now = System.nanoTime();
        for (String topic : database.once(store::readyTopics)) {
            Long last = warned.get(topic);
            if (!topics.contains(topic) && (last == null || now - last >= WARN_EVERY)) {
                warned.put(topic, now);
                log.warn(
                        "[{}] messages of topic {} are waiting, and this node has no handler for it; they stay ready"
                                + " for a node that has one",
                        database.name(),
                        topic);
            }
        }
        return 0;
    }
}
