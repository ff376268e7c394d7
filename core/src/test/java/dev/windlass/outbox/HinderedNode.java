package dev.windlass.outbox;

import dev.windlass.Deadline;
import dev.windlass.HandlerOptions;
import dev.windlass.MonotonicClock;
import dev.windlass.QueueOptions;
import dev.windlass.TestDatabase;
import dev.windlass.WindlassOptions;
import dev.windlass.runtime.Dispatcher;
import dev.windlass.runtime.DispatcherOptions;
import dev.windlass.runtime.Handling;
import dev.windlass.runtime.Telemetry;
import dev.windlass.runtime.WorkStore;
import dev.windlass.runtime.Workers;
import java.time.Duration;
import java.util.Map;

/** A node that handles topic "a" of a {@link HinderedStore}, and wakes up by polling. */
final class HinderedNode implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(250);

    private final Workers workers = new Workers();
    private final Dispatcher<OutboxMessage> dispatcher;

    HinderedNode(
            TestDatabase database,
            WorkStore<OutboxMessage> store,
            Duration lease,
            Handling.Handler<OutboxMessage> handler) {
        this(database, store, lease, new Handling<>(handler, HandlerOptions.defaults()), Telemetry.NONE);
    }

    HinderedNode(
            TestDatabase database,
            WorkStore<OutboxMessage> store,
            Duration lease,
            Handling<OutboxMessage> handling,
            Telemetry telemetry) {
        this(database, store, lease, handling, telemetry, POLL, POLL);
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
            Telemetry telemetry,
            Duration shortest,
            Duration longest) {
        dispatcher = new Dispatcher<>(
                HinderedStore.routines(database),
                HinderedStore.routines(database),
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
                telemetry,
                workers);
        dispatcher.start();
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
        workers.close();
    }
}
