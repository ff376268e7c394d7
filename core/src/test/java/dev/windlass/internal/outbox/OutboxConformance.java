package dev.windlass.internal.outbox;

import dev.windlass.EngineDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.Joins;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

/** What the parts of the conformance suite have in common. */
abstract class OutboxConformance {
    static final Duration LEASE = Duration.ofMinutes(5);

    /** So short that the quiet time after the server's start is over: nothing is reaped in the first lease period. */
    static final OutboxOptions OPTIONS = OutboxOptions.defaults().withLease(Duration.ofMillis(10));

    Outbox outbox;
    Joins joins;

    private EngineDatabase database;

    @BeforeEach
    void startWithoutBackgroundWork(EngineDatabase database) {
        this.database = database;
        Windlass windlass = windlass(OPTIONS);
        outbox = windlass.outbox();
        joins = windlass.joins();
    }

    final EngineDatabase database() {
        return database;
    }

    Outbox outbox(OutboxOptions options) {
        return windlass(options).outbox();
    }

    private Windlass windlass(OutboxOptions options) {
        return database()
                .start(database()
                        .windlass()
                        .options(database()
                                .options()
                                .withBackgroundWorkers(false)
                                .withNodeName("node-1"))
                        .outbox(options));
    }

    /** The routines beneath the public API. */
    OutboxStore store(Duration retention) {
        return new OutboxStore(
                database().routines(), OutboxOptions.defaults().withRetention(retention), "node-1", () -> true);
    }

    OutboxMessageIdentifier enqueue(String topic) {
        return outbox.enqueue(OutboxEntry.of(topic, "{}"));
    }

    List<OutboxMessageIdentifier> enqueue(String topic, int count) {
        return outbox.enqueueAll(IntStream.range(0, count)
                .mapToObj(i -> OutboxEntry.of(topic, "payload " + i))
                .toList());
    }

    List<OutboxWorkItemIdentifier> claim(OwnerToken owner, int count) {
        return ids(outbox.claim(owner, LEASE, count));
    }

    /** Writes a message and claims it. */
    OutboxWorkItemIdentifier claimed(OwnerToken owner) {
        OutboxMessageIdentifier id = enqueue("topic");
        List<OutboxWorkItemIdentifier> claimed = claim(owner, 100);
        if (!claimed.equals(List.of(workItem(id)))) {
            throw new IllegalStateException("expected to claim " + id + ", got " + claimed);
        }
        return claimed.get(0);
    }

    /** Writes a message that fails with this error. */
    OutboxMessageIdentifier failed(String topic, String error) {
        OutboxMessageIdentifier id = enqueue(topic);
        fail(error);
        return id;
    }

    /** Writes many messages, and fails them at the same moment. */
    List<OutboxMessageIdentifier> failed(String topic, int count) {
        List<OutboxMessageIdentifier> ids = enqueue(topic, count);
        fail("broken");
        database().update("update %s.outbox set ended_at = '2025-01-01T00:00:00Z' where topic = ?", topic);
        return ids;
    }

    /** Fails all that is ready. */
    void fail(String error) {
        OwnerToken owner = OwnerToken.fresh();
        outbox.fail(owner, claim(owner, 10_000), error);
    }

    static List<OutboxWorkItemIdentifier> ids(Collection<OutboxMessage> messages) {
        return messages.stream().map(OutboxMessage::id).toList();
    }

    static OutboxWorkItemIdentifier workItem(OutboxMessageIdentifier id) {
        return new OutboxWorkItemIdentifier(id.value());
    }

    static List<OutboxWorkItemIdentifier> workItems(Collection<OutboxMessageIdentifier> ids) {
        return ids.stream().map(OutboxConformance::workItem).toList();
    }

    OutboxMessage stored(OutboxWorkItemIdentifier id) {
        return outbox.find(new OutboxMessageIdentifier(id.value())).orElseThrow();
    }

    <T> T column(Class<T> type, String column, OutboxWorkItemIdentifier id) {
        return database().value(type, "select " + column + " from %s.outbox where id = ?", id.value());
    }

    @Nullable
    Instant time(String column, OutboxWorkItemIdentifier id) {
        return column(Instant.class, column, id);
    }

    long count(String where, Object... arguments) {
        return database().value(Long.class, "select count(*) from %s.outbox where " + where, arguments);
    }

    /** As if the owner had been silent for the whole lease. */
    void runOutLease(Collection<OutboxWorkItemIdentifier> ids) {
        ids.forEach(id -> database().update("update %s.outbox set locked_until = created_at where id = ?", id.value()));
    }

    /** As if the pause before the next attempt were over. */
    void endPause(OutboxWorkItemIdentifier id) {
        database().update("update %s.outbox set next_attempt_at = created_at where id = ?", id.value());
    }

    /** A join with these members. */
    UUID join(Collection<OutboxWorkItemIdentifier> members) {
        JoinIdentifier join = joins.start(JoinEntry.of(members.size()));
        outbox.attach(
                join,
                members.stream()
                        .map(member -> new OutboxMessageIdentifier(member.value()))
                        .toList());
        return join.value();
    }

    int steps(String column, UUID join) {
        return database().value(Integer.class, "select " + column + " from %s.windlass_join where id = ?", join);
    }
}
