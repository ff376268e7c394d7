package dev.windlass.outbox;

import dev.windlass.PayloadCodec;
import dev.windlass.WindlassOptions;
import dev.windlass.runtime.Announcer;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Dispatcher;
import dev.windlass.runtime.DispatcherOptions;
import dev.windlass.runtime.Handling;
import dev.windlass.runtime.Telemetry;
import dev.windlass.runtime.Workers;
import dev.windlass.schema.Channel;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Internal: the outbox of one Windlass, put together. Programs use {@link dev.windlass.Windlass}. */
public final class OutboxNode {
    private final Outbox outbox;
    private final Dispatcher<OutboxMessage> dispatcher;
    private final Announcer announcer;

    public OutboxNode(
            Database database,
            Database background,
            WindlassOptions windlass,
            OutboxOptions options,
            Map<String, Handling<OutboxMessage>> handlings,
            PayloadCodec codec,
            Telemetry telemetry,
            Workers workers) {
        String channel = Channel.of(windlass.schemaName(), options.tableName());
        announcer = new Announcer(database, channel, workers, windlass.wakeUp());
        dispatcher = new Dispatcher<>(
                database,
                background,
                store(database, windlass, options, this::tellOthers),
                channel,
                windlass.backgroundWorkers() ? handlings : Map.of(),
                new DispatcherOptions(
                        options.pollingInterval(),
                        windlass.maxPollingInterval(),
                        options.batchSize(),
                        options.lease(),
                        options.concurrency(),
                        options.maxLeaseExpiries(),
                        windlass.wakeUp(),
                        windlass.shutdownGrace()),
                telemetry,
                workers);
        outbox = new StoredOutbox(
                database,
                store(database, windlass, options, announcer::announce),
                dispatcher,
                announcer,
                codec,
                options.lease(),
                who -> new StoredOperator(
                        database, options.tableName(), who, dispatcher::committed, dispatcher::pausesChanged));
    }

    private static OutboxStore store(
            Database database, WindlassOptions windlass, OutboxOptions options, BooleanSupplier announce) {
        return new OutboxStore(database, options.tableName(), windlass.nodeName(), options.retention(), announce);
    }

    /** Under an ordering key the next message becomes ready when one ends; a node with room takes it by itself. */
    private boolean tellOthers() {
        return !dispatcher.hasRoom() && announcer.announce();
    }

    public Outbox outbox() {
        return outbox;
    }

    /** This process has committed a transaction that may have written messages. */
    public void committed() {
        dispatcher.committed();
    }

    public void start() {
        dispatcher.start();
    }

    public void stop() {
        dispatcher.stop();
    }
}
