package dev.windlass.internal.inbox;

import dev.windlass.base.NotYet;
import dev.windlass.inbox.AttemptLostException;
import dev.windlass.inbox.InboxHandler;
import dev.windlass.internal.database.SqlError;
import dev.windlass.internal.database.Transactions;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.dispatch.NotStartedException;
import dev.windlass.internal.dispatch.Running;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Runs handlers in a transaction that also ends their messages. */
final class HandlerTransactions {
    private static final Duration WHEN_LOCKED = Duration.ofSeconds(1);

    private static final String CHANGED_MEANWHILE = "40001";

    private final Transactions transactions;
    private final InboxStore store;
    private final Waiters waiters;

    HandlerTransactions(Transactions transactions, InboxStore store, Waiters waiters) {
        this.transactions = transactions;
        this.store = store;
        this.waiters = waiters;
    }

    Handling.Handler<Delivery> handler(int most, InboxHandler.TogetherInTransaction handler) {
        return new Handling.Together<>() {
            @Override
            public int most() {
                return most;
            }

            @Override
            public void handleAll(List<Delivery> deliveries, List<? extends Running> running) throws Exception {
                run(handler, deliveries);
                running.forEach(Running::wasEnded);
                deliveries.forEach(delivery -> waiters.call(delivery.message().key()));
            }
        };
    }

    private void run(InboxHandler.TogetherInTransaction handler, List<Delivery> deliveries) throws Exception {
        AtomicBoolean started = new AtomicBoolean();
        try {
            transactions.runForHandler(connection -> {
                started.set(true);
                handler.handle(
                        connection, deliveries.stream().map(Delivery::message).toList());
                int ended = end(connection, deliveries);
                if (ended < deliveries.size()) {
                    throw lost(deliveries, ended);
                }
                return true;
            });
        } catch (SQLException | RuntimeException e) {
            throw started.get() ? e : new NotStartedException("no transaction for the handler could be begun", e);
        }
    }

    /** Who has them locked may be the server, which is still about to end the transaction of an attempt whose connection was lost. */
    private int end(Connection connection, List<Delivery> deliveries) throws SQLException {
        try {
            return store.ackWithWork(
                    connection, deliveries.stream().map(Delivery::held).toList());
        } catch (InboxStore.LockedException e) {
            throw new NotYet(WHEN_LOCKED, "another transaction keeps its row locked");
        } catch (SQLException e) {
            if (SqlError.state(e).equals(CHANGED_MEANWHILE)) {
                throw new IllegalStateException(
                        "expected a handler's transaction to be read committed, got a stricter one, which cannot end its message once"
                                + " that has changed, as when its lease was renewed; set that isolation for this data source",
                        e);
            }
            throw e;
        }
    }

    private static AttemptLostException lost(List<Delivery> deliveries, int ended) {
        String what = deliveries.size() == 1
                ? "message " + deliveries.get(0).message().key()
                        + " to be this handler's, but its lease ran out and it was lost"
                : deliveries.size() + " messages to be this handler's, but " + (deliveries.size() - ended)
                        + " were lost";
        return new AttemptLostException("expected " + what + "; the work is rolled back");
    }
}
