package dev.windlass.internal.work;

import dev.windlass.base.PayloadCodec;
import dev.windlass.base.QueueKind;
import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Transactions;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.dispatch.DispatcherOptions;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.dispatch.OnDemand;
import dev.windlass.internal.loop.Announcer;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.queue.OwnWork;
import dev.windlass.internal.queue.StoredOperator;
import dev.windlass.internal.schema.Channel;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkOptions;
import dev.windlass.work.WorkQueue;
import java.util.Map;

/** Internal: the work queue of one Windlass, put together. Programs use {@link dev.windlass.Windlass}. */
public final class WorkNode {
    private final WorkQueue queue;
    private final Dispatcher<WorkItem> dispatcher;
    private final OnDemand start;

    /**
     * @param database named apart from the outbox's: its logs and metrics tell which of the two they speak of
     */
    public WorkNode(
            Database database,
            Node node,
            WindlassOptions windlass,
            WorkOptions options,
            WorkHandlers handlers,
            Transactions transactions,
            PayloadCodec codec) {
        String channel = Channel.of(windlass.schemaName(), options.tableName());
        WorkItemStore store = new WorkItemStore(database, options, windlass.nodeName());
        Map<String, Handling<WorkItem>> handlings = windlass.backgroundWorkers()
                ? handlers.handlings(options.queue().handlers())
                : Map.of();
        dispatcher = new Dispatcher<>(
                database,
                node,
                store,
                channel,
                handlings,
                new DispatcherOptions(options.queue(), windlass),
                QueueKind.WORK);
        start = new OnDemand(dispatcher, !handlings.isEmpty());
        queue = new StoredWorkQueue(
                database,
                store,
                dispatcher,
                new Announcer(database, channel, node.workers(), windlass.wakeUp()),
                codec,
                transactions,
                new OwnWork<>(
                        store,
                        new OwnWork.Kind<>("item", "work identifiers", WorkIdentifier::value, false),
                        options.queue().lease()),
                who -> new StoredWorkOperator(
                        database,
                        options.tableName(),
                        who,
                        new StoredOperator.Effects(dispatcher::committed, dispatcher::pausesChanged)));
    }

    public WorkQueue queue() {
        start.want();
        return queue;
    }

    public void start() {
        start.start();
    }

    /** This process has committed a transaction that may have written items. */
    public void committed() {
        dispatcher.committed();
    }

    /** What has to be done at its end. */
    public Dispatcher<?> dispatcher() {
        return dispatcher;
    }
}
