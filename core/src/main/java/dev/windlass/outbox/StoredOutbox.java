package dev.windlass.outbox;

import dev.windlass.OwnerToken;
import dev.windlass.PayloadCodec;
import dev.windlass.runtime.Announcer;
import dev.windlass.runtime.Claimed;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Dispatcher;
import dev.windlass.runtime.ErrorText;
import dev.windlass.runtime.Require;
import dev.windlass.runtime.WorkStore.Failure;
import dev.windlass.runtime.WorkStore.Held;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The outbox in the database: checks arguments, calls the store, and wakes whoever waits for the work. */
final class StoredOutbox implements Outbox {
    private static final Logger log = LoggerFactory.getLogger(Outbox.class);
    private static final int REAP_BATCH = 500;

    private final Database database;
    private final OutboxStore store;
    private final Dispatcher<OutboxMessage> dispatcher;
    private final Announcer announcer;
    private final PayloadCodec codec;
    private final Duration lease;
    private final TimeOrderedIds ids = new TimeOrderedIds();

    StoredOutbox(
            Database database,
            OutboxStore store,
            Dispatcher<OutboxMessage> dispatcher,
            Announcer announcer,
            PayloadCodec codec,
            Duration lease) {
        this.database = database;
        this.store = store;
        this.dispatcher = dispatcher;
        this.announcer = announcer;
        this.codec = codec;
        this.lease = lease;
    }

    @Override
    public OutboxMessageIdentifier enqueue(OutboxEntry entry) {
        Require.present("outbox entry", entry);
        UUID id = ids.next();
        boolean announce = !dispatcher.hasPlace(entry.topic()) && announcer.announce();
        onceOnly("enqueue a message of topic " + entry.topic(), id, connection -> {
            store.enqueue(connection, id, entry, announce);
            return true;
        });
        logEnqueued(entry, id);
        dispatcher.committed(entry.topic());
        return new OutboxMessageIdentifier(id);
    }

    @Override
    public OutboxMessageIdentifier enqueue(Connection connection, OutboxEntry entry) {
        Require.present("connection", connection);
        Require.present("outbox entry", entry);
        UUID id = ids.next();
        try {
            boolean announce = announcer.announce();
            store.enqueue(connection, id, entry, announce);
            logEnqueued(entry, id);
            signal(connection, entry.topic(), announce);
        } catch (SQLException e) {
            throw database.failure("enqueue a message of topic " + entry.topic(), e);
        }
        return new OutboxMessageIdentifier(id);
    }

    @Override
    public List<OutboxMessageIdentifier> enqueueAll(Collection<OutboxEntry> entries) {
        List<OutboxEntry> all = List.copyOf(Require.elements("outbox entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        List<UUID> made = newIds(all.size());
        boolean announce = announcer.announce();
        onceOnly("enqueue " + all.size() + " messages", made.get(0), connection -> {
            store.enqueueAll(connection, made, all, announce);
            return true;
        });
        log.debug("[{}] enqueued {} messages", database.name(), all.size());
        topics(all).forEach(dispatcher::committed);
        return made.stream().map(OutboxMessageIdentifier::new).toList();
    }

    @Override
    public List<OutboxMessageIdentifier> enqueueAll(Connection connection, Collection<OutboxEntry> entries) {
        Require.present("connection", connection);
        List<OutboxEntry> all = List.copyOf(Require.elements("outbox entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        List<UUID> made = newIds(all.size());
        try {
            boolean announce = announcer.announce();
            store.enqueueAll(connection, made, all, announce);
            log.debug("[{}] enqueued {} messages", database.name(), all.size());
            for (String topic : topics(all).toList()) {
                signal(connection, topic, announce);
            }
        } catch (SQLException e) {
            throw database.failure("enqueue " + all.size() + " messages", e);
        }
        return made.stream().map(OutboxMessageIdentifier::new).toList();
    }

    private List<UUID> newIds(int count) {
        return Stream.generate(ids::next).limit(count).toList();
    }

    private static Stream<String> topics(List<OutboxEntry> entries) {
        return entries.stream().map(OutboxEntry::topic).distinct();
    }

    /** A try whose answer was lost may have been committed; the id tells. */
    private void onceOnly(String what, UUID id, Database.Work<Boolean> write) {
        boolean[] tried = {false};
        database.retrying(what, connection -> {
            if (tried[0] && store.exists(connection, id)) {
                return true;
            }
            tried[0] = true;
            return write.run(connection);
        });
    }

    private void signal(Connection connection, String topic, boolean announced) throws SQLException {
        if (connection.getAutoCommit()) {
            dispatcher.committed(topic);
        } else {
            dispatcher.written(topic, announced);
        }
    }

    private void logEnqueued(OutboxEntry entry, UUID id) {
        log.debug(
                "[{}] enqueued {} of topic {}, correlation id {}",
                database.name(),
                id,
                entry.topic(),
                entry.correlationId());
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
    public List<OutboxMessage> claim(OwnerToken owner, Duration lease, int batchSize) {
        Require.present("owner token", owner);
        Require.positive("lease", lease);
        Require.positive("batch size", batchSize);
        List<OutboxMessage> claimed = claimOnce(owner, lease, batchSize).stream()
                .map(Claimed::message)
                .toList();
        log.debug("[{}] claimed {} messages", database.name(), claimed.size());
        return claimed;
    }

    /** Not repeated: what a lost answer spoke of would stay claimed, and the caller would not know. */
    private List<Claimed<OutboxMessage>> claimOnce(OwnerToken owner, Duration lease, int batchSize) {
        try {
            return database.once(connection -> store.claimAny(connection, owner.value(), lease, batchSize));
        } catch (SQLException e) {
            throw database.failure("claim", e);
        }
    }

    @Override
    public int ack(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids) {
        return complete("ack", owner, ids, held -> held, store::ack);
    }

    @Override
    public int abandon(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids) {
        return complete("abandon", owner, ids, held -> new Failure(held, null, null), store::abandon);
    }

    @Override
    public int abandon(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids, Duration delay, String error) {
        Require.notNegative("delay", delay);
        String text = bounded(error);
        return complete("abandon", owner, ids, held -> new Failure(held, delay, text), store::abandon);
    }

    @Override
    public int release(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids) {
        return complete("release", owner, ids, held -> held, store::release);
    }

    @Override
    public int fail(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids, String error) {
        String text = bounded(error);
        return complete("fail", owner, ids, held -> new Failure(held, null, text), store::fail);
    }

    private static String bounded(@Nullable String error) {
        return ErrorText.bounded(Require.storable("error text", error));
    }

    @Override
    public int heartbeat(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids, Duration lease) {
        Require.positive("lease", lease);
        return complete(
                "renew",
                owner,
                ids,
                held -> held,
                (connection, held) -> store.heartbeat(connection, held, lease).size());
    }

    private <T> int complete(
            String what,
            OwnerToken owner,
            Collection<OutboxWorkItemIdentifier> ids,
            Function<Held, T> item,
            Completion<T> completion) {
        Require.present("owner token", owner);
        List<T> items = Require.elements("work item identifiers", ids).stream()
                .distinct()
                .map(id -> item.apply(new Held(id.value(), owner.value())))
                .toList();
        return items.isEmpty()
                ? 0
                : database.retrying(
                        what + " " + items.size() + " messages", connection -> completion.run(connection, items));
    }

    @FunctionalInterface
    private interface Completion<T> {
        int run(Connection connection, List<T> items) throws SQLException;
    }

    @Override
    public int reapExpired() {
        int reaped = 0;
        int changed;
        do {
            changed = database.retrying("reap", connection -> store.reap(connection, lease, REAP_BATCH));
            reaped += changed;
        } while (changed == REAP_BATCH);
        if (reaped > 0) {
            log.info("[{}] returned {} messages to ready whose lease had run out", database.name(), reaped);
        }
        return reaped;
    }
}
