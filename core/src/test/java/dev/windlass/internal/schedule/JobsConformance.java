package dev.windlass.internal.schedule;

import dev.windlass.EngineDatabase;
import dev.windlass.Windlass;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.schema.Channel;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.ScheduleOptions;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

/** What the parts of the conformance suite have in common. */
abstract class JobsConformance {
    static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    static final ZoneId UTC = ZoneId.of("UTC");

    /** So rare that no tick comes while a test runs. */
    static final String RARE = "0 0 1 1 *";

    Windlass windlass;
    Jobs jobs;

    private EngineDatabase database;

    @BeforeEach
    void startWithoutBackgroundWork(EngineDatabase database) {
        this.database = database;
        windlass = passive(ScheduleOptions.defaults());
        jobs = windlass.jobs();
    }

    final EngineDatabase database() {
        return database;
    }

    /** A node that only writes and claims by hand; so short a lease that the quiet time after the server's start is over. */
    Windlass passive(ScheduleOptions options) {
        return database()
                .start(database()
                        .windlass()
                        .options(database().options().withBackgroundWorkers(false))
                        .schedule(options.withLease(Duration.ofMillis(10))));
    }

    /** A node that makes runs. */
    Windlass node() {
        return database().start(database().windlass());
    }

    static Job rare(String name) {
        return Job.cron(name, RARE, UTC).withTopic("topic");
    }

    JobState state(String name) {
        return jobs.find(name).orElseThrow();
    }

    /** Lets the next tick of a job be this long ago, as after an outage. */
    void missed(String name, Duration ago) {
        Instant tick = database().now().truncatedTo(ChronoUnit.SECONDS).minus(ago);
        database()
                .update(
                        "update %s.outbox_job set next_tick_at = ?, fires_at = ?, version = version + 1 where name = ?",
                        tick, tick, name);
        wakeNodes();
    }

    /** A time so many hours before the last full one. */
    Instant hoursAgo(int hours) {
        return database().now().truncatedTo(ChronoUnit.HOURS).minus(Duration.ofHours(hours));
    }

    private void wakeNodes() {
        Database routines = database().routines();
        routines.retrying("wake nodes", connection -> {
            String channel = Channel.of(database().options().schemaName(), "outbox_job_run");
            routines.dialect().send(connection, channel, "ready");
            return true;
        });
    }

    long messages(String where) {
        return database().value(Long.class, "select count(*) from %s.outbox where " + where);
    }

    long runs(String where, Object... arguments) {
        return database().value(Long.class, "select count(*) from %s.outbox_job_run where " + where, arguments);
    }

    <T> T column(Class<T> type, String column, String name) {
        return database().value(type, "select " + column + " from %s.outbox_job where name = ?", name);
    }

    @Nullable
    Instant time(String column, String name) {
        return column(Instant.class, column, name);
    }
}
