package dev.windlass.outbox;

import dev.windlass.PayloadCodec;
import dev.windlass.WindlassOptions;
import dev.windlass.join.Joins;
import dev.windlass.join.StoredJoins;
import dev.windlass.runtime.Announcer;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Dispatcher;
import dev.windlass.runtime.DispatcherOptions;
import dev.windlass.runtime.Handling;
import dev.windlass.runtime.OwnWork;
import dev.windlass.runtime.StoredOperator;
import dev.windlass.runtime.Telemetry;
import dev.windlass.runtime.Workers;
import dev.windlass.schema.Channel;
import java.util.Collection;
import java.util.Map;

/** Internal: the outbox of one Windlass, put together. Programs use {@link dev.windlass.Windlass}. */
public final class OutboxNode {
    private final Outbox outbox;
    private final Joins joins;
    private final Dispatcher<OutboxMessage> dispatcher;

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
        Announcer announcer = new Announcer(database, channel, "", workers, windlass.wakeUp());
        OutboxStore store = new OutboxStore(database, options, windlass.nodeName(), announcer::announce);
        dispatcher = new Dispatcher<>(
                database,
                background,
                store,
                channel,
                windlass.backgroundWorkers() ? handlings : Map.of(),
                new DispatcherOptions(options.queue(), windlass),
                telemetry,
                workers);
        joins = new StoredJoins(database, store.joins, dispatcher::committed);
        outbox = new StoredOutbox(
                database,
                store,
                dispatcher,
                announcer,
                codec,
                new OwnWork<>(
                        store,
                        new OwnWork.Kind<>("message", "work item identifiers", OutboxWorkItemIdentifier::value, true),
                        options.queue().lease()),
                who -> new StoredOutboxOperator(
                        database,
                        options.tableName(),
                        who,
                        new StoredOperator.Effects(dispatcher::committed, dispatcher::pausesChanged)));
    }

    public Joins joins() {
        return joins;
    }

    public Outbox outbox() {
        return outbox;
    }

    /** This process has committed a transaction that may have written messages. */
    public void committed() {
        dispatcher.committed();
    }

    /** Messages of these topics have been committed by this process, on other ways than through the outbox. */
    public void committed(Collection<String> topics) {
        topics.forEach(dispatcher::committed);
    }

    /** Shares the one connection that listens; before the start. */
    public void accompany(Dispatcher.Companion companion) {
        dispatcher.accompany(companion);
    }

    public void start() {
        dispatcher.start();
    }

    /** What has to be done at its end. */
    public Dispatcher<?> dispatcher() {
        return dispatcher;
    }
}
