package dev.windlass.internal.schedule;

import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.QueueStore;
import dev.windlass.internal.schedule.JobStore.Done;
import dev.windlass.internal.support.Place;
import dev.windlass.schedule.ClaimedJobRun;
import dev.windlass.schedule.JobRun;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The routines of runs, called by name. */
final class JobRunStore extends QueueStore<ClaimedJobRun> {
    private final String outbox;

    JobRunStore(Database database, String outbox, String nodeName, Duration retention) {
        super(database, queue(outbox), nodeName, retention);
        this.outbox = outbox;
    }

    static String queue(String outbox) {
        return outbox + "_job_run";
    }

    @Override
    protected Reader<ClaimedJobRun> reader(ResultSet rows) {
        return (row, id, owner) ->
                new ClaimedJobRun(JobRows.claimedRun(row), row.getString("topic"), row.getString("payload"));
    }

    Optional<JobRun> state(Connection connection, UUID id) throws SQLException {
        return call(connection, "states").uuids(List.of(id)).list(JobRows::run).stream()
                .findFirst();
    }

    /** The latest first, after the last one of the page before. */
    List<JobRun> ofJob(Connection connection, String name, int limit, Place after) throws SQLException {
        return database.call(connection, queue + "s")
                .text(name)
                .integer(limit)
                .instant(after.instant(0))
                .uuid(after.uuid(1))
                .list(JobRows::run);
    }

    /** As a run, or else as the message it became: one that is handed off just now is a message only afterwards. */
    boolean cancelAnywhere(Connection connection, UUID id) throws SQLException {
        return cancel(connection, id)
                || (isMessage(connection, id)
                        && messages(connection, "cancel", id).count() == 1);
    }

    boolean rescheduleAnywhere(Connection connection, UUID id, Instant dueTime) throws SQLException {
        return reschedule(connection, id, dueTime, null, true)
                || (isMessage(connection, id)
                        && messages(connection, "reschedule", id)
                                        .instant(dueTime)
                                        .count()
                                == 1);
    }

    private Call messages(Connection connection, String routine, UUID id) {
        return database.call(connection, outbox + "_" + routine).uuids(List.of(id));
    }

    private boolean isMessage(Connection connection, UUID id) throws SQLException {
        return state(connection, id).filter(JobRun::handedOff).isPresent();
    }

    Done handOff(Connection connection, int limit) throws SQLException {
        return call(connection, "hand_off").integer(limit).list(JobStore::done).get(0);
    }

    boolean recordOutput(Connection connection, UUID id, String output) throws SQLException {
        return call(connection, "record_output").uuid(id).text(output).value(row -> row.getBoolean(1));
    }

    int endLost(Connection connection, int limit) throws SQLException {
        return call(connection, "end_lost").integer(limit).count();
    }
}
