package dev.windlass.internal.inbox;

import dev.windlass.base.Claims;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.QueueKind;
import dev.windlass.inbox.Enqueued;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.loop.Announcer;
import dev.windlass.internal.queue.OwnWork;
import dev.windlass.internal.queue.WorkStore.Held;
import dev.windlass.internal.queue.Written;
import dev.windlass.internal.support.Require;
import dev.windlass.internal.support.TimeOrderedIds;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.operator.FailedAttempt;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The inbox as a queue: checks arguments, calls the store, and wakes whoever waits for the work. */
final class InboxQueue {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final Database database;
    private final InboxStore store;
    private final Dispatcher<Delivery> dispatcher;
    private final Announcer announcer;
    private final OwnWork<InboxMessage, InboxWorkItemIdentifier> own;
    private final ContentChanges contentChanges;
    private final TimeOrderedIds ids = new TimeOrderedIds();

    InboxQueue(
            Database database,
            InboxStore store,
            Dispatcher<Delivery> dispatcher,
            Announcer announcer,
            Duration lease,
            ContentChanges contentChanges) {
        this.database = database;
        this.store = store;
        this.dispatcher = dispatcher;
        this.announcer = announcer;
        own = new OwnWork<>(
                store,
                Delivery::message,
                new OwnWork.Kind<>("message", "work item identifiers", InboxWorkItemIdentifier::value, false),
                lease);
        this.contentChanges = contentChanges;
    }

    List<Enqueued> enqueue(Collection<InboxEntry> entries) {
        List<InboxEntry> all = List.copyOf(Require.elements("inbox entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        List<UUID> made = ids.next(all.size());
        return database.retrying(
                what(all),
                connection -> {
                    boolean hasPlace =
                            all.size() == 1 && dispatcher.hasPlace(all.get(0).topic());
                    return store.enqueue(connection, made, all, !hasPlace && announcer.announce());
                },
                answers -> committed(all, answers),
                connection -> enqueue(connection, all));
    }

    private List<Enqueued> committed(List<InboxEntry> entries, List<Enqueued> answers) {
        tell(entries, answers);
        topics(entries).forEach(dispatcher::committed);
        return answers;
    }

    List<Enqueued> enqueue(Connection connection, Collection<InboxEntry> entries) {
        Require.present("connection", connection);
        List<InboxEntry> all = List.copyOf(Require.elements("inbox entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        return database.within(connection, what(all), callers -> {
            boolean announce = announcer.announce();
            List<Enqueued> answers = store.enqueue(callers, ids.next(all.size()), all, announce);
            tell(all, answers);
            for (String topic : topics(all).toList()) {
                signal(callers, topic, announce);
            }
            return answers;
        });
    }

    private static String what(List<InboxEntry> entries) {
        return entries.size() == 1
                ? "enqueue message " + entries.get(0).key()
                : "enqueue " + entries.size() + " messages";
    }

    private void tell(List<InboxEntry> entries, List<Enqueued> answers) {
        log.debug("[{}] enqueued {} messages", database.name(), entries.size());
        Written.tell(database, QueueKind.INBOX, entries, InboxEntry::topic);
        for (int i = 0; i < entries.size(); i++) {
            if (answers.get(i).contentDiffers()) {
                contentChanges.report(entries.get(i).key());
            }
        }
    }

    private static Stream<String> topics(List<InboxEntry> entries) {
        return entries.stream().map(InboxEntry::topic).distinct();
    }

    private void signal(Connection connection, String topic, boolean announced) throws SQLException {
        if (connection.getAutoCommit()) {
            dispatcher.committed(topic);
        } else {
            dispatcher.written(topic, announced);
        }
    }

    List<FailedAttempt> failures(InboxKey key) {
        return database.retrying("read the failures of message " + key, connection -> {
            List<FailedAttempt> failures = new ArrayList<>();
            for (UUID id : store.ids(connection, key)) {
                failures.addAll(store.failures(connection, id));
            }
            return failures;
        });
    }

    /** What is done to each row of a message in the queue. */
    private interface Change {
        boolean of(Connection connection, UUID id) throws SQLException;
    }

    boolean cancel(InboxKey key) {
        boolean[] tried = {false};
        return change("cancel", key, (connection, id) -> {
            boolean again = tried[0];
            tried[0] = true;
            return store.cancel(connection, id) || (again && store.isCancelled(connection, id));
        });
    }

    boolean cancel(Connection connection, InboxKey key) {
        return change(connection, "cancel", key, store::cancel);
    }

    boolean reschedule(InboxKey key, Instant dueTime) {
        Require.instant("due time", dueTime);
        return change("reschedule", key, (connection, id) -> store.reschedule(connection, id, dueTime, null, true));
    }

    boolean reschedule(Connection connection, InboxKey key, Instant dueTime) {
        Require.instant("due time", dueTime);
        return change(
                connection, "reschedule", key, (callers, id) -> store.reschedule(callers, id, dueTime, null, true));
    }

    boolean attach(JoinIdentifier join, InboxKey key) {
        Require.present("join identifier", join);
        boolean attached = database.retrying(
                "attach message " + key + " to join " + join, connection -> store.attach(connection, join, key));
        dispatcher.committed();
        return attached;
    }

    boolean attach(Connection connection, JoinIdentifier join, InboxKey key) {
        Require.present("join identifier", join);
        return database.within(
                connection, "attach message " + key + " to join " + join, callers -> store.attach(callers, join, key));
    }

    private boolean change(String verb, InboxKey key, Change change) {
        boolean changed = database.retrying(verb + " message " + key, connection -> change(connection, key, change));
        if (changed) {
            dispatcher.committed();
        }
        return changed;
    }

    private boolean change(Connection connection, String verb, InboxKey key, Change change) {
        return database.within(connection, verb + " message " + key, callers -> change(callers, key, change));
    }

    private boolean change(Connection connection, InboxKey key, Change change) throws SQLException {
        boolean changed = false;
        for (UUID id : store.ids(connection, key)) {
            changed |= change.of(connection, id);
        }
        return changed;
    }

    Claims<InboxMessage, InboxWorkItemIdentifier> claims() {
        return own;
    }

    int ack(Connection connection, OwnerToken owner, Collection<InboxWorkItemIdentifier> ids) {
        List<Held> held = own.held(owner, ids);
        return database.within(
                connection, "ack " + held.size() + " messages", callers -> store.ackWithWork(callers, held));
    }

    void reaped(int count) {
        if (count > 0) {
            dispatcher.committed();
        }
    }
}
