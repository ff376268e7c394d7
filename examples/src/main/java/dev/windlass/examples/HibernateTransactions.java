package dev.windlass.examples;

import dev.windlass.base.AmbientTransactions;
import dev.windlass.base.TransactionEnd;
import dev.windlass.base.TransactionalWork;
import jakarta.persistence.RollbackException;
import java.sql.Connection;
import java.util.Optional;
import java.util.function.Consumer;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.Transaction;
import org.hibernate.context.internal.ManagedSessionContext;
import org.hibernate.resource.transaction.spi.TransactionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The transactions of Hibernate without a framework around it. The session of a thread is the one that is bound to it: set
 * {@code hibernate.current_session_context_class} to {@code managed}.
 */
// tag::hibernate
public final class HibernateTransactions implements AmbientTransactions {
    private final SessionFactory sessions;

    public HibernateTransactions(SessionFactory sessions) {
        this.sessions = sessions;
    }

    @Override
    public Optional<Connection> current() {
        if (!ManagedSessionContext.hasBind(sessions)) { // to ask for the session would be an error
            return Optional.empty();
        }
        Session session = sessions.getCurrentSession();
        return isOpen(session.getTransaction()) ? Optional.of(connection(session)) : Optional.empty();
    }

    /** Also one that can only be rolled back: what is written in it must not stay. */
    private static boolean isOpen(Transaction transaction) {
        TransactionStatus status = transaction.getStatus();
        return status == TransactionStatus.ACTIVE || status == TransactionStatus.MARKED_ROLLBACK;
    }

    private static Connection connection(Session session) {
        return session.doReturningWork(connection -> connection);
    }

    @Override
    public void whenEnded(Consumer<TransactionEnd> listener) {
        sessions.getCurrentSession()
                .getTransaction()
                .runAfterCompletion(status -> listener.accept(
                        switch (status) {
                            case COMMITTED -> TransactionEnd.COMMITTED;
                            case ROLLED_BACK -> TransactionEnd.ROLLED_BACK;
                            default -> TransactionEnd.UNKNOWN;
                        }));
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T run(TransactionalWork<T, X> work) throws X {
        Session before = ManagedSessionContext.unbind(sessions); // one without a transaction, if there is one
        try (Session session = sessions.openSession()) {
            ManagedSessionContext.bind(session);
            return run(session, work);
        } finally {
            ManagedSessionContext.unbind(sessions);
            if (before != null) {
                ManagedSessionContext.bind(before);
            }
        }
    }

    private static <T extends @Nullable Object, X extends Exception> T run(
            Session session, TransactionalWork<T, X> work) throws X {
        Transaction transaction = session.beginTransaction();
        T result;
        try {
            result = work.run(connection(session));
            if (transaction.getRollbackOnly()) { // to commit would roll back, and tell nobody
                throw new RollbackException("the transaction can only be rolled back");
            }
        } catch (Throwable e) {
            rollBack(transaction, e);
            throw e;
        }
        transaction.commit();
        return result;
    }

    private static void rollBack(Transaction transaction, Throwable cause) {
        try {
            transaction.rollback();
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }
}
// end::hibernate
