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
    private static final int BATCH = 500;

    private final Database database;
    private final TimerStore timers;
    private final JobStore jobs;
    private final ScheduleOptions options;
    private final Loop loop;
    private volatile boolean stopping;

    ScheduleMaintenance(Database database, TimerStore timers, JobStore jobs, ScheduleOptions options, Workers workers) {
        this.database = database;
        this.timers = timers;
        this.jobs = jobs;
        this.options = options;
        this.loop = new Loop("[" + database.name() + "] maintenance", workers, this::maintain);
    }

    void start() {
        loop.start();
    }

    private Duration maintain() throws SQLException {
        Duration lease = options.lease();
        if (database.calmFor(lease)) {
            tell("took back {} timers whose lease had run out", connection -> timers.reap(connection, lease, BATCH));
            tell("took back {} runs whose lease had run out", connection -> jobs.reap(connection, lease, BATCH));
        }
        tell("ended {} runs whose job or message is gone", connection -> jobs.settle(connection, BATCH));
        int cleaned = inBatches(connection -> jobs.clean(connection, options.runRetention(), BATCH));
        if (cleaned > 0) {
            log.debug("[{}] deleted {} runs that had ended", database.name(), cleaned);
        }
        return EVERY;
    }

    private void tell(String what, Database.Work<Integer> batch) throws SQLException {
        int changed = inBatches(batch);
        if (changed > 0) {
            log.info("[{}] " + what, database.name(), changed);
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
