package dev.windlass.inbox;

import dev.windlass.FailedHead;
import dev.windlass.OwnerToken;
import dev.windlass.runtime.Announcer;
import dev.windlass.runtime.Claimed;
import dev.windlass.runtime.Completion;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Dispatcher;
import dev.windlass.runtime.ErrorText;
import dev.windlass.runtime.Require;
import dev.windlass.runtime.TimeOrderedIds;
import dev.windlass.runtime.WorkStore.Ending;
import dev.windlass.runtime.WorkStore.Failure;
import dev.windlass.runtime.WorkStore.Held;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The inbox as a queue: checks arguments, calls the store, and wakes whoever waits for the work. */
final class Queue {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final int REAP_BATCH = 500;

    private final Database database;
    private final InboxStore store;
    private final Dispatcher<Delivery> dispatcher;
    private final Announcer announcer;
    private final Duration lease;
    private final ContentChanges contentChanges;
    private final TimeOrderedIds ids = new TimeOrderedIds();

    Queue(
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
        this.lease = lease;
        this.contentChanges = contentChanges;
    }

    List<Enqueued> enqueue(Collection<InboxEntry> entries) {
        List<InboxEntry> all = List.copyOf(Require.elements("inbox entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        boolean announce = !(all.size() == 1 && dispatcher.hasPlace(all.get(0).topic())) && announcer.announce();
        List<UUID> made = newIds(all.size());
        List<Enqueued> answers =
                database.retrying(what(all), connection -> store.enqueue(connection, made, all, announce));
        tell(all, answers);
        topics(all).forEach(dispatcher::committed);
        return answers;
    }

    List<Enqueued> enqueue(Connection connection, Collection<InboxEntry> entries) {
        Require.present("connection", connection);
        List<InboxEntry> all = List.copyOf(Require.elements("inbox entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        try {
            boolean announce = announcer.announce();
            List<Enqueued> answers = store.enqueue(connection, newIds(all.size()), all, announce);
            tell(all, answers);
            for (String topic : topics(all).toList()) {
                signal(connection, topic, announce);
            }
            return answers;
        } catch (SQLException e) {
            throw database.failure(what(all), e);
        }
    }

    private List<UUID> newIds(int count) {
        return Stream.generate(ids::next).limit(count).toList();
    }

    private static String what(List<InboxEntry> entries) {
        return entries.size() == 1
                ? "enqueue message " + entries.get(0).key()
                : "enqueue " + entries.size() + " messages";
    }

    private void tell(List<InboxEntry> entries, List<Enqueued> answers) {
        log.debug("[{}] enqueued {} messages", database.name(), entries.size());
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

    /** Not repeated: what a lost answer spoke of would stay claimed, and the caller would not know. */
    List<InboxMessage> claim(OwnerToken owner, Duration lease, int batchSize) {
        Require.present("owner token", owner);
        Require.positive("lease", lease);
        Require.positive("batch size", batchSize);
        try {
            return database.once(connection -> store.claimAny(connection, owner.value(), lease, batchSize)).stream()
                    .map(Claimed::readable)
                    .map(Delivery::message)
                    .toList();
        } catch (SQLException e) {
            throw database.failure("claim", e);
        }
    }

    int ack(OwnerToken owner, Collection<InboxWorkItemIdentifier> ids) {
        return complete("ack", owner, ids, held -> held, Held::id, store::ack);
    }

    int ack(Connection connection, OwnerToken owner, Collection<InboxWorkItemIdentifier> ids) {
        Require.present("connection", connection);
        List<Held> held = held(owner, ids);
        try {
            return store.ackWithWork(connection, held);
        } catch (SQLException e) {
            throw database.failure("ack " + held.size() + " messages", e);
        }
    }

    int abandon(OwnerToken owner, Collection<InboxWorkItemIdentifier> ids) {
        return complete("abandon", owner, ids, held -> new Failure(held, null, null), Failure::id, store::abandon);
    }

    int abandon(OwnerToken owner, Collection<InboxWorkItemIdentifier> ids, Duration delay, String error) {
        Require.notNegative("delay", delay);
        String text = ErrorText.bounded(Require.storable("error text", error));
        return complete("abandon", owner, ids, held -> new Failure(held, delay, text), Failure::id, store::abandon);
    }

    int release(OwnerToken owner, Collection<InboxWorkItemIdentifier> ids) {
        return complete("release", owner, ids, held -> held, Held::id, store::release);
    }

    int fail(OwnerToken owner, Collection<InboxWorkItemIdentifier> ids, String error) {
        String text = ErrorText.bounded(Require.storable("error text", error));
        return complete(
                "fail", owner, ids, held -> new Ending(held, text, FailedHead.IS_SKIPPED), Ending::id, store::fail);
    }

    int heartbeat(OwnerToken owner, Collection<InboxWorkItemIdentifier> ids, Duration lease) {
        Require.positive("lease", lease);
        return complete(
                "renew",
                owner,
                ids,
                held -> held,
                Held::id,
                (connection, held) -> store.heartbeat(connection, held, lease));
    }

    private <T> int complete(
            String what,
            OwnerToken owner,
            Collection<InboxWorkItemIdentifier> ids,
            Function<Held, T> item,
            Function<T, UUID> id,
            Completion.Verb<T> verb) {
        List<T> items = held(owner, ids).stream().map(item).toList();
        return Completion.of(database, what, items, id, verb);
    }

    private static List<Held> held(OwnerToken owner, Collection<InboxWorkItemIdentifier> ids) {
        Require.present("owner token", owner);
        return Require.elements("work item identifiers", ids).stream()
                .distinct()
                .map(id -> new Held(id.value(), owner.value(), false))
                .toList();
    }

    int reapExpired() {
        int reaped = 0;
        int changed;
        do {
            changed = database.retrying("reap", connection -> store.reap(connection, lease, REAP_BATCH, false));
            reaped += changed;
        } while (changed == REAP_BATCH);
        if (reaped > 0) {
            log.info("[{}] returned {} messages to ready whose lease had run out", database.name(), reaped);
            dispatcher.committed();
        }
        return reaped;
    }
}
