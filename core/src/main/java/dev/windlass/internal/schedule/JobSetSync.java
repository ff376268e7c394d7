package dev.windlass.internal.schedule;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.schedule.JobStore.Synced;
import dev.windlass.internal.support.JobDurations;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings along the jobs of a program when it starts. */
final class JobSetSync {
    private static final Logger log = LoggerFactory.getLogger(JobSet.class);

    /** Whoever starts waits for this. */
    private static final Duration LOCK_PATIENCE = Duration.ofSeconds(2);

    private final Database database;
    private final JobStore store;
    private final List<JobSet> sets;
    private final List<Job> single;

    JobSetSync(Database database, JobStore store, List<JobSet> sets, List<Job> single) {
        this.database = database;
        this.store = store;
        this.sets = sets;
        this.single = single;
    }

    /**
     * @param changed told after each change that has been committed
     */
    void run(Runnable changed) throws SQLException {
        for (Job job : single) {
            boolean saved = database.once(
                    LOCK_PATIENCE,
                    connection -> store.save(
                            connection,
                            JobColumns.of(job.complete(), store.now(connection), JobDurations.partOf(job.jitter()))));
            if (saved) {
                changed.run();
                log.info("[{}] brought along {}", database.name(), job);
            }
        }
        for (JobSet set : sets) {
            Synced synced = database.once(LOCK_PATIENCE, connection -> {
                Instant now = store.now(connection);
                List<JobColumns> jobs = set.jobs().stream()
                        .map(job -> JobColumns.of(job, now, JobDurations.partOf(job.jitter())))
                        .toList();
                return store.sync(connection, set, jobs);
            });
            if (synced.changed() > 0) {
                changed.run();
            }
            report(set, synced);
        }
    }

    private void report(JobSet set, Synced synced) {
        long stored = synced.revision().orElse(-1L);
        if (stored < set.revision()) {
            log.info(
                    "[{}] brought along jobs of set {} at revision {}: {} changed, {} deleted",
                    database.name(),
                    set.name(),
                    set.revision(),
                    synced.changed(),
                    synced.deleted());
        } else if (stored > set.revision()) {
            log.info(
                    "[{}] jobs of set {} are at revision {}, newer than {} of this program, and stay as they are",
                    database.name(),
                    set.name(),
                    stored,
                    set.revision());
        } else if (!set.digest().equals(synced.digest().orElse(""))) {
            log.warn(
                    "[{}] jobs of set {} are not the ones of revision {} that are stored, which stay as they are;"
                            + " increase the revision to change them",
                    database.name(),
                    set.name(),
                    set.revision());
        }
    }
}
