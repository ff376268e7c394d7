package dev.windlass.internal.outbox;

import dev.windlass.base.OwnerToken;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.Topic;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.queue.ForwardedClaims;
import dev.windlass.internal.queue.OwnWork;
import dev.windlass.internal.queue.WorkStore;
import dev.windlass.internal.support.Require;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.operator.FailedAttempt;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** The outbox in the database: checks arguments, calls the store, and wakes whoever waits for the work. */
final class StoredOutbox extends ForwardedClaims<OutboxMessage, OutboxWorkItemIdentifier> implements Outbox {
    private final Database database;
    private final OutboxStore store;
    private final Dispatcher<OutboxMessage> dispatcher;
    private final Enqueuing enqueuing;
    private final PayloadCodec codec;
    private final OwnWork<OutboxMessage, OutboxWorkItemIdentifier> own;
    private final Function<String, OutboxOperator> operators;

    StoredOutbox(
            Database database,
            OutboxStore store,
            Dispatcher<OutboxMessage> dispatcher,
            Enqueuing enqueuing,
            PayloadCodec codec,
            OwnWork<OutboxMessage, OutboxWorkItemIdentifier> own,
            Function<String, OutboxOperator> operators) {
        super(own);
        this.own = own;
        this.operators = operators;
        this.database = database;
        this.store = store;
        this.dispatcher = dispatcher;
        this.enqueuing = enqueuing;
        this.codec = codec;
    }

    @Override
    public OutboxMessageIdentifier enqueue(OutboxEntry entry) {
        return enqueuing.enqueue(entry);
    }

    @Override
    public OutboxMessageIdentifier enqueue(Connection connection, OutboxEntry entry) {
        return enqueuing.enqueue(connection, entry);
    }

    @Override
    public List<OutboxMessageIdentifier> enqueueAll(Collection<OutboxEntry> entries) {
        return enqueuing.enqueueAll(entries);
    }

    @Override
    public List<OutboxMessageIdentifier> enqueueAll(Connection connection, Collection<OutboxEntry> entries) {
        return enqueuing.enqueueAll(connection, entries);
    }

    @Override
    public JoinIdentifier fanOut(JoinEntry join, Collection<OutboxEntry> steps) {
        return enqueuing.fanOut(join, steps);
    }

    @Override
    public JoinIdentifier fanOut(Connection connection, JoinEntry join, Collection<OutboxEntry> steps) {
        return enqueuing.fanOut(connection, join, steps);
    }

    @Override
    public int attach(JoinIdentifier join, Collection<OutboxMessageIdentifier> messages) {
        Require.present("join identifier", join);
        List<UUID> members = values(messages);
        int attached = database.retrying(
                "attach " + members.size() + " messages to join " + join,
                connection -> store.attach(connection, join, members));
        dispatcher.committed();
        return attached;
    }

    @Override
    public int attach(Connection connection, JoinIdentifier join, Collection<OutboxMessageIdentifier> messages) {
        Require.present("join identifier", join);
        List<UUID> members = values(messages);
        return database.within(
                connection,
                "attach " + members.size() + " messages to join " + join,
                callers -> store.attach(callers, join, members));
    }

    private static List<UUID> values(Collection<OutboxMessageIdentifier> messages) {
        return Require.elements("message identifiers", messages).stream()
                .map(OutboxMessageIdentifier::value)
                .distinct()
                .toList();
    }

    @Override
    public <T> OutboxMessageIdentifier enqueue(Topic<T> topic, T payload) {
        return enqueue(entry(topic, payload));
    }

    @Override
    public <T> OutboxMessageIdentifier enqueue(Connection connection, Topic<T> topic, T payload) {
        return enqueue(connection, entry(topic, payload));
    }

    @Override
    public <T> OutboxEntry entry(Topic<T> topic, T payload) {
        return entry(Require.present("topic", topic).name(), payload);
    }

    @Override
    public OutboxEntry entry(String topic, Object payload) {
        return OutboxEntry.of(topic, codec.encode(Require.present("payload", payload)));
    }

    @Override
    public Optional<OutboxMessage> find(OutboxMessageIdentifier id) {
        Require.present("message identifier", id);
        return database.retrying("read message " + id.value(), connection -> store.find(connection, id.value()));
    }

    @Override
    public List<FailedAttempt> failures(OutboxMessageIdentifier id) {
        Require.present("message identifier", id);
        return database.retrying(
                "read the failures of " + id.value(), connection -> store.failures(connection, id.value()));
    }

    @Override
    public boolean cancel(OutboxMessageIdentifier id) {
        Require.present("message identifier", id);
        boolean[] tried = {false};
        return changed(database.retrying("cancel message " + id.value(), connection -> {
            boolean again = tried[0];
            tried[0] = true;
            return cancelled(connection, id) || (again && isCancelled(connection, id.value()));
        }));
    }

    private boolean cancelled(Connection connection, OutboxMessageIdentifier id) throws SQLException {
        letGo(connection, id);
        return store.cancel(connection, id.value());
    }

    private boolean rescheduled(Connection connection, OutboxMessageIdentifier id, Instant dueTime)
            throws SQLException {
        letGo(connection, id);
        return store.reschedule(connection, id.value(), dueTime, null, true);
    }

    /** What this very transaction has written, this node may have kept; until the commit that is nobody's business. */
    private void letGo(Connection connection, OutboxMessageIdentifier id) throws SQLException {
        UUID keeper = dispatcher.keeperOf(id.value());
        if (keeper != null) {
            var unused = store.release(connection, List.of(new WorkStore.Held(id.value(), keeper, false)));
        }
    }

    /** By an earlier try, perhaps, whose answer was lost. */
    private boolean isCancelled(Connection connection, UUID id) throws SQLException {
        return store.find(connection, id)
                .filter(message -> message.status() == WorkStatus.CANCELLED)
                .isPresent();
    }

    @Override
    public boolean cancel(Connection connection, OutboxMessageIdentifier id) {
        Require.present("message identifier", id);
        return database.within(connection, "cancel message " + id.value(), callers -> cancelled(callers, id));
    }

    @Override
    public boolean reschedule(OutboxMessageIdentifier id, Instant dueTime) {
        Require.present("message identifier", id);
        Require.instant("due time", dueTime);
        return changed(database.retrying(
                "reschedule message " + id.value(), connection -> rescheduled(connection, id, dueTime)));
    }

    @Override
    public boolean reschedule(Connection connection, OutboxMessageIdentifier id, Instant dueTime) {
        Require.present("message identifier", id);
        Require.instant("due time", dueTime);
        return database.within(
                connection, "reschedule message " + id.value(), callers -> rescheduled(callers, id, dueTime));
    }

    /** Its successor under a key, or it itself, may be due now. */
    private boolean changed(boolean changed) {
        if (changed) {
            dispatcher.committed();
        }
        return changed;
    }

    @Override
    public OutboxOperator operator(String name) {
        return operators.apply(Require.text("name of the operator", name, 255));
    }

    @Override
    public int fail(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids, String error, FailedHead head) {
        Require.present("choice for failed heads", head);
        return own.fail(owner, ids, error, (connection, endings) -> store.fail(connection, endings, head));
    }

    @Override
    public int reapExpired() {
        int reaped = super.reapExpired();
        changed(reaped > 0);
        return reaped;
    }
}
