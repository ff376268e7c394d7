package dev.windlass.runtime;

import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reaps leases that ran out, ends what has expired, deletes what was kept long enough, and warns of topics without handler. */
final class Maintenance<M> {
    private static final Logger log = LoggerFactory.getLogger(Maintenance.class);
    private static final int BATCH = 500;
    private static final long CLEAN_EVERY = Duration.ofMinutes(1).toNanos();
    private static final long WARN_EVERY = Duration.ofMinutes(10).toNanos();

    private final Database database;
    private final WorkStore<M> store;
    private final Set<String> topics;
    private final Telemetry telemetry;
    private final Duration lease;
    private final Runnable foundWork;
    private final Loop loop;
    private final Map<String, Long> warned = new HashMap<>();
    private volatile boolean stopping;
    private long lastClean = System.nanoTime() - CLEAN_EVERY;

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
        this.loop = new Loop("[" + database.name() + "] maintenance", workers, this::maintain);
    }

    void start() {
        loop.start();
    }

    private Duration maintain() throws SQLException {
        if (database.calmFor(lease)) {
            reap();
        }
        expire();
        if (System.nanoTime() - lastClean >= CLEAN_EVERY) {
            lastClean = System.nanoTime();
            clean();
            warnOfUnknownTopics();
        }
        return lease.dividedBy(3);
    }

    private void reap() throws SQLException {
        int reaped = inBatches(connection -> store.reap(connection, lease, BATCH, true));
        if (reaped > 0) {
            log.info("[{}] returned {} messages to ready whose lease had run out", database.name(), reaped);
            telemetry.reaped(database.name(), reaped);
            foundWork.run();
        }
    }

    private void expire() throws SQLException {
        int expired = inBatches(connection -> store.expire(connection, BATCH));
        if (expired > 0) {
            log.info("[{}] failed {} messages that had expired", database.name(), expired);
            telemetry.expired(database.name(), expired);
        }
    }

    private void clean() throws SQLException {
        int cleaned = inBatches(connection -> store.clean(connection, BATCH));
        if (cleaned > 0) {
            log.debug("[{}] deleted {} messages that were done", database.name(), cleaned);
            telemetry.cleaned(database.name(), cleaned);
        }
        inBatches(connection -> store.forget(connection, BATCH));
    }

    private int inBatches(Database.Work<Integer> batch) throws SQLException {
        int total = 0;
        int changed;
        do {
            changed = database.once(batch);
            total += changed;
        } while (changed == BATCH && !stopping);
        return total;
    }

    private void warnOfUnknownTopics() throws SQLException {
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
    }

    void stop(Duration patience) {
        stopping = true;
        loop.stop(patience);
    }
}
