package dev.windlass.outbox;

import static dev.windlass.runtime.Instants.instant;

import dev.windlass.runtime.Call;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.ErrorText;
import dev.windlass.runtime.Require;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operator's routines, called by name, in batches where there may be much to do. */
final class StoredOperator implements OutboxOperator {
    private static final Logger log = LoggerFactory.getLogger(OutboxOperator.class);
    private static final int BATCH = 500;

    private final Database database;
    private final String table;
    private final String who;
    private final Runnable foundWork;
    private final Runnable pausesChanged;

    /**
     * @param foundWork called when messages may have become ready
     * @param pausesChanged called when a topic has been paused or resumed
     */
    StoredOperator(Database database, String table, String who, Runnable foundWork, Runnable pausesChanged) {
        this.pausesChanged = pausesChanged;
        this.database = database;
        this.table = table;
        this.who = who;
        this.foundWork = foundWork;
    }

    private Call call(Connection connection, String routine) {
        return database.call(connection, table + "_" + routine);
    }

    @Override
    public List<ListedMessage> list(MessageFilter filter, int limit) {
        return listed(filter, limit, null);
    }

    @Override
    public List<ListedMessage> list(MessageFilter filter, int limit, ListedMessage last) {
        return listed(filter, limit, Require.present("message", last));
    }

    private List<ListedMessage> listed(MessageFilter filter, int limit, @Nullable ListedMessage last) {
        Require.present("filter", filter);
        Require.positive("limit", limit);
        OutboxStatus status = filter.status();
        return database.retrying(
                "list messages",
                connection -> call(connection, "list")
                        .integer(limit)
                        .integer(status == null ? null : status.code())
                        .text(filter.topic())
                        .instant(filter.from())
                        .instant(filter.until())
                        .instant(last == null ? null : last.at())
                        .uuid(last == null ? null : last.id().value())
                        .text(last == null ? null : last.orderingKey().orElse(null))
                        .number(last == null ? null : last.orderingSequence().orElse(null))
                        .list(StoredOperator::listed));
    }

    private static ListedMessage listed(ResultSet row) throws SQLException {
        return new ListedMessage(
                new OutboxMessageIdentifier(row.getObject("id", UUID.class)),
                row.getString("topic"),
                OutboxStatus.of(row.getInt("status")),
                Optional.ofNullable(row.getString("correlation_id")),
                Optional.ofNullable(row.getString("ordering_key")),
                Optional.ofNullable(row.getObject("ordering_sequence", Long.class)),
                instant(row, "created_at"),
                instant(row, "listed_at"),
                Optional.ofNullable(row.getString("processed_by")),
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("requeues"),
                Optional.ofNullable(row.getString("last_error")));
    }

    @Override
    public List<DeadLetter> deadLetters(DeadLetterFilter filter, int limit) {
        return page(filter, limit, null);
    }

    @Override
    public List<DeadLetter> deadLetters(DeadLetterFilter filter, int limit, DeadLetter last) {
        return page(filter, limit, Require.present("dead letter", last));
    }

    private List<DeadLetter> page(DeadLetterFilter filter, int limit, @Nullable DeadLetter last) {
        Require.present("filter", filter);
        Require.positive("limit", limit);
        return database.retrying(
                "list dead letters",
                connection -> filtered(call(connection, "dead_letters").integer(limit), filter)
                        .instant(last == null ? null : last.failedAt())
                        .uuid(last == null ? null : last.id().value())
                        .list(StoredOperator::deadLetter));
    }

    private static Call filtered(Call call, DeadLetterFilter filter) {
        return call.text(filter.topic())
                .instant(filter.failedFrom())
                .instant(filter.failedBefore())
                .text(filter.error());
    }

    private static DeadLetter deadLetter(ResultSet row) throws SQLException {
        return new DeadLetter(
                new OutboxMessageIdentifier(row.getObject("id", UUID.class)),
                row.getString("topic"),
                Optional.ofNullable(row.getString("correlation_id")),
                Optional.ofNullable(row.getString("ordering_key")),
                row.getBoolean("blocks_key"),
                instant(row, "created_at"),
                instant(row, "ended_at"),
                Optional.ofNullable(row.getString("processed_by")),
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("requeues"),
                Optional.ofNullable(row.getString("last_error")),
                row.getObject("erased_at") != null);
    }

    @Override
    public int requeue(Collection<OutboxMessageIdentifier> ids, Attempts attempts) {
        Require.present("choice of attempts", attempts);
        return change(
                "requeue",
                ids,
                (call, batch, action) -> requeue(call, batch, DeadLetterFilter.all(), attempts, action));
    }

    @Override
    public int requeue(DeadLetterFilter filter, Attempts attempts) {
        Require.present("choice of attempts", attempts);
        return change("requeue", filter, (call, rest, action) -> requeue(call, null, rest, attempts, action));
    }

    private static Call requeue(
            Call call, @Nullable List<UUID> ids, DeadLetterFilter filter, Attempts attempts, @Nullable Long action) {
        return filtered(call.uuids(ids), filter)
                .bool(attempts == Attempts.RESET)
                .integer(BATCH)
                .number(action)
                .bool(ids == null);
    }

    @Override
    public int purge(Collection<OutboxMessageIdentifier> ids) {
        return change("purge", ids, StoredOperator::byIds);
    }

    @Override
    public int purge(DeadLetterFilter filter) {
        return change("purge", filter, (call, rest, action) -> byFilter(call, rest, action));
    }

    @Override
    public int skip(Collection<OutboxMessageIdentifier> ids) {
        return change("skip", ids, StoredOperator::byIds);
    }

    @Override
    public int skip(DeadLetterFilter filter) {
        return change("skip", filter, (call, rest, action) -> byFilter(call, rest, action));
    }

    private static Call byIds(Call call, List<UUID> ids, @Nullable Long action) {
        return filtered(call.uuids(ids), DeadLetterFilter.all())
                .integer(BATCH)
                .number(action)
                .bool(false);
    }

    private static Call byFilter(Call call, DeadLetterFilter filter, @Nullable Long action) {
        return filtered(call.uuids(null), filter).integer(BATCH).number(action).bool(true);
    }

    /** Adds the arguments of one batch of ids. */
    @FunctionalInterface
    private interface IdBatch {
        Call arguments(Call call, List<UUID> ids, @Nullable Long action);
    }

    /** Adds the arguments of one batch of whatever fits. */
    @FunctionalInterface
    private interface FilterBatch {
        Call arguments(Call call, DeadLetterFilter rest, @Nullable Long action);
    }

    private record Changed(
            long action, int messages, @Nullable Instant reached) {}

    private int change(String verb, Collection<OutboxMessageIdentifier> ids, IdBatch batch) {
        List<UUID> all = values(ids);
        Long action = null;
        int total = 0;
        for (int from = 0; from < all.size(); from += BATCH) {
            List<UUID> part = all.subList(from, Math.min(all.size(), from + BATCH));
            Long sofar = action;
            Changed changed = run(verb, call -> batch.arguments(call, part, sofar));
            action = changed.action();
            total += changed.messages();
        }
        return done(verb, total);
    }

    private int change(String verb, DeadLetterFilter filter, FilterBatch batch) {
        Require.present("filter", filter);
        DeadLetterFilter rest = filter;
        Long action = null;
        int total = 0;
        Changed changed;
        do {
            DeadLetterFilter left = rest;
            Long sofar = action;
            changed = run(verb, call -> batch.arguments(call, left, sofar));
            rest = changed.reached() == null
                    ? rest
                    : rest.withFailedFrom(changed.reached()); // what is older has been looked at
            action = changed.action();
            total += changed.messages();
        } while (changed.messages() == BATCH);
        return done(verb, total);
    }

    private Changed run(String verb, UnaryOperator<Call> arguments) {
        return database.retrying(
                verb + " dead letters",
                connection -> arguments
                        .apply(call(connection, verb).text(who))
                        .list(row -> new Changed(row.getLong(1), row.getInt(2), reached(row)))
                        .get(0));
    }

    private static @Nullable Instant reached(ResultSet row) throws SQLException {
        OffsetDateTime time = row.getObject("reached", OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    private int done(String verb, int messages) {
        log.info("[{}] {} by {}: {} dead letters", database.name(), verb, who, messages);
        foundWork.run();
        return messages;
    }

    private static List<UUID> values(Collection<OutboxMessageIdentifier> ids) {
        return Require.elements("message identifiers", ids).stream()
                .map(OutboxMessageIdentifier::value)
                .distinct()
                .toList();
    }

    @Override
    public int erase(Collection<OutboxMessageIdentifier> ids) {
        List<UUID> all = values(ids);
        if (all.isEmpty()) {
            return 0;
        }
        int erased = database.retrying(
                "erase payloads",
                connection -> call(connection, "erase").text(who).uuids(all).count());
        log.info("[{}] erase by {}: {} messages", database.name(), who, erased);
        return erased;
    }

    @Override
    public boolean pause(String topic, String reason) {
        Require.name("topic", topic, OutboxEntry.MAX_TOPIC);
        String text = ErrorText.bounded(Require.storable("reason", reason));
        boolean paused = database.retrying(
                "pause topic " + topic,
                connection -> call(connection, "pause_topic")
                        .text(who)
                        .text(topic)
                        .text(text)
                        .value(row -> row.getBoolean(1)));
        pausesChanged.run();
        if (paused) {
            log.info("[{}] topic {} was paused by {}", database.name(), topic, who);
        }
        return paused;
    }

    @Override
    public boolean resume(String topic) {
        Require.name("topic", topic, OutboxEntry.MAX_TOPIC);
        boolean resumed = database.retrying(
                "resume topic " + topic,
                connection ->
                        call(connection, "resume_topic").text(who).text(topic).value(row -> row.getBoolean(1)));
        pausesChanged.run();
        if (resumed) {
            log.info("[{}] topic {} was resumed by {}", database.name(), topic, who);
        }
        return resumed;
    }

    @Override
    public List<PausedTopic> pausedTopics() {
        return database.retrying(
                "list paused topics",
                connection -> call(connection, "paused_topics")
                        .list(row -> new PausedTopic(
                                row.getString("topic"),
                                instant(row, "paused_at"),
                                row.getString("paused_by"),
                                Optional.ofNullable(row.getString("reason")))));
    }

    @Override
    public List<OperatorAction> actions(int limit) {
        return actions(limit, (Long) null);
    }

    @Override
    public List<OperatorAction> actions(int limit, OperatorAction last) {
        return actions(limit, (Long) Require.present("action", last).number());
    }

    private List<OperatorAction> actions(int limit, @Nullable Long before) {
        Require.positive("limit", limit);
        return database.retrying(
                "list actions",
                connection -> call(connection, "actions")
                        .integer(limit)
                        .number(before)
                        .list(row -> new OperatorAction(
                                row.getLong("id"),
                                instant(row, "acted_at"),
                                row.getString("acted_by"),
                                row.getString("verb"),
                                row.getString("detail"),
                                row.getInt("messages"))));
    }
}
