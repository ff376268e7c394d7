package dev.windlass.internal.queue;

import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Instants;
import dev.windlass.internal.database.Proof;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;

/** Reads what a claim took; a message that cannot be read is set aside alone. Columns are looked up once for each result. */
final class ClaimedRows<M> implements Call.RowMapper<Claimed<M>> {
    static final String CLAIMED_AT = "claimed_at";

    /** The source of messages that are runs of jobs. */
    private static final String JOB = "job";

    /** What the rows of some queues and claims have beside the rest. */
    enum Has {
        AWAITED,
        CLAIM_TIME,
        KEYS,
        PRIORITIES,
        RUNS
    }

    private final UUID owner;
    private final QueueStore.Reader<M> reader;
    private final Call.RowMapper<Proof> proof;
    private final BiFunction<UUID, Exception, String> problems;
    private final int id;
    private final int topic;
    private final int payload;
    private final int retries;
    private final int expiries;
    private final int crashes;
    private final int requeues;
    private final int nextAttempt;
    private final int joined;
    private final int awaited;
    private final int claimedAt;
    private final int key;
    private final int priority;
    private final int keyed;
    private final int source;

    /**
     * @param problems what may be told of why a message cannot be read
     */
    ClaimedRows(
            ResultSet rows,
            UUID owner,
            QueueStore.Reader<M> reader,
            Call.RowMapper<Proof> proof,
            Set<Has> has,
            BiFunction<UUID, Exception, String> problems)
            throws SQLException {
        this.owner = owner;
        this.reader = reader;
        this.proof = proof;
        this.problems = problems;
        id = rows.findColumn("id");
        topic = rows.findColumn("topic");
        payload = rows.findColumn("payload");
        retries = rows.findColumn("retry_count");
        expiries = rows.findColumn("lease_expiries");
        crashes = rows.findColumn("crashes");
        requeues = rows.findColumn("requeues");
        nextAttempt = rows.findColumn("next_attempt_at");
        joined = rows.findColumn("joined");
        awaited = has.contains(Has.AWAITED) ? rows.findColumn("awaited") : 0;
        claimedAt = has.contains(Has.CLAIM_TIME) ? rows.findColumn(CLAIMED_AT) : 0;
        key = has.contains(Has.KEYS) ? rows.findColumn("ordering_key") : 0;
        priority = has.contains(Has.PRIORITIES) ? rows.findColumn("priority") : 0;
        keyed = has.contains(Has.PRIORITIES) ? rows.findColumn("keyed") : 0;
        source = has.contains(Has.RUNS) ? rows.findColumn("source") : 0;
    }

    @Override
    public Claimed<M> map(ResultSet row) throws SQLException {
        UUID value = row.getObject(id, UUID.class);
        M message = null;
        String problem = null;
        int size = 0;
        try {
            message = reader.read(row, value, owner);
            size = Objects.requireNonNull(row.getString(payload)).length();
        } catch (SQLException | RuntimeException e) {
            problem = problems.apply(value, e);
        }
        Instant since = Instants.instant(row, nextAttempt);
        boolean ordered = key > 0 && row.getString(key) != null;
        return new Claimed<>(
                value,
                owner,
                row.getString(topic),
                row.getInt(retries),
                row.getInt(expiries),
                row.getInt(crashes),
                row.getInt(requeues),
                ordered,
                row.getBoolean(joined) || (awaited > 0 && !ordered && row.getBoolean(awaited)),
                source > 0 && JOB.equals(row.getString(source)),
                priority > 0 ? row.getInt(priority) : Ranking.NORMAL,
                keyed > 0 && row.getBoolean(keyed),
                size,
                claimedAt > 0 ? waited(since, Instants.instant(row, claimedAt)) : 0,
                new Position(since, value),
                proof.map(row),
                message,
                problem);
    }

    private static long waited(Instant since, Instant until) {
        return since.isBefore(until) ? ChronoUnit.NANOS.between(since, until) : 0;
    }
}
