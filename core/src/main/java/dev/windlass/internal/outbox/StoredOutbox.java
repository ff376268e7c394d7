package dev.windlass.internal.outbox;

import dev.windlass.base.OwnerToken;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.Topic;
import dev.windlass.base.TransactionEnd;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.dispatch.FirstHand;
import dev.windlass.internal.loop.Announcer;
import dev.windlass.internal.queue.ForwardedClaims;
import dev.windlass.internal.queue.OwnWork;
import dev.windlass.internal.queue.WorkStore;
import dev.windlass.internal.support.Require;
import dev.windlass.internal.support.TimeOrderedIds;
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
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The outbox in the database: checks arguments, calls the store, and wakes whoever waits for the work. */
final class StoredOutbox extends ForwardedClaims<OutboxMessage, OutboxWorkItemIdentifier> implements Outbox {
    private final Database database;
    private final OutboxStore store;
    private final Dispatcher<OutboxMessage> dispatcher;
    private final Announcer announcer;
    private final PayloadCodec codec;
    private final OwnWork<OutboxMessage, OutboxWorkItemIdentifier> own;
    private final Function<String, OutboxOperator> operators;
    private final TimeOrderedIds ids = new TimeOrderedIds();
    private final EnqueueLog enqueueLog;

    StoredOutbox(
            Database database,
            OutboxStore store,
            Dispatcher<OutboxMessage> dispatcher,
            Announcer announcer,
            PayloadCodec codec,
            OwnWork<OutboxMessage, OutboxWorkItemIdentifier> own,
            Function<String, OutboxOperator> operators) {
        super(own);
        this.own = own;
        this.operators = operators;
        this.database = database;
        this.enqueueLog = new EnqueueLog(database);
        this.store = store;
        this.dispatcher = dispatcher;
        this.announcer = announcer;
        this.codec = codec;
    }

    @Override
    public OutboxMessageIdentifier enqueue(OutboxEntry entry) {
        Require.present("outbox entry", entry);
        Write write = new Write(ids.next(), entry);
        try {
            return onceOnly(
                    what(entry),
                    write.id,
                    write::run,
                    connection -> write.id,
                    write::committed,
                    connection -> enqueue(connection, entry));
        } catch (Throwable e) {
            write.failed();
            throw e;
        }
    }

    /** One message in a transaction of its own, which may take more than one try. */
    private final class Write {
        final UUID id;
        private final OutboxEntry entry;
        private FirstHand<OutboxMessage>.@Nullable Place place;
        private boolean unsure;

        Write(UUID id, OutboxEntry entry) {
            this.id = id;
            this.entry = entry;
        }

        UUID run(Connection connection) throws SQLException {
            boolean wasUnsure = unsure;
            if (place == null && !wasUnsure) {
                place = keep(id, entry);
            }
            unsure = true;
            try {
                return write(connection);
            } catch (SQLException e) {
                unsure = wasUnsure || !database.isRefusal(e);
                if (unsure || place == null) {
                    throw e;
                }
                FirstHand<OutboxMessage>.Place refused = place;
                refused.ended(TransactionEnd.ROLLED_BACK);
                place = null;
                unsure = true;
                UUID stands = write(connection);
                refused.refused(); // it was refused because it was kept
                return stands;
            }
        }

        private UUID write(Connection connection) throws SQLException {
            boolean announce = place == null && !dispatcher.hasPlace(entry.topic()) && announcer.announce();
            return store.enqueue(connection, id, entry, announce, place);
        }

        OutboxMessageIdentifier committed(UUID stands) {
            enqueueLog.enqueued(entry, id, stands);
            if (place == null) {
                dispatcher.committed(entry.topic());
            } else {
                place.ended(TransactionEnd.COMMITTED);
            }
            return new OutboxMessageIdentifier(stands);
        }

        void failed() {
            if (place != null) {
                place.ended(unsure ? TransactionEnd.UNKNOWN : TransactionEnd.ROLLED_BACK);
            }
        }
    }

    /** A place for a message that need not wait for anything. */
    private FirstHand<OutboxMessage>.@Nullable Place keep(UUID id, OutboxEntry entry) {
        boolean plain = entry.dueTime() == null
                && entry.delay() == null
                && entry.expiresAt() == null
                && entry.orderingKey() == null
                && entry.deduplication() == null;
        return plain ? dispatcher.keep(entry.topic(), id, entry.payload().length()) : null;
    }

    private static String what(OutboxEntry entry) {
        return "enqueue a message of topic " + entry.topic();
    }

    @Override
    public OutboxMessageIdentifier enqueue(Connection connection, OutboxEntry entry) {
        Require.present("outbox entry", entry);
        return database.hearing(connection, what(entry), callers -> {
            UUID id = ids.next();
            FirstHand<OutboxMessage>.Place place = keepIn(callers, id, entry);
            boolean announce = place == null && announcer.announce();
            UUID stands = write(callers, id, entry, announce, place);
            enqueueLog.enqueued(entry, id, stands);
            if (place == null) {
                database.use();
                signal(callers, entry.topic(), announce);
            }
            return new OutboxMessageIdentifier(stands);
        });
    }

    /** A place for a message in a transaction whose end is heard here. */
    private FirstHand<OutboxMessage>.@Nullable Place keepIn(Connection connection, UUID id, OutboxEntry entry)
            throws SQLException {
        FirstHand<OutboxMessage>.Place place = keep(id, entry);
        if (place == null) {
            return null;
        }
        boolean heard = false;
        try {
            heard = database.whenEnded(connection, place::ended);
        } finally {
            if (!heard) {
                place.ended(TransactionEnd.ROLLED_BACK);
            }
        }
        return heard ? place : null;
    }

    /** If the database refuses to have it kept, that transaction is over; the next ones are written as any other. */
    private UUID write(
            Connection connection,
            UUID id,
            OutboxEntry entry,
            boolean announce,
            FirstHand<OutboxMessage>.@Nullable Place place)
            throws SQLException {
        try {
            return store.enqueue(connection, id, entry, announce, place);
        } catch (SQLException e) {
            if (place != null && database.isRefusal(e)) {
                place.refused();
            }
            throw e;
        }
    }

    @Override
    public List<OutboxMessageIdentifier> enqueueAll(Collection<OutboxEntry> entries) {
        List<OutboxEntry> all = List.copyOf(Require.elements("outbox entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        List<UUID> made = newIds(all.size());
        int plain = firstPlain(all);
        return onceOnly(
                what(all),
                plain < 0 ? null : made.get(plain),
                connection -> store.enqueueAll(connection, made, all, announcer.announce()),
                connection -> recall(connection, made, all),
                stand -> committed(all, made, stand),
                connection -> enqueueAll(connection, all));
    }

    private static String what(List<OutboxEntry> entries) {
        return "enqueue " + entries.size() + " messages";
    }

    private List<OutboxMessageIdentifier> committed(List<OutboxEntry> entries, List<UUID> made, List<UUID> stand) {
        enqueueLog.enqueued(entries, made, stand);
        topics(entries).forEach(dispatcher::committed);
        return identifiers(stand);
    }

    private static List<OutboxMessageIdentifier> identifiers(List<UUID> ids) {
        return ids.stream().map(OutboxMessageIdentifier::new).toList();
    }

    @Override
    public List<OutboxMessageIdentifier> enqueueAll(Connection connection, Collection<OutboxEntry> entries) {
        Require.present("connection", connection);
        List<OutboxEntry> all = List.copyOf(Require.elements("outbox entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        return database.within(connection, what(all), callers -> {
            boolean announce = announcer.announce();
            List<UUID> made = newIds(all.size());
            List<UUID> stand = store.enqueueAll(callers, made, all, announce);
            enqueueLog.enqueued(all, made, stand);
            for (String topic : topics(all).toList()) {
                signal(callers, topic, announce);
            }
            return identifiers(stand);
        });
    }

    @Override
    public JoinIdentifier fanOut(JoinEntry join, Collection<OutboxEntry> steps) {
        FanOut made = fanOutOf(join, steps);
        return database.adding(
                made.what(),
                connection -> fanOut(connection, made, announcer.announce()),
                stand -> {
                    topics(made.steps()).forEach(dispatcher::committed);
                    return made.id();
                },
                connection -> fanOut(connection, made));
    }

    @Override
    public JoinIdentifier fanOut(Connection connection, JoinEntry join, Collection<OutboxEntry> steps) {
        Require.present("connection", connection);
        return fanOut(connection, fanOutOf(join, steps));
    }

    private JoinIdentifier fanOut(Connection connection, FanOut made) {
        return database.within(connection, made.what(), callers -> {
            boolean announce = announcer.announce();
            fanOut(callers, made, announce);
            for (String topic : topics(made.steps()).toList()) {
                signal(callers, topic, announce);
            }
            return made.id();
        });
    }

    private List<UUID> fanOut(Connection connection, FanOut made, boolean announce) throws SQLException {
        List<UUID> stand =
                store.fanOut(connection, made.id(), made.followUpId(), made.join(), made.ids(), made.steps(), announce);
        if (!stand.isEmpty()) {
            enqueueLog.enqueued(made.steps(), made.ids(), stand);
        }
        return stand;
    }

    /** A join to be started and its steps, with the ids that they keep when the call is repeated. */
    private record FanOut(JoinIdentifier id, UUID followUpId, JoinEntry join, List<UUID> ids, List<OutboxEntry> steps) {
        String what() {
            return "fan out to " + steps.size() + " messages";
        }
    }

    private FanOut fanOutOf(JoinEntry join, Collection<OutboxEntry> steps) {
        Require.present("join entry", join);
        List<OutboxEntry> members = List.copyOf(Require.elements("steps", steps));
        if (members.size() > join.expectedSteps()) {
            throw new IllegalArgumentException("expected at most the " + join.expectedSteps()
                    + " steps of the join, got " + members.size() + "; let it expect as many");
        }
        members.stream()
                .map(OutboxEntry::join)
                .filter(Objects::nonNull)
                .findFirst()
                .ifPresent(other -> {
                    throw new IllegalArgumentException("expected steps that are of no join yet, got one of join "
                            + other + "; attach it to the other one afterwards");
                });
        return new FanOut(new JoinIdentifier(ids.next()), ids.next(), join, newIds(members.size()), members);
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

    /** Where the first entry without a deduplication key is; those with one are not written twice in any case. */
    private static int firstPlain(List<OutboxEntry> entries) {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).deduplication() == null) {
                return i;
            }
        }
        return -1;
    }

    /** The ids that stand, of entries that have all been written: under a deduplication key it may be another. */
    private List<UUID> recall(Connection connection, List<UUID> made, List<OutboxEntry> entries) throws SQLException {
        List<UUID> stand = new ArrayList<>(made);
        for (int i = 0; i < made.size(); i++) {
            if (entries.get(i).deduplication() != null) {
                stand.set(i, store.enqueue(connection, made.get(i), entries.get(i), false));
            }
        }
        return stand;
    }

    private List<UUID> newIds(int count) {
        return Stream.generate(ids::next).limit(count).toList();
    }

    private static Stream<String> topics(List<OutboxEntry> entries) {
        return entries.stream().map(OutboxEntry::topic).distinct();
    }

    /**
     * A try whose answer was lost may have been committed; the id tells, if there is one. Then {@code recall} finds out what
     * the answer was. In a transaction that this thread is in, {@code joined} does all of it.
     */
    private <T, R> R onceOnly(
            String what,
            @Nullable UUID id,
            Database.Work<T> write,
            Database.Work<T> recall,
            Function<T, R> committed,
            Database.Work<R> joined) {
        boolean[] tried = {false};
        return database.adding(
                what,
                connection -> {
                    boolean again = id != null && tried[0] && store.exists(connection, id);
                    tried[0] = true;
                    return again ? recall.run(connection) : write.run(connection);
                },
                committed,
                joined);
    }

    private void signal(Connection connection, String topic, boolean announced) throws SQLException {
        if (connection.getAutoCommit()) {
            dispatcher.committed(topic);
        } else {
            dispatcher.written(topic, announced);
        }
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
