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
 *
 * <p><b>Whose end.</b> Spring tells of ends to those who have registered while the transaction is the innermost one, and inside of it there may be
 * one of another manager: of a second database, or of a broker. So a transaction is followed from its begin, by the listener of its manager, and
 * what is known of it is bound to its connection. That of a manager that is no bean, or hides behind another, is followed from the first write.
 * If that comes inside of a transaction of another manager, nobody here is told of the end.
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
        ConnectionHolder holder = bound();
        if (holder == null ? !isInSpringsTransaction() : !mayBeJoined(holder)) {
            return Optional.empty();
        }
        if (holder == null || !isOfManager(holder)) {
            warnOfOther();
            return Optional.empty();
        }
        if (!isOfJdbc(holder) && JpaTransactions.hasEnded(dataSource)) {
            return Optional.empty();
        }
        Connection connection = holder.getConnection();
        if (connection.getAutoCommit()) {
            return Optional.empty();
        }
        requireTime(holder);
        return Optional.of(connection);
    }

    /** Of one that is followed it is known; its manager may have no synchronization. */
    private boolean mayBeJoined(ConnectionHolder holder) {
        Followed followed = followed(holder);
        return followed == null ? isInSpringsTransaction() : !followed.isCommitted;
    }

    private static boolean isInSpringsTransaction() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive(); // not after a rollback
    }

    /** As Spring does before each statement of its own. */
    private static void requireTime(ConnectionHolder holder) {
        if (holder.hasTimeout()) {
            var unused = holder.getTimeToLiveInSeconds();
        }
    }

    private @Nullable ConnectionHolder bound() {
        return TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder holder
                ? holder
                : null;
    }

    private static boolean isOfManager(ConnectionHolder holder) {
        return isOfJdbc(holder) || isOfJpa(holder);
    }

    private static boolean isOfJdbc(ConnectionHolder holder) {
        return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(IS_TRANSACTION_ACTIVE, holder));
    }

    /** The managers for JPA and Hibernate leave alone what {@code DataSourceUtils} sets when it binds a connection itself. */
    private static boolean isOfJpa(ConnectionHolder holder) {
        return !holder.isSynchronizedWithTransaction();
    }

    private static boolean isBesideAnother(ConnectionHolder holder) {
        return TransactionSynchronizationManager.getResourceMap().values().stream()
                .anyMatch(each -> each instanceof ConnectionHolder other && other != holder && isOfManager(other));
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
        ConnectionHolder holder = bound();
        if (holder == null) {
            return;
        }
        Followed followed = followed(holder);
        if (followed == null) {
            followed = follow(holder, null);
            TransactionSynchronizationManager.registerSynchronization(followed);
        }
        followed.listeners.add(listener);
    }

    private @Nullable Followed followed(ConnectionHolder holder) {
        return (Followed) TransactionSynchronizationManager.getResource(new Key(this, holder));
    }

    private Followed follow(ConnectionHolder holder, @Nullable TransactionExecution begun) {
        Followed followed = new Followed(holder, begun);
        TransactionSynchronizationManager.bindResource(followed.key, followed);
        return followed;
    }

    /** Both are compared by identity: each transaction has a holder of its own. */
    private record Key(SpringTransactions transactions, ConnectionHolder holder) {}

    /** A transaction whose end somebody wants to know. Told before all others, who may take their time and may write something themselves. */
    private final class Followed implements TransactionSynchronization {
        private final Key key;
        private final @Nullable TransactionExecution begun;
        private final Set<Consumer<TransactionEnd>> listeners = new LinkedHashSet<>();
        private boolean isCommitted;

        /**
         * @param begun null if it was begun by a manager that tells nothing
         */
        Followed(ConnectionHolder holder, @Nullable TransactionExecution begun) {
            this.key = new Key(SpringTransactions.this, holder);
            this.begun = begun;
        }

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }

        @Override
        public void afterCommit() {
            isCommitted = true;
            tell(TransactionEnd.COMMITTED);
        }

        @Override
        public void afterCompletion(int status) {
            end(
                    switch (status) {
                        case STATUS_COMMITTED -> isCommitted ? TransactionEnd.COMMITTED : late();
                        case STATUS_ROLLED_BACK -> TransactionEnd.ROLLED_BACK;
                        default -> TransactionEnd.UNKNOWN;
                    });
        }

        void end(TransactionEnd end) {
            TransactionSynchronizationManager.unbindResourceIfPossible(key);
            if (!isCommitted) {
                tell(end);
            }
        }

        /**
         * Nobody was told of the commit, so this was registered after it: all that is followed here was written by a listener, and nobody else
         * commits that. One that is followed from its begin is always told. But if a transaction of another database is there as well, it may be
         * the one that has ended, and ours is left to its manager.
         */
        private TransactionEnd late() {
            if (isBesideAnother(key.holder)) {
                return TransactionEnd.UNKNOWN;
            }
            try {
                key.holder.getConnection().commit();
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

    /** Also if nothing is written in it: a listener that is called after its commit may be the first who writes something. */
    @Override
    public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
        Followed followed = failure == null ? followFrom(transaction) : null;
        if (followed != null && TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(followed);
        }
    }

    private @Nullable Followed followFrom(TransactionExecution transaction) {
        ConnectionHolder holder = transaction.isNewTransaction() ? bound() : null;
        return holder == null || !isOfManager(holder) || followed(holder) != null ? null : follow(holder, transaction);
    }

    /** Without synchronization nobody else tells; with it, this is known already. */
    @Override
    public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
        ended(transaction, failure == null ? TransactionEnd.COMMITTED : TransactionEnd.UNKNOWN);
    }

    @Override
    public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
        ended(transaction, failure == null ? TransactionEnd.ROLLED_BACK : TransactionEnd.UNKNOWN);
    }

    /** While one of another manager goes on inside of it. */
    void isOpenFor(TransactionExecution inner) {
        var unused = followFrom(inner);
    }

    void ended(TransactionExecution transaction, TransactionEnd end) {
        ConnectionHolder holder = bound();
        Followed followed = holder == null ? null : followed(holder);
        if (followed != null && followed.begun == transaction) {
            followed.end(end);
        }
    }
}
