package dev.windlass.internal.schedule;

import static dev.windlass.internal.database.Columns.each;
import static dev.windlass.internal.database.Instants.instant;

import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.schedule.JobRows.Stored;
import dev.windlass.internal.support.Headers;
import dev.windlass.internal.support.JobDurations;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Schedule;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The routines of jobs, called by name. */
final class JobStore {
    private final Database database;
    private final String outbox;

    JobStore(Database database, String outbox) {
        this.database = database;
        this.outbox = outbox;
    }

    private Call call(Connection connection, String routine) {
        return database.call(connection, outbox + "_job_" + routine);
    }

    Instant now(Connection connection) throws SQLException {
        return call(connection, "clock").value(JobRows::first);
    }

    boolean save(Connection connection, JobColumns columns) throws SQLException {
        Job job = columns.job();
        return call(connection, "save")
                .text(job.name())
                .text(columns.topic())
                .text(job.payload())
                .text(columns.cron())
                .text(columns.zone())
                .duration(columns.period())
                .instant(columns.anchor())
                .instant(columns.nextTick())
                .instant(columns.firesAt())
                .integer(columns.misfire())
                .integer(columns.misfireRuns())
                .duration(columns.misfireAfter())
                .integer(columns.overlap())
                .duration(job.jitter())
                .value(row -> row.getBoolean(1));
    }

    /**
     * What a synchronisation found and did.
     *
     * @param revision that was stored before
     * @param changed how many jobs it created or changed
     */
    record Synced(Optional<Long> revision, Optional<String> digest, int changed, int deleted) {}

    Synced sync(Connection connection, JobSet set, List<JobColumns> jobs) throws SQLException {
        return call(connection, "set_sync")
                .text(set.name())
                .number(set.revision())
                .text(set.digest())
                .json(jobs.stream().map(JobStore::json).collect(Collectors.joining(",", "[", "]")))
                .list(row -> new Synced(
                        Optional.ofNullable(row.getObject("stored_revision", Long.class)),
                        Optional.ofNullable(row.getString("stored_digest")),
                        row.getInt("changed"),
                        row.getInt("deleted")))
                .get(0);
    }

    private static String json(JobColumns columns) {
        Map<String, String> json = new TreeMap<>();
        json.put("name", columns.job().name());
        json.put("topic", columns.topic());
        json.put("payload", columns.job().payload());
        put(json, "cron", columns.cron());
        put(json, "zone", columns.zone());
        put(json, "period", columns.period());
        put(json, "anchor_at", columns.anchor());
        put(json, "next_tick_at", columns.nextTick());
        put(json, "fires_at", columns.firesAt());
        put(json, "misfire", columns.misfire());
        put(json, "misfire_runs", columns.misfireRuns());
        put(json, "misfire_after", columns.misfireAfter());
        put(json, "overlap", columns.overlap());
        put(json, "jitter", columns.job().jitter());
        return String.valueOf(Headers.write(json));
    }

    private static void put(Map<String, String> json, String name, @Nullable Object value) {
        if (value != null) {
            json.put(name, value.toString());
        }
    }

    /** Returns whether the job was there. */
    boolean delete(Connection connection, String name, @Nullable String by) throws SQLException {
        return call(connection, "delete").text(name).text(by).value(row -> row.getObject(1) != null);
    }

    /**
     * What came of a trigger.
     *
     * @param run null if none was made
     * @param unfinished the run that was in the way
     */
    record Triggered(
            @Nullable UUID run,
            @Nullable UUID unfinished,
            @Nullable String topic) {}

    Triggered trigger(Connection connection, String name, UUID id, boolean handOff, @Nullable String by)
            throws SQLException {
        return call(connection, "trigger")
                .text(name)
                .uuid(id)
                .bool(handOff)
                .text(by)
                .list(row -> new Triggered(
                        row.getObject("run_id", UUID.class),
                        row.getObject("unfinished_id", UUID.class),
                        row.getString("topic")))
                .get(0);
    }

    /** Empty if there is no such job. */
    Optional<Boolean> pause(Connection connection, String name, @Nullable String by) throws SQLException {
        return call(connection, "pause")
                .text(name)
                .text(by)
                .value(row -> Optional.ofNullable(row.getObject(1, Boolean.class)));
    }

    boolean resume(Connection connection, Stored job, Instant nextTick, Instant firesAt, @Nullable String by)
            throws SQLException {
        return call(connection, "resume")
                .text(job.state().name())
                .number(job.version())
                .instant(nextTick)
                .instant(firesAt)
                .text(by)
                .value(row -> row.getBoolean(1));
    }

    Optional<Stored> find(Connection connection, String name) throws SQLException {
        return jobs(connection, name).stream().findFirst();
    }

    List<Stored> list(Connection connection) throws SQLException {
        return jobs(connection, null);
    }

    private List<Stored> jobs(Connection connection, @Nullable String name) throws SQLException {
        return database.call(connection, outbox + "_jobs").text(name).list(JobRows::job);
    }

    /** A job that fires. */
    record Firing(
            String name,
            long version,
            Schedule schedule,
            @Nullable Instant anchor,
            Misfire misfire,
            Duration jitter,
            Instant tick,
            Instant firesAt) {}

    /**
     * What there is to do.
     *
     * @param runReady whether a run is ready that is no message
     * @param nextDue until the next job fires, or run is ready
     */
    record Due(List<Firing> jobs, Instant now, boolean runReady, Optional<Duration> nextDue) {}

    Due due(Connection connection, int limit) throws SQLException {
        List<Firing> firing = new ArrayList<>();
        List<Due> rows = call(connection, "due").integer(limit).list(row -> {
            if (row.getString("name") != null) {
                firing.add(firing(row));
            }
            return new Due(firing, instant(row, "now"), row.getBoolean("run_ready"), nextDue(row));
        });
        return rows.get(0);
    }

    private static Firing firing(ResultSet row) throws SQLException {
        return new Firing(
                row.getString("name"),
                row.getLong("version"),
                JobRows.schedule(row),
                JobRows.anchor(row),
                JobRows.misfire(row),
                JobRows.micros(row, "jitter"),
                instant(row, "next_tick_at"),
                instant(row, "fires_at"));
    }

    private static Optional<Duration> nextDue(ResultSet row) throws SQLException {
        long micros = row.getLong("next_due");
        return row.wasNull() ? Optional.empty() : Optional.of(JobDurations.ofMicros(micros));
    }

    /** What is to become of a job that fires. */
    record Planned(Firing job, JobPlan plan, Instant firesAt) {}

    /**
     * What was done.
     *
     * @param lookedAt how many jobs or runs nobody else held
     * @param topics that have new messages
     */
    record Done(int lookedAt, List<String> topics) {}

    /** The same for jobs that fire, with the runs that were made. */
    record Taken(Done done, Set<UUID> runs) {}

    /**
     * @param ids one for each run, in the order of the plans
     */
    Taken take(Connection connection, List<Planned> jobs, List<UUID> ids, boolean handOff) throws SQLException {
        List<Integer> owners = new ArrayList<>();
        List<Instant> ticks = new ArrayList<>();
        for (int i = 0; i < jobs.size(); i++) {
            for (Instant tick : jobs.get(i).plan().runs()) {
                owners.add(i + 1);
                ticks.add(tick);
            }
        }
        return call(connection, "take")
                .texts(each(jobs, planned -> planned.job().name()))
                .numbers(each(jobs, planned -> planned.job().version()))
                .instants(each(jobs, planned -> planned.plan().next()))
                .instants(each(jobs, Planned::firesAt))
                .numbers(each(jobs, planned -> planned.plan().skipped()))
                .integers(owners)
                .uuids(ids)
                .instants(each(ticks, tick -> tick))
                .bool(handOff)
                .list(row -> new Taken(
                        done(row), Set.of((UUID[]) row.getArray("made").getArray())))
                .get(0);
    }

    static Done done(ResultSet row) throws SQLException {
        return new Done(row.getInt("looked_at"), List.of((String[])
                row.getArray("topics").getArray()));
    }

    boolean problem(Connection connection, Firing job, String problem, Duration retry) throws SQLException {
        return call(connection, "problem")
                .text(job.name())
                .number(job.version())
                .text(problem)
                .duration(retry)
                .value(row -> row.getBoolean(1));
    }
}
