package dev.windlass.internal.schedule;

import static dev.windlass.internal.database.Instants.instant;
import static dev.windlass.internal.database.Instants.optionalInstant;

import dev.windlass.base.WorkStatus;
import dev.windlass.internal.support.JobDurations;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Overlap;
import dev.windlass.schedule.Schedule;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Rows of jobs and runs as values. */
final class JobRows {
    private JobRows() {}

    /**
     * A job with what a program needs to plan its ticks.
     *
     * @param anchor the moment from which the ticks of a period are counted
     * @param now the database's clock when it was read
     */
    record Stored(JobState state, long version, @Nullable Instant anchor, Instant now) {}

    static Stored job(ResultSet row) throws SQLException {
        Job job = new Job(
                row.getString("name"),
                schedule(row),
                row.getString("topic"),
                row.getString("payload"),
                misfire(row),
                overlap(row.getInt("overlap")),
                micros(row, "jitter"));
        JobState state = new JobState(
                job,
                optionalInstant(row, "next_tick_at"),
                optionalInstant(row, "fires_at"),
                optionalInstant(row, "paused_at"),
                row.getObject("id") == null ? Optional.empty() : Optional.of(run(row)),
                row.getLong("skipped_ticks"),
                optionalInstant(row, "last_skipped_at"),
                Optional.ofNullable(row.getString("problem")),
                Optional.ofNullable(row.getString("job_set")),
                instant(row, "job_created_at"),
                instant(row, "updated_at"));
        return new Stored(state, row.getLong("version"), anchor(row), instant(row, "now"));
    }

    private static Overlap overlap(int number) {
        return switch (number) {
            case 0 -> Overlap.ALLOW;
            case 1 -> Overlap.SKIP;
            default -> Overlap.DELAY;
        };
    }

    /** A job whose times this program does not understand is one of its own; others go on. */
    static Schedule schedule(ResultSet row) throws SQLException {
        String cron = row.getString("cron");
        String zone = row.getString("zone");
        try {
            readMisfire(row);
            return cron == null
                    ? new Schedule.Every(micros(row, "period"))
                    : Schedule.Cron.parse(cron, ZoneId.of(zone));
        } catch (IllegalArgumentException | ArithmeticException | DateTimeException e) {
            return new Schedule.Unreadable(String.valueOf(cron), String.valueOf(zone), String.valueOf(e.getMessage()));
        }
    }

    static Misfire misfire(ResultSet row) throws SQLException {
        try {
            return readMisfire(row);
        } catch (IllegalArgumentException | ArithmeticException e) {
            return Misfire.once(); // its schedule says that it cannot be read
        }
    }

    private static Misfire readMisfire(ResultSet row) throws SQLException {
        return switch (row.getInt("misfire")) {
            case 0 -> Misfire.once();
            case 1 -> Misfire.all(row.getInt("misfire_runs"));
            default -> Misfire.skip(micros(row, "misfire_after"));
        };
    }

    static @Nullable Instant anchor(ResultSet row) throws SQLException {
        return optionalInstant(row, "anchor_at").orElse(null);
    }

    /** A run that is listed, or the last one of a job that is listed. */
    static JobRun run(ResultSet row) throws SQLException {
        return run(row, instant(row, "created_at"));
    }

    /**
     * @param at its time in a list
     */
    static JobRun run(ResultSet row, Instant at) throws SQLException {
        return run(row, WorkStatus.of(row.getInt("state")), at);
    }

    static JobRun claimedRun(ResultSet row) throws SQLException {
        return run(row, WorkStatus.IN_PROGRESS, instant(row, "created_at"));
    }

    private static JobRun run(ResultSet row, WorkStatus status, Instant at) throws SQLException {
        return new JobRun(
                new JobRunIdentifier(row.getObject("id", UUID.class)),
                row.getString("source"),
                instant(row, "tick_at"),
                row.getBoolean("triggered"),
                instant(row, "created_at"),
                status == WorkStatus.READY ? Optional.empty() : optionalInstant(row, "claimed_at"),
                optionalInstant(row, "ended_at"),
                status,
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                Optional.ofNullable(row.getString("last_error")),
                row.getBoolean("handed_off"),
                Optional.ofNullable(row.getString("output")),
                at);
    }

    static Duration micros(ResultSet row, String column) throws SQLException {
        return JobDurations.ofMicros(row.getLong(column));
    }

    /** The one value of a row. */
    static Instant first(ResultSet row) throws SQLException {
        return row.getObject(1, OffsetDateTime.class).toInstant();
    }
}
