package dev.windlass.runtime;

import static dev.windlass.runtime.Columns.each;
import static dev.windlass.runtime.Columns.optional;

import dev.windlass.FailedHead;
import dev.windlass.runtime.WorkStore.Answer;
import dev.windlass.runtime.WorkStore.Ending;
import dev.windlass.runtime.WorkStore.Failure;
import dev.windlass.runtime.WorkStore.GivenBack;
import dev.windlass.runtime.WorkStore.Held;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The verbs on what somebody has claimed, which every queue has alike: routines named after its table. */
public class OwnedStore {
    private static final Logger log = LoggerFactory.getLogger(OwnedStore.class);

    protected final Database database;
    protected final String nodeName;
    protected final Duration retention;
    protected final String queue;

    /**
     * @param retention how long what is done is kept; zero means that an ack deletes it
     */
    public OwnedStore(Database database, String queue, String nodeName, Duration retention) {
        this.database = database;
        this.queue = queue;
        this.nodeName = nodeName;
        this.retention = retention;
    }

    protected final Call call(Connection connection, String routine) {
        return database.call(connection, queue + "_" + routine);
    }

    public GivenBack giveBack(Connection connection, UUID owner, @Nullable String problem) throws SQLException {
        return call(connection, "give_back")
                .uuid(owner)
                .text(problem)
                .list(row -> new GivenBack(row.getInt("given"), row.getInt("left_locked")))
                .get(0);
    }

    /** Takes what is ready, of whatever topic; one that cannot be read comes alone, with the reason. */
    public final <T> List<OwnWork.Taken<T>> claimAny(
            Connection connection, UUID owner, Duration lease, int limit, Call.RowMapper<T> mapper)
            throws SQLException {
        return call(connection, "claim")
                .uuid(owner)
                .duration(lease)
                .integer(limit)
                .list(row -> taken(row, mapper));
    }

    protected final <T> OwnWork.Taken<T> taken(ResultSet row, Call.RowMapper<T> mapper) throws SQLException {
        UUID id = row.getObject("id", UUID.class);
        try {
            return new OwnWork.Taken<>(id, mapper.map(row), null);
        } catch (SQLException | RuntimeException e) {
            return new OwnWork.Taken<>(id, null, problem(id, e));
        }
    }

    /** What can be told of the reason why a row cannot be read, without any of its content. */
    protected final String problem(UUID id, Exception cause) {
        log.debug("[{}] {} of {} cannot be read", database.name(), id, queue, cause);
        return "it cannot be read: " + cause.getClass().getName();
    }

    /** A call of a verb on messages that this owner holds. */
    protected final Call calling(Connection connection, String verb, List<Held> held) {
        return call(connection, verb).uuids(each(held, Held::id)).uuids(each(held, Held::owner));
    }

    protected static Answer answer(Call call) throws SQLException {
        return call.list(OwnedStore::answer).get(0);
    }

    protected static Answer answer(ResultSet row) throws SQLException {
        return new Answer(row.getInt("changed"), ids(row, "locked"), ids(row, "lost"));
    }

    private static Set<UUID> ids(ResultSet row, String column) throws SQLException {
        return Set.of((UUID[]) row.getArray(column).getArray());
    }

    public Answer start(Connection connection, List<Held> held) throws SQLException {
        return answer(calling(connection, "start", held));
    }

    public Answer ack(Connection connection, List<Held> held) throws SQLException {
        return ack(connection, held, true);
    }

    /**
     * Ends messages as done.
     *
     * @param again whether those count that were ended before
     */
    protected final Answer ack(Connection connection, List<Held> held, boolean again) throws SQLException {
        return answer(calling(connection, "ack", held)
                .text(nodeName)
                .bool(!retention.isZero())
                .bool(announces(held))
                .bool(again));
    }

    /** Whether to tell other nodes of what becomes ready when these end. */
    protected boolean announces(List<Held> ended) {
        return false;
    }

    public Answer abandon(Connection connection, List<Failure> failures) throws SQLException {
        return answer(calling(connection, "abandon", each(failures, Failure::held))
                .durations(optional(failures, Failure::retryAfter))
                .texts(optional(failures, Failure::error))
                .text(nodeName)
                .bools(each(failures, Failure::counted)));
    }

    public Answer release(Connection connection, List<Held> held) throws SQLException {
        return answer(calling(connection, "release", held));
    }

    public Answer fail(Connection connection, List<Ending> endings) throws SQLException {
        List<Held> held = each(endings, Ending::held);
        return answer(calling(connection, "fail", held)
                .texts(each(endings, Ending::error))
                .text(nodeName)
                .bools(each(endings, ending -> ending.head() == FailedHead.BLOCKS))
                .bool(announces(held)));
    }

    public Answer heartbeat(Connection connection, List<Held> held, Duration lease) throws SQLException {
        return answer(calling(connection, "heartbeat", held).duration(lease));
    }

    public int reap(Connection connection, Duration quiet, int limit, boolean watched) throws SQLException {
        return call(connection, "reap")
                .duration(quiet)
                .integer(limit)
                .bool(watched)
                .count();
    }
}
