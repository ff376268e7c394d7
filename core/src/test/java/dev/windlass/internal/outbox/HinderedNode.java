package dev.windlass.internal.outbox;

import dev.windlass.TestDatabase;
import dev.windlass.base.Deadline;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.QueueKind;
import dev.windlass.base.QueueOptions;
import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.dispatch.DispatcherOptions;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.queue.WorkStore;
import dev.windlass.outbox.OutboxMessage;
import java.time.Duration;
import java.util.Map;

/** A node that handles topic "a" of a {@link HinderedStore}, and wakes up by polling. */
final class HinderedNode implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(250);

    private final Workers workers = new Workers();
    private final Node node;
    private final Dispatcher<OutboxMessage> dispatcher;

    HinderedNode(
            TestDatabase database,
            WorkStore<OutboxMessage> store,
            Duration lease,
            Handling.Handler<OutboxMessage> handler) {
        this(database, store, lease, new Handling<>(handler, HandlerOptions.defaults()), Events.NONE);
    }

    HinderedNode(
            TestDatabase database,
            WorkStore<OutboxMessage> store,
            Duration lease,
            Handling<OutboxMessage> handling,
            Events events) {
        this(database, store, lease, handling, events, POLL, POLL);
    }

    /**
     * @param shortest the pause after a first look that found nothing
     * @param longest the pause after many of them
     */
    HinderedNode(
            TestDatabase database,
            WorkStore<OutboxMessage> store,
            Duration lease,
            Handling<OutboxMessage> handling,
            Events events,
            Duration shortest,
            Duration longest) {
        Database routines = HinderedStore.routines(database);
        node = new Node(routines, routines, Node.Shared.none(workers), false, longest);
        dispatcher = new Dispatcher<>(
                HinderedStore.routines(database, events),
                node,
                store,
                "hindered_" + database.schema(),
                Map.of("a", handling),
                new DispatcherOptions(
                        QueueOptions.defaults()
                                .withPollingInterval(shortest)
                                .withBatchSize(100)
                                .withLease(lease)
                                .withMaxLeaseExpiries(1000),
                        WindlassOptions.defaults()
                                .withMaxPollingInterval(longest)
                                .withWakeUp(false)
                                .withShutdownGrace(Duration.ofSeconds(2))),
                QueueKind.OUTBOX);
        dispatcher.start();
        node.lookout().start();
    }

    @Override
    public void close() {
        Deadline deadline = Deadline.in(MonotonicClock.system(), Duration.ofSeconds(10));
        dispatcher.askToStop();
        try {
            if (!dispatcher.awaitHandlers(Deadline.in(MonotonicClock.system(), Duration.ofMillis(200)))) {
                dispatcher.cancelHandlers();
                dispatcher.awaitHandlers(deadline);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        dispatcher.finish(deadline, deadline);
        node.end(deadline);
        workers.close();
    }
}
