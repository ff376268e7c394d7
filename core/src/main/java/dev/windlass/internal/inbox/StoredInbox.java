package dev.windlass.internal.inbox;

import dev.windlass.base.OwnerToken;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.Topic;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.Enqueued;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxOperator;
import dev.windlass.inbox.InboxWork;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.inbox.Processed;
import dev.windlass.inbox.SeenMessage;
import dev.windlass.internal.queue.ForwardedClaims;
import dev.windlass.internal.support.Require;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.operator.FailedAttempt;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The inbox in the database: a guard and a queue that share what has been seen. */
final class StoredInbox extends ForwardedClaims<InboxMessage, InboxWorkItemIdentifier> implements Inbox {
    private final PayloadCodec codec;
    private final Guard guard;
    private final InboxQueue queue;
    private final Function<String, InboxOperator> operators;

    StoredInbox(PayloadCodec codec, Guard guard, InboxQueue queue, Function<String, InboxOperator> operators) {
        super(queue.claims());
        this.codec = codec;
        this.guard = guard;
        this.queue = queue;
        this.operators = operators;
    }

    @Override
    public <T> InboxEntry entry(String source, String messageId, Topic<T> topic, T payload) {
        String text = codec.encode(Require.present("payload", payload));
        return InboxEntry.of(source, messageId, Require.present("topic", topic).name(), text);
    }

    @Override
    public Processed process(String source, String messageId, InboxWork work) throws Exception {
        return guard.process(new InboxKey(source, messageId), null, Require.present("piece of work", work));
    }

    @Override
    public Processed process(String source, String messageId, ContentHash hash, InboxWork work) throws Exception {
        Require.present("piece of work", work);
        return guard.process(new InboxKey(source, messageId), Require.present("hash", hash), work);
    }

    @Override
    public Begin begin(String source, String messageId) {
        return guard.begin(new InboxKey(source, messageId), null);
    }

    @Override
    public Begin begin(String source, String messageId, ContentHash hash) {
        return guard.begin(new InboxKey(source, messageId), Require.present("hash", hash));
    }

    @Override
    public void markProcessing(InboxAttempt attempt) {
        guard.markProcessing(attempt);
    }

    @Override
    public void markProcessed(InboxAttempt attempt) {
        guard.markProcessed(attempt);
    }

    @Override
    public void markProcessed(Connection connection, InboxAttempt attempt) {
        guard.markProcessed(connection, attempt);
    }

    @Override
    public void markDead(InboxAttempt attempt, String reason) {
        guard.markDead(attempt, reason);
    }

    @Override
    public boolean abandon(InboxAttempt attempt, String error, Duration delay) {
        return guard.abandon(attempt, error, delay);
    }

    @Override
    public boolean alreadyProcessed(String source, String messageId) {
        return guard.alreadyProcessed(new InboxKey(source, messageId), null);
    }

    @Override
    public boolean alreadyProcessed(String source, String messageId, ContentHash hash) {
        return guard.alreadyProcessed(new InboxKey(source, messageId), Require.present("hash", hash));
    }

    @Override
    public void markProcessing(String source, String messageId) {
        guard.markProcessing(mine(source, messageId));
    }

    @Override
    public void markProcessed(String source, String messageId) {
        guard.markProcessed(mine(source, messageId));
    }

    @Override
    public void markProcessed(Connection connection, String source, String messageId) {
        guard.markProcessed(connection, mine(source, messageId));
    }

    @Override
    public void markDead(String source, String messageId, String reason) {
        guard.markDead(mine(source, messageId), reason);
    }

    @Override
    public boolean abandon(String source, String messageId, String error, Duration delay) {
        return guard.abandon(mine(source, messageId), error, delay);
    }

    private InboxAttempt mine(String source, String messageId) {
        return guard.mine(new InboxKey(source, messageId));
    }

    @Override
    public Optional<SeenMessage> find(String source, String messageId) {
        return guard.find(new InboxKey(source, messageId));
    }

    @Override
    public InboxOperator operator(String name) {
        return operators.apply(Require.text("name of the operator", name, 255));
    }

    @Override
    public List<FailedAttempt> failures(String source, String messageId) {
        return queue.failures(new InboxKey(source, messageId));
    }

    @Override
    public boolean cancel(String source, String messageId) {
        return queue.cancel(new InboxKey(source, messageId));
    }

    @Override
    public boolean cancel(Connection connection, String source, String messageId) {
        return queue.cancel(connection, new InboxKey(source, messageId));
    }

    @Override
    public boolean reschedule(String source, String messageId, Instant dueTime) {
        return queue.reschedule(new InboxKey(source, messageId), dueTime);
    }

    @Override
    public boolean reschedule(Connection connection, String source, String messageId, Instant dueTime) {
        return queue.reschedule(connection, new InboxKey(source, messageId), dueTime);
    }

    @Override
    public boolean attach(JoinIdentifier join, String source, String messageId) {
        return queue.attach(join, new InboxKey(source, messageId));
    }

    @Override
    public boolean attach(Connection connection, JoinIdentifier join, String source, String messageId) {
        return queue.attach(connection, join, new InboxKey(source, messageId));
    }

    @Override
    public Enqueued enqueue(InboxEntry entry) {
        return queue.enqueue(List.of(Require.present("inbox entry", entry))).get(0);
    }

    @Override
    public Enqueued enqueue(Connection connection, InboxEntry entry) {
        return queue.enqueue(connection, List.of(Require.present("inbox entry", entry)))
                .get(0);
    }

    @Override
    public List<Enqueued> enqueueAll(Collection<InboxEntry> entries) {
        return queue.enqueue(entries);
    }

    @Override
    public List<Enqueued> enqueueAll(Connection connection, Collection<InboxEntry> entries) {
        return queue.enqueue(connection, entries);
    }

    @Override
    public int ack(Connection connection, OwnerToken owner, Collection<InboxWorkItemIdentifier> ids) {
        return queue.ack(connection, owner, ids);
    }

    @Override
    public int reapExpired() {
        int reaped = super.reapExpired();
        queue.reaped(reaped);
        return reaped;
    }
}
