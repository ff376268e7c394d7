package dev.windlass.inbox;

import dev.windlass.PayloadCodec;
import dev.windlass.WindlassOptions;
import dev.windlass.runtime.Announcer;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Dispatcher;
import dev.windlass.runtime.DispatcherOptions;
import dev.windlass.runtime.Handling;
import dev.windlass.runtime.OnDemand;
import dev.windlass.runtime.StoredOperator;
import dev.windlass.runtime.Telemetry;
import dev.windlass.runtime.Transactions;
import dev.windlass.runtime.Workers;
import dev.windlass.schema.Channel;
import java.util.Map;

/** Internal: the inbox of one Windlass, put together. Programs use {@link dev.windlass.Windlass}. */
public final class InboxNode {
    private final Inbox inbox;
    private final Guard guard;
    private final Renewals renewals;
    private final Dispatcher<Delivery> dispatcher;
    private final OnDemand start;

    /**
     * @param database named apart from the outbox's: its logs and metrics tell which of the two they speak of
     */
    public InboxNode(
            Database database,
            Database background,
            WindlassOptions windlass,
            InboxOptions options,
            InboxHandlers handlers,
            Transactions transactions,
            PayloadCodec codec,
            Telemetry telemetry,
            Workers workers) {
        String channel = Channel.of(windlass.schemaName(), options.tableName());
        InboxStore store = new InboxStore(
                database,
                options.tableName(),
                windlass.nodeName(),
                options.queue().retention(),
                options.guardLease());
        Waiters waiters = new Waiters();
        Map<String, Handling<Delivery>> handlings = windlass.backgroundWorkers()
                ? handlers.handlings(options.queue().handlers(), new HandlerTransactions(transactions, store, waiters))
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
        ContentChanges contentChanges = new ContentChanges(database.name(), telemetry);
        GuardStore guards = new GuardStore(database, options.tableName(), windlass.nodeName());
        renewals = new Renewals(background, guards, options.guardLease(), options.renewAtMost(), workers);
        guard = new Guard(database, guards, options, transactions, renewals, waiters, contentChanges);
        Announcer announcer = new Announcer(database, channel, "", workers, windlass.wakeUp());
        inbox = new StoredInbox(
                codec,
                guard,
                new Queue(
                        database, store, dispatcher, announcer, options.queue().lease(), contentChanges),
                who -> new StoredInboxOperator(
                        database,
                        options.tableName(),
                        who,
                        new StoredOperator.Effects(this::committed, dispatcher::pausesChanged)));
    }

    public Inbox inbox() {
        start.want();
        return inbox;
    }

    public void start() {
        start.start();
    }

    /** This process has committed a transaction that may have written or marked messages. */
    public void committed() {
        dispatcher.committed();
        guard.committed();
    }

    /** What has to be done at its end. */
    public Dispatcher<?> dispatcher() {
        return dispatcher;
    }

    /** Renews nothing more for those who process messages by themselves. */
    public void stopRenewing() {
        renewals.stop();
    }
}
