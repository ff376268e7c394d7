package dev.windlass.internal.join;

import static dev.windlass.internal.database.Instants.instant;
import static dev.windlass.internal.database.Instants.optionalInstant;

import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.support.Place;
import dev.windlass.join.FollowUp;
import dev.windlass.join.Join;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinFilter;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinMember;
import dev.windlass.join.JoinStatus;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Internal: the routines of joins, called by name. */
public final class JoinStore {
    private static final Duration RETENTION = Duration.ofDays(30);

    private final Database database;
    private final String outbox;

    /**
     * @param outbox the table that follow-ups are written to
     */
    public JoinStore(Database database, String outbox) {
        this.database = database;
        this.outbox = outbox;
    }

    private Call call(Connection connection, String routine) {
        return database.call(connection, "windlass_join_" + routine);
    }

    /** A repeated call with the same ids changes nothing. */
    void start(Connection connection, JoinIdentifier id, UUID followUpId, JoinEntry entry) throws SQLException {
        started(call(connection, "start"), id, followUpId, entry)
                .text(outbox)
                .value(row -> row.getObject(1, UUID.class));
    }

    /** Says of a join that is to be started what there is to say. */
    public static Call started(Call call, JoinIdentifier id, UUID followUpId, JoinEntry entry) {
        return following(
                call.integer(entry.expectedSteps())
                        .text(entry.groupingKey())
                        .text(entry.metadata())
                        .bool(entry.failedByAny())
                        .uuid(id.value()),
                followUpId,
                entry.followUp());
    }

    private static Call following(Call call, UUID followUpId, @Nullable FollowUp followUp) {
        FollowUp.Message completed = followUp == null ? null : followUp.completed();
        FollowUp.Message failed = followUp == null ? null : followUp.failed();
        JoinIdentifier stepOf = followUp == null ? null : followUp.stepOf();
        return call.text(completed == null ? null : completed.topic())
                .text(completed == null ? null : completed.payload())
                .text(failed == null ? null : failed.topic())
                .text(failed == null ? null : failed.payload())
                .uuid(stepOf == null ? null : stepOf.value())
                .uuid(followUpId);
    }

    void follow(Connection connection, JoinIdentifier id, UUID followUpId, FollowUp followUp) throws SQLException {
        following(call(connection, "follow").uuid(id.value()).text(outbox), followUpId, followUp)
                .value(row -> row.getObject(1, UUID.class));
    }

    boolean report(Connection connection, JoinIdentifier id, UUID step, JoinStatus status) throws SQLException {
        return call(connection, "report")
                .uuid(id.value())
                .uuid(step)
                .integer(status.code())
                .value(row -> row.getBoolean(1));
    }

    boolean cancel(Connection connection, JoinIdentifier id) throws SQLException {
        return call(connection, "cancel").uuid(id.value()).value(row -> row.getBoolean(1));
    }

    Optional<Join> find(Connection connection, JoinIdentifier id) throws SQLException {
        return call(connection, "find").uuid(id.value()).list(JoinStore::join).stream()
                .findFirst();
    }

    List<Join> list(Connection connection, JoinFilter filter, int limit, Place after) throws SQLException {
        JoinStatus status = filter.status();
        return call(connection, "list")
                .integer(limit)
                .text(filter.groupingKey())
                .integer(status == null ? null : status.code())
                .instant(after.instant(0))
                .uuid(after.uuid(1))
                .list(JoinStore::join);
    }

    List<JoinMember> members(Connection connection, JoinIdentifier id, int limit, Place after) throws SQLException {
        return call(connection, "members")
                .uuid(id.value())
                .integer(limit)
                .uuid(after.uuid(0))
                .list(row -> new JoinMember(
                        row.getObject("message_id", UUID.class),
                        Optional.ofNullable(row.getString("queue")),
                        JoinStatus.of(row.getInt("status"))));
    }

    /** Deletes joins that have ended long ago. */
    public int clean(Connection connection, int limit) throws SQLException {
        return call(connection, "clean").duration(RETENTION).integer(limit).count();
    }

    /** Ends joins whose follow-up was refused, if it is not by now. */
    public int endRefused(Connection connection, int limit) throws SQLException {
        return call(connection, "end_refused").integer(limit).count();
    }

    private static Join join(ResultSet row) throws SQLException {
        return new Join(
                new JoinIdentifier(row.getObject("id", UUID.class)),
                Optional.ofNullable(row.getString("grouping_key")),
                Optional.ofNullable(row.getString("metadata")),
                JoinStatus.of(row.getInt("status")),
                row.getInt("expected_steps"),
                row.getInt("members"),
                row.getInt("completed_steps"),
                row.getInt("failed_steps"),
                row.getBoolean("fail_if_any"),
                instant(row, "created_at"),
                instant(row, "updated_at"),
                optionalInstant(row, "ended_at"),
                Optional.ofNullable(row.getObject("follow_up_id", UUID.class)),
                Optional.ofNullable(row.getString("last_error")));
    }
}
