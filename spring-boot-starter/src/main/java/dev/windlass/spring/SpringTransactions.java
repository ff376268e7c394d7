package dev.windlass.spring;

import dev.windlass.base.AmbientTransactions;
import dev.windlass.base.TransactionEnd;
import dev.windlass.base.TransactionalWork;
import dev.windlass.store.Store;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
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
import org.springframework.util.ReflectionUtils;

/**
 * The transactions that Spring's managers have on one data source.
 *
 * <p>A thread is in one if a manager has bound a connection of the data source to it. The managers for JDBC and for JPA do that when a
 * transaction begins, also for programs that never ask for the connection. A transaction of another data source binds none, and is not
 * joined. Nor is a connection that {@code DataSourceUtils} has bound in such a transaction: nobody commits it.
 *
 * <p><b>The end.</b> Until it has been committed a transaction is one: what JPA writes while it flushes belongs to it. Afterwards Spring calls
 * listeners while the connection is still bound; what they write there would be a part of nothing, and get lost. So the first to be told of
 * a commit is whoever is here, and what is written from then on has a transaction of its own.
 */
final class SpringTransactions implements AmbientTransactions, TransactionExecutionListener {
    private static final Logger log = LoggerFactory.getLogger(SpringTransactions.class);

    /** It is for managers alone, and only they know it. */
    private static final Method IS_TRANSACTION_ACTIVE = isTransactionActive();

    private final DataSource dataSource;
    private final PlatformTransactionManager manager;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * @param dataSource as the managers know it
     * @param manager begins transactions for Windlass
     */
    SpringTransactions(DataSource dataSource, PlatformTransactionManager manager) {
        this.dataSource = dataSource;
        this.manager = manager;
    }

    static Method isTransactionActive() {
        Method method = ReflectionUtils.findMethod(ConnectionHolder.class, "isTransactionActive");
        if (method == null) {
            throw new IllegalStateException(
                    "expected Spring's ConnectionHolder to have isTransactionActive(), found none");
        }
        ReflectionUtils.makeAccessible(method);
        return method;
    }

    /** The data source of a store as managers may know it; none, if the store opens its own. */
    static @Nullable DataSource source(Store store) {
        try {
            return store.isOpenedHere() ? null : TransactionManagers.unwrapped(store.open());
        } catch (Exception e) {
            throw new IllegalStateException("the data source of store " + store.id() + " is not there", e);
        }
    }

    @Override
    public Optional<Connection> current() throws SQLException {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) { // as after a rollback
            return Optional.empty();
        }
        ConnectionHolder holder = bound();
        boolean ofJdbc = holder != null && isOfJdbc(holder);
        if (holder == null || !(ofJdbc || isOfJpa(holder))) {
            warnOfOther();
            return Optional.empty();
        }
        Followed followed = followed();
        boolean isCommitted = followed != null && followed.isCommitted;
        if (isCommitted || (!ofJdbc && JpaTransactions.hasEnded(dataSource))) {
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

    private static boolean isOfJdbc(ConnectionHolder holder) {
        return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(IS_TRANSACTION_ACTIVE, holder));
    }

    /** The managers for JPA and Hibernate leave alone what {@code DataSourceUtils} sets when it binds a connection itself. */
    private static boolean isOfJpa(ConnectionHolder holder) {
        return !holder.isSynchronizedWithTransaction();
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
    public void whenEnded(Consumer<TransactionEnd> listener) {
        follow().listeners.add(listener);
    }

    private @Nullable Followed followed() {
        return (Followed) TransactionSynchronizationManager.getResource(this);
    }

    private Followed follow() {
        Followed followed = followed();
        if (followed == null) {
            followed = new Followed();
            TransactionSynchronizationManager.registerSynchronization(followed);
            TransactionSynchronizationManager.bindResource(this, followed);
        }
        return followed;
    }

    /** A transaction whose end somebody wants to know. Told before all others, who may take their time and may write something themselves. */
    private final class Followed implements TransactionSynchronization {
        private final Set<Consumer<TransactionEnd>> listeners = new LinkedHashSet<>();
        private boolean isCommitted;

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }

        @Override
        public void suspend() {
            TransactionSynchronizationManager.unbindResource(SpringTransactions.this);
        }

        @Override
        public void resume() {
            TransactionSynchronizationManager.bindResource(SpringTransactions.this, this);
        }

        @Override
        public void afterCommit() {
            isCommitted = true;
            tell(TransactionEnd.COMMITTED);
        }

        @Override
        public void afterCompletion(int status) {
            TransactionSynchronizationManager.unbindResourceIfPossible(SpringTransactions.this);
            if (!isCommitted) {
                tell(
                        switch (status) {
                            case STATUS_COMMITTED -> late();
                            case STATUS_ROLLED_BACK -> TransactionEnd.ROLLED_BACK;
                            default -> TransactionEnd.UNKNOWN;
                        });
            }
        }

        /** Nobody was told of the commit: all that is followed here was written after it, by a listener, and nobody else commits that. */
        private TransactionEnd late() {
            try {
                ConnectionHolder holder = bound();
                if (holder == null) {
                    return TransactionEnd.UNKNOWN;
                }
                holder.getConnection().commit();
                return TransactionEnd.COMMITTED;
            } catch (SQLException e) {
                log.error(
                        "what was written through Windlass after the commit of a transaction could not be committed ({})",
                        e.getSQLState());
                return TransactionEnd.UNKNOWN;
            }
        }

        private void tell(TransactionEnd end) {
            listeners.forEach(listener -> listener.accept(end));
        }
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T run(TransactionalWork<T, X> work) throws X {
        // Not one that may be there: it has ended, and its listeners are being called.
        TransactionStatus status = manager.getTransaction(
                new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
        T result;
        try {
            result = work.run(begun());
        } catch (Throwable e) {
            rollBack(status, e);
            throw e;
        }
        manager.commit(status);
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

    private void rollBack(TransactionStatus status, Throwable cause) {
        try {
            manager.rollback(status);
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    /** A listener of a transaction in which nothing was written may be the first who writes something. */
    @Override
    public void beforeCommit(TransactionExecution transaction) {
        if (transaction.isNewTransaction()
                && bound() != null
                && TransactionSynchronizationManager.isSynchronizationActive()) {
            follow();
        }
    }
}
