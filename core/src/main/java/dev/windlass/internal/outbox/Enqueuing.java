package dev.windlass.internal.outbox;

import dev.windlass.base.TransactionEnd;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.dispatch.FirstHand;
import dev.windlass.internal.loop.Announcer;
import dev.windlass.internal.support.Require;
import dev.windlass.internal.support.TimeOrderedIds;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What producers write: each message once, also if a call is repeated since its answer was lost, and kept by this node where it has a place
 * for it ({@link FirstHand}).
 */
final class Enqueuing {
    private final Database database;
    private final OutboxStore store;
    private final Dispatcher<OutboxMessage> dispatcher;
    private final Announcer announcer;
    private final TimeOrderedIds ids = new TimeOrderedIds();
    private final EnqueueLog enqueueLog;

    Enqueuing(Database database, OutboxStore store, Dispatcher<OutboxMessage> dispatcher, Announcer announcer) {
        this.database = database;
        this.store = store;
        this.dispatcher = dispatcher;
        this.announcer = announcer;
        this.enqueueLog = new EnqueueLog(database);
    }

    OutboxMessageIdentifier enqueue(OutboxEntry entry) {
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

    OutboxMessageIdentifier enqueue(Connection connection, OutboxEntry entry) {
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

    List<OutboxMessageIdentifier> enqueueAll(Collection<OutboxEntry> entries) {
        List<OutboxEntry> all = List.copyOf(Require.elements("outbox entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        List<UUID> made = ids.next(all.size());
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

    List<OutboxMessageIdentifier> enqueueAll(Connection connection, Collection<OutboxEntry> entries) {
        Require.present("connection", connection);
        List<OutboxEntry> all = List.copyOf(Require.elements("outbox entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        return database.within(connection, what(all), callers -> {
            boolean announce = announcer.announce();
            List<UUID> made = ids.next(all.size());
            List<UUID> stand = store.enqueueAll(callers, made, all, announce);
            enqueueLog.enqueued(all, made, stand);
            for (String topic : topics(all).toList()) {
                signal(callers, topic, announce);
            }
            return identifiers(stand);
        });
    }

    JoinIdentifier fanOut(JoinEntry join, Collection<OutboxEntry> steps) {
        FanOut made = FanOut.of(join, steps, ids);
        return database.adding(
                made.what(),
                connection -> fanOut(connection, made, announcer.announce()),
                stand -> {
                    topics(made.steps()).forEach(dispatcher::committed);
                    return made.id();
                },
                connection -> fanOut(connection, made));
    }

    JoinIdentifier fanOut(Connection connection, JoinEntry join, Collection<OutboxEntry> steps) {
        Require.present("connection", connection);
        return fanOut(connection, FanOut.of(join, steps, ids));
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
}
