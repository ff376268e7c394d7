package dev.windlass.internal.inbox;

import dev.windlass.base.PayloadCodec;
import dev.windlass.base.QueueKind;
import dev.windlass.base.WindlassOptions;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Transactions;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.dispatch.DispatcherOptions;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.dispatch.OnDemand;
import dev.windlass.internal.loop.Announcer;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.queue.StoredOperator;
import dev.windlass.internal.schema.Channel;
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
            Node node,
            WindlassOptions windlass,
            InboxOptions options,
            InboxHandlers handlers,
            Transactions transactions,
            PayloadCodec codec) {
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
                node,
                store,
                channel,
                handlings,
                new DispatcherOptions(options.queue(), windlass),
                QueueKind.INBOX);
        start = new OnDemand(dispatcher, !handlings.isEmpty());
        ContentChanges contentChanges = new ContentChanges(database);
        GuardStore guards = new GuardStore(database, options.tableName(), windlass.nodeName());
        renewals = new Renewals(database, guards, options.guardLease(), options.renewAtMost(), node);
        guard = new Guard(database, guards, options, transactions, renewals, waiters, contentChanges);
        Announcer announcer = new Announcer(database, channel, node.workers(), windlass.wakeUp());
        inbox = new StoredInbox(
                codec,
                guard,
                new InboxQueue(
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

    /** What renews the leases of the guard; the rest is the dispatcher's. */
    public Loop renewing() {
        return renewals.loop();
    }

    /** Renews nothing more for those who process messages by themselves. */
    public void stopRenewing() {
        renewals.stop();
    }
}
