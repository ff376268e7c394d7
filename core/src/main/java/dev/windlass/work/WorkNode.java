package dev.windlass.work;

import dev.windlass.PayloadCodec;
import dev.windlass.WindlassOptions;
import dev.windlass.runtime.Announcer;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Dispatcher;
import dev.windlass.runtime.DispatcherOptions;
import dev.windlass.runtime.Handling;
import dev.windlass.runtime.OnDemand;
import dev.windlass.runtime.OwnWork;
import dev.windlass.runtime.StoredOperator;
import dev.windlass.runtime.Telemetry;
import dev.windlass.runtime.Transactions;
import dev.windlass.runtime.Workers;
import dev.windlass.schema.Channel;
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
            Database background,
            WindlassOptions windlass,
            WorkOptions options,
            WorkHandlers handlers,
            Transactions transactions,
            PayloadCodec codec,
            Telemetry telemetry,
            Workers workers) {
        String channel = Channel.of(windlass.schemaName(), options.tableName());
        WorkItemStore store = new WorkItemStore(database, options, windlass.nodeName());
        Map<String, Handling<WorkItem>> handlings = windlass.backgroundWorkers()
                ? handlers.handlings(options.queue().handlers())
                : Map.of();
        dispatcher = new Dispatcher<>(
                database,
                background,
                store,
                channel,
                handlings,
                new DispatcherOptions(options.queue(), windlass),
                telemetry,
                workers);
        start = new OnDemand(dispatcher, !handlings.isEmpty());
        queue = new StoredWorkQueue(
                database,
                store,
                dispatcher,
                new Announcer(database, channel, "", workers, windlass.wakeUp()),
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
