package dev.windlass.spring;

import dev.windlass.base.AmbientTransactions;
import dev.windlass.base.TransactionalWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transactions that Spring's managers have on one data source.
 *
 * <p>A thread is in one if a manager has bound a connection of the data source to it. The managers for JDBC and for JPA do that when a
 * transaction begins, also for programs that never ask for the connection. A transaction of another data source binds none, and is not
 * joined.
 *
 * <p><b>After the end.</b> Spring calls listeners after a commit or a rollback while the connection is still bound; what they write there would
 * be a part of nothing, and get lost. So transactions are watched: from the moment one is about to end it is none any more, and what is written then has a
 * transaction of its own.
 */
final class SpringTransactions implements AmbientTransactions, TransactionExecutionListener {
    private static final Logger log = LoggerFactory.getLogger(SpringTransactions.class);

    private final DataSource dataSource;
    private final Supplier<PlatformTransactionManager> manager;
    private final AtomicBoolean warned = new AtomicBoolean();

    @SuppressWarnings("ThreadLocalUsage") // one for each data source
    private final ThreadLocal<@Nullable List<ConnectionHolder>> ending = new ThreadLocal<>();

    /**
     * @param dataSource as the managers know it
     * @param manager which one begins transactions; asked for when one is to be begun
     */
    SpringTransactions(DataSource dataSource, Supplier<PlatformTransactionManager> manager) {
        this.dataSource = dataSource;
        this.manager = manager;
    }

    @Override
    public Optional<Connection> current() throws SQLException {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            return Optional.empty();
        }
        ConnectionHolder holder = bound();
        if (holder == null) {
            warnOfOther();
            return Optional.empty();
        }
        List<ConnectionHolder> ended = ending.get();
        if (ended != null && ended.contains(holder)) {
            return Optional.empty();
        }
        Connection connection = holder.getConnection();
        return connection.getAutoCommit() ? Optional.empty() : Optional.of(connection);
    }

    private @Nullable ConnectionHolder bound() {
        return TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder holder
                ? holder
                : null;
    }

    private void warnOfOther() {
        if (warned.compareAndSet(false, true)) {
            log.warn(
                    "something is written through Windlass in a transaction of another data source than Windlass's; it is not a part"
                            + " of that. If that is not meant, see windlass.data-source and windlass.transaction-required; this is"
                            + " said once");
        }
    }

    @Override
    public void afterCommit(Runnable action) {
        AfterCommit after = new AfterCommit(action);
        if (TransactionSynchronizationManager.isSynchronizationActive()
                && !TransactionSynchronizationManager.getSynchronizations().contains(after)) {
            TransactionSynchronizationManager.registerSynchronization(after);
        }
    }

    private record AfterCommit(Runnable action) implements TransactionSynchronization {
        @Override
        public void afterCommit() {
            action.run();
        }
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T run(TransactionalWork<T, X> work) throws X {
        PlatformTransactionManager transactions = manager.get();
        // Not one that may be there: it has ended, and its listeners are being called.
        TransactionStatus status = transactions.getTransaction(
                new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
        T result;
        try {
            result = work.run(begun());
        } catch (Throwable e) {
            rollBack(transactions, status, e);
            throw e;
        }
        transactions.commit(status);
        return result;
    }

    private Connection begun() {
        try {
            return current()
                    .orElseThrow(() -> new IllegalStateException(
                            "expected the transaction manager to begin a transaction on Windlass's data source, got one on another; say which"
                                    + " manager to take by windlass.transaction-manager"));
        } catch (SQLException e) {
            throw new IllegalStateException("the connection of a transaction that was just begun cannot be used", e);
        }
    }

    private static void rollBack(PlatformTransactionManager transactions, TransactionStatus status, Throwable cause) {
        try {
            transactions.rollback(status);
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    @Override
    public void beforeCommit(TransactionExecution transaction) {
        ends(transaction);
    }

    @Override
    public void beforeRollback(TransactionExecution transaction) {
        ends(transaction);
    }

    /** Not if it is a part of another, whose end it is not. */
    private void ends(TransactionExecution transaction) {
        ConnectionHolder holder = bound();
        if (holder == null
                || !transaction.isNewTransaction()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            return;
        }
        List<ConnectionHolder> all = ending.get();
        if (all == null) {
            all = new ArrayList<>(1);
            ending.set(all);
        }
        all.add(holder);
        TransactionSynchronizationManager.registerSynchronization(new Ended(holder));
    }

    /** Called last of all: then the connection is unbound. */
    private final class Ended implements TransactionSynchronization {
        private final ConnectionHolder holder;

        Ended(ConnectionHolder holder) {
            this.holder = holder;
        }

        @Override
        public int getOrder() {
            return LOWEST_PRECEDENCE;
        }

        @Override
        public void afterCompletion(int status) {
            List<ConnectionHolder> all = ending.get();
            if (all != null && all.remove(holder) && all.isEmpty()) {
                ending.remove();
            }
        }
    }
}
