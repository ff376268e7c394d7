package dev.windlass.schedule;

import dev.windlass.runtime.Database;
import dev.windlass.runtime.Loop;
import dev.windlass.runtime.Workers;
import java.sql.SQLException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reaps timers and runs whose lease ran out, ends runs that nobody else will end, and deletes those that were kept long enough. */
final class ScheduleMaintenance {
    private static final Logger log = LoggerFactory.getLogger(ScheduleMaintenance.class);
    private static final Duration EVERY = Duration.ofSeconds(30);
    private static final long SETTLE_EVERY = Duration.ofMinutes(10).toNanos();
    private static final int BATCH = 500;

    private final Database database;
    private final OwnWork<?, ?> timers;
    private final OwnWork<?, ?> runs;
    private final JobStore jobs;
    private final ScheduleOptions options;
    private final Loop loop;
    private volatile boolean stopping;
    private final Duration reapEvery;
    private long lastSettled = System.nanoTime() - SETTLE_EVERY;

    ScheduleMaintenance(
            Database database,
            OwnWork<?, ?> timers,
            OwnWork<?, ?> runs,
            JobStore jobs,
            ScheduleOptions options,
            Workers workers) {
        this.database = database;
        this.timers = timers;
        this.runs = runs;
        this.jobs = jobs;
        this.options = options;
        this.reapEvery = options.lease().dividedBy(3);
        this.loop = new Loop("[" + database.name() + "] maintenance", workers, this::maintain);
    }

    void start() {
        loop.start();
    }

    private Duration maintain() throws SQLException {
        timers.reap(true);
        runs.reap(true);
        if (System.nanoTime() - lastSettled >= SETTLE_EVERY) {
            lastSettled = System.nanoTime();
            settle();
        }
        int cleaned = inBatches(connection -> jobs.clean(connection, options.runRetention(), BATCH));
        if (cleaned > 0) {
            log.debug("[{}] deleted {} runs that had ended", database.name(), cleaned);
        }
        return EVERY.compareTo(reapEvery) < 0 ? EVERY : reapEvery;
    }

    /** Looks at every run that has not ended, and finds something only after somebody deleted by hand. */
    private void settle() throws SQLException {
        int settled = inBatches(connection -> jobs.settle(connection, BATCH));
        if (settled > 0) {
            log.info("[{}] ended {} runs whose job or message is gone", database.name(), settled);
        }
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

    void stop(Duration patience) {
        stopping = true;
        loop.stop(patience);
    }
}
