package dev.windlass.internal.inbox;

import dev.windlass.inbox.AttemptLostException;
import dev.windlass.inbox.InboxHandler;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.internal.database.Transactions;
import dev.windlass.internal.dispatch.NotStartedException;
import dev.windlass.internal.dispatch.Running;
import dev.windlass.internal.queue.WorkStore.Held;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Runs handlers in a transaction that also ends their message. */
final class HandlerTransactions {
    private final Transactions transactions;
    private final InboxStore store;
    private final Waiters waiters;

    HandlerTransactions(Transactions transactions, InboxStore store, Waiters waiters) {
        this.transactions = transactions;
        this.store = store;
        this.waiters = waiters;
    }

    void run(InboxHandler.InTransaction handler, Delivery delivery, Running running) throws Exception {
        InboxMessage message = delivery.message();
        List<Held> held = List.of(new Held(message.id().value(), delivery.owner(), false));
        AtomicBoolean started = new AtomicBoolean();
        try {
            transactions.runForHandler(connection -> {
                started.set(true);
                handler.handle(connection, message);
                if (store.ackWithWork(connection, held) != 1) {
                    throw new AttemptLostException("expected message " + message.key()
                            + " to be this handler's, but its lease ran out and it was lost; its work is rolled back");
                }
                return true;
            });
        } catch (SQLException | RuntimeException e) {
            throw started.get() ? e : new NotStartedException("no transaction for the handler could be begun", e);
        }
        running.wasEnded();
        waiters.call(message.key());
    }
}
