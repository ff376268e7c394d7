package dev.windlass.internal.outbox;

import dev.windlass.base.PayloadCodec;
import dev.windlass.base.QueueKind;
import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.dispatch.DispatcherOptions;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.join.StoredJoins;
import dev.windlass.internal.loop.Announcer;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.queue.OwnWork;
import dev.windlass.internal.queue.StoredOperator;
import dev.windlass.internal.schema.Channel;
import dev.windlass.join.Joins;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.util.Collection;
import java.util.Map;

/** Internal: the outbox of one Windlass, put together. Programs use {@link dev.windlass.Windlass}. */
public final class OutboxNode {
    private final Outbox outbox;
    private final Joins joins;
    private final Dispatcher<OutboxMessage> dispatcher;

    public OutboxNode(
            Database database,
            Node node,
            WindlassOptions windlass,
            OutboxOptions options,
            Map<String, Handling<OutboxMessage>> handlings,
            PayloadCodec codec) {
        String channel = Channel.of(windlass.schemaName(), options.tableName());
        Announcer announcer = new Announcer(database, channel, node.workers(), windlass.wakeUp());
        OutboxStore store = new OutboxStore(database, options, windlass.nodeName(), announcer::announce);
        dispatcher = new Dispatcher<>(
                database,
                node,
                store,
                channel,
                windlass.backgroundWorkers() ? handlings : Map.of(),
                new DispatcherOptions(options.queue(), windlass),
                QueueKind.OUTBOX);
        joins = new StoredJoins(database, store.joins, dispatcher::committed);
        outbox = new StoredOutbox(
                database,
                store,
                dispatcher,
                new Enqueuing(database, store, dispatcher, announcer),
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

    public void start() {
        dispatcher.start();
    }

    /** What has to be done at its end. */
    public Dispatcher<?> dispatcher() {
        return dispatcher;
    }
}
