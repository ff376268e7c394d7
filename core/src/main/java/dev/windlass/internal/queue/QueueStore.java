package dev.windlass.internal.queue;

import static dev.windlass.internal.database.Columns.each;
import static dev.windlass.internal.database.Columns.optional;

import dev.windlass.base.QueueKind;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Instants;
import dev.windlass.internal.database.Proof;
import dev.windlass.internal.support.Headers;
import dev.windlass.operator.FailedAttempt;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The verbs that every queue has alike: routines named after its table. A feature adds how a message is read from a row, and
 * what only its own queue can do.
 */
public abstract class QueueStore<M> implements WorkStore<M> {
    private static final Logger log = LoggerFactory.getLogger(QueueStore.class);

    protected final Database database;
    protected final String nodeName;
    protected final Duration retention;
    protected final String queue;
    /** Whether somebody wants to know how long messages have waited. */
    private final boolean tellsWaits;

    private final List<String> columns;
    private final WrittenTraces tracing;

    /**
     * @param retention how long what is done is kept; zero means that an ack deletes it
     */
    protected QueueStore(Database database, String queue, String nodeName, Duration retention) {
        this.database = database;
        this.queue = queue;
        this.nodeName = nodeName;
        this.retention = retention;
        this.tellsWaits = database.events().areHeard();
        this.tracing = new WrittenTraces(database);
        this.columns = columns(tellsWaits, claimedColumns());
    }

    private static List<String> columns(boolean tellsWaits, List<String> read) {
        return tellsWaits && !read.isEmpty()
                ? Stream.concat(read.stream(), Stream.of(ClaimedRows.CLAIMED_AT))
                        .toList()
                : read;
    }

    protected final Call call(Connection connection, String routine) {
        return database.call(connection, queue + "_" + routine);
    }

    /** Reads messages of the rows of one result; the columns are looked up once. */
    protected interface Reader<M> {
        M read(ResultSet row, UUID id, UUID owner) throws SQLException;
    }

    /** Of what has been claimed. */
    protected abstract Reader<M> reader(ResultSet rows) throws SQLException;

    /** Those that {@link #claimed} reads itself. */
    private static final List<String> COMMON_COLUMNS = List.of(
            "id",
            "topic",
            "payload",
            "retry_count",
            "lease_expiries",
            "crashes",
            "requeues",
            "next_attempt_at",
            "awaited",
            "joined");

    /** What a claim sends: what is common to all queues, and these. */
    protected static List<String> commonColumnsAnd(String... own) {
        return Stream.concat(COMMON_COLUMNS.stream(), Stream.of(own)).toList();
    }

    /** The columns that are read of what has been claimed; all, if it is empty. Those that nobody reads are a third of what the
     * server has to do to send them. */
    protected List<String> claimedColumns() {
        return List.of();
    }

    /** Of what may be in any state. */
    protected Reader<M> storedReader(ResultSet rows) throws SQLException {
        return reader(rows);
    }

    /** Whether messages have ordering keys. */
    protected boolean hasKeys() {
        return false;
    }

    /** Whether some of its messages are runs of jobs. */
    protected boolean hasRuns() {
        return false;
    }

    @Override
    public List<Claimed<M>> claim(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException {
        return claim(connection, owner, lease, limit, bytes, demands, false);
    }

    @Override
    public List<Claimed<M>> claimEach(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException {
        return claim(connection, owner, lease, limit, bytes, demands, true);
    }

    private List<Claimed<M>> claim(
            Connection connection,
            UUID owner,
            Duration lease,
            int limit,
            long bytes,
            List<Demand> demands,
            boolean each)
            throws SQLException {
        List<Position> after = after(demands);
        Call call = call(connection, "claim")
                .uuid(owner)
                .duration(lease)
                .integer(limit)
                .texts(each(demands, Demand::topic))
                .integers(each(demands, Demand::places))
                .instants(each(after, Position::at))
                .uuids(each(after, Position::id))
                .number(bytes)
                .bool(each);
        return ranked(call).claimed(columns, rows -> claimed(rows, owner, true));
    }

    /** Those of the first topic first. */
    private static List<Position> after(List<Demand> demands) {
        return demands.size() == 1
                ? demands.get(0).after()
                : demands.stream().flatMap(demand -> demand.after().stream()).toList();
    }

    /** Adds how messages are ranked, if they are. */
    private Call ranked(Call call) {
        return ranking().isRanked()
                ? call.integers(ranking().priorities()).duration(ranking().ageing())
                : call;
    }

    /**
     * For those who work by themselves; what cannot be read comes with the reason.
     *
     * @param topic of which; null means of whatever topic there is
     * @param each one by one: those that the database refuses are left
     */
    public final List<OwnWork.Taken<M>> claimAny(
            Connection connection, @Nullable String topic, UUID owner, Duration lease, int limit, boolean each)
            throws SQLException {
        Call call = call(connection, "claim")
                .uuid(owner)
                .duration(lease)
                .integer(limit)
                .texts(topic == null ? null : List.of(topic))
                .integers(null)
                .instants(null)
                .uuids(null)
                .number(null)
                .bool(each);
        return ranked(call).rows(rows -> {
            Reader<M> reader = reader(rows);
            return row -> taken(row, owner, reader);
        });
    }

    private OwnWork.Taken<M> taken(ResultSet row, UUID owner, Reader<M> reader) throws SQLException {
        UUID id = row.getObject("id", UUID.class);
        try {
            return new OwnWork.Taken<>(id, reader.read(row, id, owner), null);
        } catch (SQLException | RuntimeException e) {
            return new OwnWork.Taken<>(id, null, problem(id, e));
        }
    }

    /**
     * What a claim took, row by row; one that cannot be read is set aside alone.
     *
     * @param proved whether the rows bring what proves how far the claim has come
     */
    protected final Call.RowMapper<Claimed<M>> claimed(ResultSet rows, UUID owner, boolean proved) throws SQLException {
        Call.RowMapper<Proof> proof = proved ? database.dialect().proofs(rows) : row -> Proof.NONE;
        Set<ClaimedRows.Has> has = EnumSet.noneOf(ClaimedRows.Has.class);
        if (proved) {
            has.add(ClaimedRows.Has.AWAITED);
        }
        if (proved && tellsWaits) {
            has.add(ClaimedRows.Has.CLAIM_TIME);
        }
        if (proved && hasRuns()) {
            has.add(ClaimedRows.Has.RUNS);
        }
        if (hasKeys()) {
            has.add(ClaimedRows.Has.KEYS);
        }
        if (ranking().isRanked()) {
            has.add(ClaimedRows.Has.PRIORITIES);
        }
        return new ClaimedRows<>(rows, owner, reader(rows), proof, has, this::problem);
    }

    @Override
    public GivenBack giveBack(Connection connection, UUID owner, @Nullable String problem) throws SQLException {
        return call(connection, "give_back")
                .uuid(owner)
                .text(problem)
                .list(row -> new GivenBack(row.getInt("given"), row.getInt("left_locked")))
                .get(0);
    }

    @Override
    public List<Stuck> stuck(Connection connection, int limit) throws SQLException {
        return call(connection, "stuck")
                .integer(limit)
                .list(row -> new Stuck(stuckName(row), Instants.instant(row, "locked_until")));
    }

    /** What a message is called in a warning. */
    protected String stuckName(ResultSet row) throws SQLException {
        return row.getString("id");
    }

    /** Headers as they are stored, with the context of the trace in which they are written. */
    protected final @Nullable String headers(QueueKind kind, String topic, Map<String, String> headers) {
        return Headers.write(tracing.written(kind, topic, headers));
    }

    /** What can be told of the reason why a row cannot be read, without any of its content. */
    private String problem(UUID id, Exception cause) {
        log.debug("[{}] {} of {} cannot be read", database.name(), id, queue, cause);
        return "it cannot be read: " + cause.getClass().getName();
    }

    /** A call of a verb on messages that this owner holds. */
    protected final Call calling(Connection connection, String verb, List<Held> held) {
        return call(connection, verb).uuids(each(held, Held::id)).uuids(each(held, Held::owner));
    }

    private static Answer answer(Call call) throws SQLException {
        return call.list(QueueStore::answer).get(0);
    }

    protected static Answer answer(ResultSet row) throws SQLException {
        return new Answer(row.getInt("changed"), ids(row, "locked"), ids(row, "lost"));
    }

    private static Set<UUID> ids(ResultSet row, String column) throws SQLException {
        return Set.of((UUID[]) row.getArray(column).getArray());
    }

    @Override
    public Answer start(Connection connection, List<Held> held) throws SQLException {
        return answer(calling(connection, "start", held));
    }

    @Override
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

    @Override
    public Answer abandon(Connection connection, List<Failure> failures) throws SQLException {
        return answer(calling(connection, "abandon", each(failures, Failure::held))
                .durations(optional(failures, Failure::retryAfter))
                .texts(optional(failures, Failure::error))
                .text(nodeName)
                .bools(each(failures, Failure::counted)));
    }

    @Override
    public Answer release(Connection connection, List<Held> held) throws SQLException {
        return answer(calling(connection, "release", held));
    }

    @Override
    public Answer fail(Connection connection, List<Ending> endings) throws SQLException {
        return fail(connection, endings, null);
    }

    /**
     * Ends messages as failed.
     *
     * @param blocks whether those that wait behind each go on waiting; null if nothing does
     */
    protected final Answer fail(Connection connection, List<Ending> endings, @Nullable List<Boolean> blocks)
            throws SQLException {
        List<Held> held = each(endings, Ending::held);
        return answer(calling(connection, "fail", held)
                .texts(optional(endings, Ending::error))
                .text(nodeName)
                .bools(blocks)
                .bool(announces(held)));
    }

    @Override
    public Answer heartbeat(Connection connection, List<Held> held, Duration lease) throws SQLException {
        return answer(calling(connection, "heartbeat", held).duration(lease));
    }

    @Override
    public int reap(Connection connection, Duration quiet, int limit, boolean watched) throws SQLException {
        return call(connection, "reap")
                .duration(quiet)
                .integer(limit)
                .bool(watched)
                .count();
    }

    @Override
    public int expire(Connection connection, int limit) throws SQLException {
        return call(connection, "expire").integer(limit).count();
    }

    @Override
    public Cleaned clean(Connection connection, int limit, Instant after) throws SQLException {
        return call(connection, "clean_after")
                .duration(retention)
                .integer(limit)
                .instant(after)
                .list(row -> new Cleaned(row.getInt("deleted"), Instants.optionalInstant(row, "reached")))
                .get(0);
    }

    @Override
    public Optional<Duration> nextDue(Connection connection, List<Demand> demands) throws SQLException {
        List<Position> after = after(demands);
        return call(connection, "next_due")
                .texts(each(demands, Demand::topic))
                .instants(each(after, Position::at))
                .uuids(each(after, Position::id))
                .value(row -> Optional.ofNullable(row.getObject(1, Long.class)).map(Duration::ofMillis));
    }

    @Override
    public Call look(Connection connection, @Nullable List<String> topics, boolean others) {
        return call(connection, "look").texts(topics).bool(others);
    }

    @Override
    public Decided decidedTopics(Connection connection) throws SQLException {
        Decided decided = new Decided(new HashSet<>(), new HashSet<>());
        call(connection, "decided_topics").list(row -> {
            String topic = row.getString("topic");
            if (row.getObject("paused_at") != null) {
                decided.paused().add(topic);
            }
            if (row.getObject("max_running") != null
                    || row.getObject("max_per_key") != null
                    || row.getObject("rate") != null) {
                decided.limited().add(topic);
            }
            return topic;
        });
        return decided;
    }

    public final Optional<M> find(Connection connection, UUID id) throws SQLException {
        return stored(call(connection, "find").uuid(id));
    }

    /** The one that a call finds, in whatever state, if there is one. */
    protected final Optional<M> stored(Call call) throws SQLException {
        return call
                .rows(rows -> {
                    Reader<M> reader = storedReader(rows);
                    return row ->
                            reader.read(row, row.getObject("id", UUID.class), row.getObject("owner_token", UUID.class));
                })
                .stream()
                .findFirst();
    }

    /** The attempts that failed, the oldest first. */
    public final List<FailedAttempt> failures(Connection connection, UUID id) throws SQLException {
        return call(connection, "failures")
                .uuid(id)
                .list(row -> new FailedAttempt(
                        Instants.instant(row, "failed_at"),
                        row.getInt("attempt"),
                        Optional.ofNullable(row.getString("node")),
                        Optional.ofNullable(row.getString("error"))));
    }

    public final boolean cancel(Connection connection, UUID id) throws SQLException {
        return call(connection, "cancel").uuids(List.of(id)).count() == 1;
    }

    /**
     * Moves the due time of what nobody has claimed.
     *
     * @param delay from now; either this or the due time is given
     */
    public final boolean reschedule(
            Connection connection, UUID id, @Nullable Instant dueTime, @Nullable Duration delay, boolean notify)
            throws SQLException {
        return call(connection, "reschedule")
                        .uuids(List.of(id))
                        .instant(dueTime)
                        .duration(delay)
                        .bool(notify)
                        .count()
                == 1;
    }
}
