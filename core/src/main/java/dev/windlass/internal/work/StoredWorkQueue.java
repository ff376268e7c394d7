package dev.windlass.internal.work;

import dev.windlass.base.OwnerToken;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.QueueKind;
import dev.windlass.base.Topic;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Transactions;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.loop.Announcer;
import dev.windlass.internal.queue.ForwardedClaims;
import dev.windlass.internal.queue.Note;
import dev.windlass.internal.queue.OwnWork;
import dev.windlass.internal.queue.Written;
import dev.windlass.internal.support.ErrorText;
import dev.windlass.internal.support.InWords;
import dev.windlass.internal.support.Require;
import dev.windlass.internal.support.TimeOrderedIds;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.operator.FailedAttempt;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkOperator;
import dev.windlass.work.WorkQueue;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The work queue in the database: checks arguments, calls the store, and wakes whoever can do the work. */
final class StoredWorkQueue extends ForwardedClaims<WorkItem, WorkIdentifier> implements WorkQueue {
    private static final Logger log = LoggerFactory.getLogger(WorkQueue.class);
    private static final Duration FIRST_LOOK = Duration.ofMillis(5);
    private static final Duration LAST_LOOKS = Duration.ofMillis(250);

    private final Database database;
    private final WorkItemStore store;
    private final Dispatcher<WorkItem> dispatcher;
    private final Announcer announcer;
    private final PayloadCodec codec;
    private final Transactions transactions;
    private final OwnWork<WorkItem, WorkIdentifier> own;
    private final Function<String, WorkOperator> operators;
    private final TimeOrderedIds ids = new TimeOrderedIds();

    StoredWorkQueue(
            Database database,
            WorkItemStore store,
            Dispatcher<WorkItem> dispatcher,
            Announcer announcer,
            PayloadCodec codec,
            Transactions transactions,
            OwnWork<WorkItem, WorkIdentifier> own,
            Function<String, WorkOperator> operators) {
        super(own);
        this.database = database;
        this.store = store;
        this.dispatcher = dispatcher;
        this.announcer = announcer;
        this.codec = codec;
        this.transactions = transactions;
        this.own = own;
        this.operators = operators;
    }

    @Override
    public WorkIdentifier enqueue(WorkEntry entry) {
        return enqueueAll(List.of(Require.present("work entry", entry))).get(0);
    }

    @Override
    public WorkIdentifier enqueue(Connection connection, WorkEntry entry) {
        return enqueueAll(connection, List.of(Require.present("work entry", entry)))
                .get(0);
    }

    /** A try whose answer was lost may have been committed; the id of one that had to be written tells. */
    @Override
    public List<WorkIdentifier> enqueueAll(Collection<WorkEntry> entries) {
        List<WorkEntry> all = List.copyOf(Require.elements("work entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        List<UUID> made = ids.next(all.size());
        UUID witness = witness(all, made);
        boolean[] tried = {false};
        return database.adding(
                what(all),
                connection -> {
                    boolean again = tried[0] && store.find(connection, witness).isPresent();
                    tried[0] = true;
                    if (again) {
                        return standing(connection, all, made);
                    }
                    boolean announce = !dispatcher.hasPlace(all.get(0).queue()) && announcer.announce();
                    return store.enqueueAll(connection, made, all, announce);
                },
                stand -> {
                    logEnqueued(all, stand);
                    queues(all).forEach(dispatcher::committed);
                    return identifiers(stand);
                },
                connection -> enqueueAll(connection, all));
    }

    private static String what(List<WorkEntry> entries) {
        return entries.size() == 1
                ? "enqueue an item of queue " + entries.get(0).queue()
                : "enqueue " + entries.size() + " items";
    }

    /** One that keeps an earlier one may not be stored; all others are. */
    private static UUID witness(List<WorkEntry> entries, List<UUID> made) {
        for (int i = 0; i < made.size(); i++) {
            WorkEntry.Unique unique = entries.get(i).unique();
            if (unique == null || unique.replaces()) {
                return made.get(i);
            }
        }
        return made.get(0);
    }

    /** The ids that stand, of entries that have all been written. */
    private List<UUID> standing(Connection connection, List<WorkEntry> entries, List<UUID> made) throws SQLException {
        List<UUID> stand = new ArrayList<>(made);
        for (int i = 0; i < made.size(); i++) {
            WorkEntry.Unique unique = entries.get(i).unique();
            if (unique != null && !unique.replaces()) {
                Optional<WorkItem> its = store.find(connection, entries.get(i).queue(), unique.key());
                stand.set(i, its.map(item -> item.id().value()).orElse(made.get(i)));
            }
        }
        return stand;
    }

    @Override
    public List<WorkIdentifier> enqueueAll(Connection connection, Collection<WorkEntry> entries) {
        Require.present("connection", connection);
        List<WorkEntry> all = List.copyOf(Require.elements("work entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        return database.within(connection, what(all), callers -> {
            boolean announce = announcer.announce();
            List<UUID> stand = store.enqueueAll(callers, ids.next(all.size()), all, announce);
            logEnqueued(all, stand);
            for (String queue : queues(all).toList()) {
                signal(callers, queue, announce);
            }
            return identifiers(stand);
        });
    }

    private void signal(Connection connection, String queue, boolean announced) throws SQLException {
        if (connection.getAutoCommit()) {
            dispatcher.committed(queue);
        } else {
            dispatcher.written(queue, announced);
        }
    }

    private void logEnqueued(List<WorkEntry> entries, List<UUID> stand) {
        Written.tell(database, QueueKind.WORK, entries, WorkEntry::queue);
        if (entries.size() == 1) {
            log.debug("[{}] enqueued {}: {}", database.name(), stand.get(0), entries.get(0));
        } else {
            log.debug("[{}] enqueued {} items, the first is {}", database.name(), entries.size(), stand.get(0));
        }
    }

    private static Stream<String> queues(List<WorkEntry> entries) {
        return entries.stream().map(WorkEntry::queue).distinct();
    }

    private static List<WorkIdentifier> identifiers(List<UUID> ids) {
        return ids.stream().map(WorkIdentifier::new).toList();
    }

    @Override
    public <T> WorkEntry entry(String queue, Topic<T> type, T payload) {
        return WorkEntry.of(
                queue, Require.present("type", type).name(), codec.encode(Require.present("payload", payload)));
    }

    @Override
    public List<WorkItem> claim(OwnerToken owner, Duration lease, int batchSize) {
        return inOrder(super.claim(owner, lease, batchSize));
    }

    @Override
    public List<WorkItem> claim(String queue, OwnerToken owner, Duration lease, int batchSize) {
        Require.name("queue", queue, WorkEntry.MAX_NAME);
        return inOrder(own.claim(queue, owner, lease, batchSize));
    }

    /** In which they should be done. */
    private static List<WorkItem> inOrder(List<WorkItem> claimed) {
        return claimed.stream()
                .sorted(Comparator.comparingInt(WorkItem::priority)
                        .reversed()
                        .thenComparing(WorkItem::runAt)
                        .thenComparing(WorkItem::id))
                .toList();
    }

    @Override
    public boolean complete(OwnerToken owner, WorkIdentifier id, String result) {
        Require.present("work identifier", id);
        return own.ack(owner, List.of(id), new Note(null, null, Require.storable("result", result))) == 1;
    }

    @Override
    public boolean heartbeat(OwnerToken owner, WorkIdentifier id, Duration lease, int percent, String text) {
        Require.present("work identifier", id);
        Note note =
                new Note(Require.percent(percent), ErrorText.bounded(Require.storable("progress text", text)), null);
        return own.heartbeat(owner, List.of(id), lease, note) == 1
                && find(id).filter(item -> item.cancelAskedAt().isEmpty()).isPresent();
    }

    @Override
    public Optional<WorkItem> find(WorkIdentifier id) {
        Require.present("work identifier", id);
        return database.retrying("read item " + id, connection -> store.find(connection, id.value()));
    }

    @Override
    public Optional<WorkItem> find(String queue, String uniqueKey) {
        Require.name("queue", queue, WorkEntry.MAX_NAME);
        Require.name("unique key", uniqueKey, WorkEntry.MAX_NAME);
        return database.retrying(
                "read an item of queue " + queue, connection -> store.find(connection, queue, uniqueKey));
    }

    /** Looks again and again, at growing distances. */
    @Override
    public WorkItem await(WorkIdentifier id, Duration atMost) throws TimeoutException, InterruptedException {
        Require.present("work identifier", id);
        Require.notNegative("longest wait", atMost);
        if (transactions.areOpenHere()) {
            throw new IllegalStateException("[" + database.name() + "] expected to wait for item " + id
                    + " outside of a transaction, got it inside; commit first");
        }
        long end = System.nanoTime() + atMost.toNanos();
        for (long pause = FIRST_LOOK.toNanos(); ; pause = Math.min(2 * pause, LAST_LOOKS.toNanos())) {
            WorkItem item = find(id).orElseThrow(() -> new WindlassException("[" + database.name()
                    + "] expected an item " + id + " to wait for, got none; is its retention longer than the wait?"));
            if (item.hasEnded()) {
                return item;
            }
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw new TimeoutException(
                        "item " + id + " of queue " + item.queue() + " has not ended within " + InWords.of(atMost));
            }
            Thread.sleep(Duration.ofNanos(Math.min(pause, left)).toMillis() + 1);
        }
    }

    @Override
    public List<FailedAttempt> failures(WorkIdentifier id) {
        Require.present("work identifier", id);
        return database.retrying("read the failures of " + id, connection -> store.failures(connection, id.value()));
    }

    @Override
    public boolean cancel(WorkIdentifier id) {
        Require.present("work identifier", id);
        boolean[] tried = {false};
        boolean cancelled = database.retrying("cancel item " + id, connection -> {
            boolean again = tried[0];
            tried[0] = true;
            return store.stop(connection, id.value()) || (again && isCancelled(connection, id.value()));
        });
        dispatcher.cancelAsked();
        return cancelled;
    }

    /** By an earlier try, perhaps, whose answer was lost. */
    private boolean isCancelled(Connection connection, UUID id) throws SQLException {
        return store.find(connection, id)
                .filter(item -> item.status() == WorkStatus.CANCELLED)
                .isPresent();
    }

    @Override
    public boolean cancel(Connection connection, WorkIdentifier id) {
        Require.present("work identifier", id);
        return database.within(connection, "cancel item " + id, callers -> store.stop(callers, id.value()));
    }

    @Override
    public boolean reschedule(WorkIdentifier id, Instant runAt) {
        Require.present("work identifier", id);
        Require.instant("time to run", runAt);
        boolean changed = database.retrying(
                "reschedule item " + id, connection -> store.reschedule(connection, id.value(), runAt, null, true));
        if (changed) {
            dispatcher.committed();
        }
        return changed;
    }

    @Override
    public boolean reschedule(Connection connection, WorkIdentifier id, Instant runAt) {
        Require.present("work identifier", id);
        Require.instant("time to run", runAt);
        return database.within(
                connection,
                "reschedule item " + id,
                callers -> store.reschedule(callers, id.value(), runAt, null, true));
    }

    @Override
    public int attach(JoinIdentifier join, Collection<WorkIdentifier> items) {
        Require.present("join identifier", join);
        List<UUID> members = values(items);
        return database.retrying(
                "attach " + members.size() + " items to join " + join,
                connection -> store.attach(connection, join, members));
    }

    @Override
    public int attach(Connection connection, JoinIdentifier join, Collection<WorkIdentifier> items) {
        Require.present("join identifier", join);
        List<UUID> members = values(items);
        return database.within(
                connection,
                "attach " + members.size() + " items to join " + join,
                callers -> store.attach(callers, join, members));
    }

    private static List<UUID> values(Collection<WorkIdentifier> items) {
        return Require.elements("work identifiers", items).stream()
                .map(WorkIdentifier::value)
                .distinct()
                .toList();
    }

    @Override
    public WorkOperator operator(String name) {
        return operators.apply(Require.text("name of the operator", name, WorkEntry.MAX_NAME));
    }

    @Override
    public int reapExpired() {
        int reaped = super.reapExpired();
        if (reaped > 0) {
            dispatcher.committed();
        }
        return reaped;
    }
}
