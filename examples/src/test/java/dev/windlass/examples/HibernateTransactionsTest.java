package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.TransactionEnd;
import dev.windlass.base.WindlassException;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.testkit.WindlassExtension;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.RollbackException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.hibernate.context.internal.ManagedSessionContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Messages and entities of Hibernate are committed together, without Spring. */
final class HibernateTransactionsTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final OutboxEntry MESSAGE = OutboxEntry.of("order.placed", "7");
    private final Queue<String> handled = new ConcurrentLinkedQueue<>();
    private SessionFactory sessions;

    @Entity(name = "purchase")
    static class Purchase {
        @Id
        long id;

        Purchase() {}

        Purchase(long id) {
            this.id = id;
        }
    }

    @BeforeEach
    void openSessions() {
        sessions = new Configuration()
                .addAnnotatedClass(Purchase.class)
                .setProperty("hibernate.current_session_context_class", "managed")
                .setProperty("hibernate.hbm2ddl.auto", "create-drop")
                .setProperty("hibernate.default_schema", database.schema())
                .addProperties(withDataSource())
                .buildSessionFactory();
    }

    private static Properties withDataSource() {
        Properties properties = new Properties();
        properties.put("hibernate.connection.datasource", database.dataSource());
        return properties;
    }

    @AfterEach
    void closeSessions() {
        sessions.close();
    }

    private WindlassBuilder builder() {
        WindlassBuilder builder = database.windlass();
        // tag::build
        builder.transactions(new HibernateTransactions(sessions));
        // end::build
        return builder.outboxHandler("order.placed", message -> handled.add(message.payload()));
    }

    /** As a program does it that knows nothing of Windlass. */
    private void inTransaction(Consumer<Session> work) {
        try (Session session = sessions.openSession()) {
            ManagedSessionContext.bind(session);
            session.beginTransaction();
            try {
                work.accept(session);
                session.getTransaction().commit();
            } catch (RuntimeException e) {
                session.getTransaction().rollback();
                throw e;
            }
        } finally {
            ManagedSessionContext.unbind(sessions);
        }
    }

    private long purchases() {
        return sessions.fromSession(session -> session.createSelectionQuery("select count(*) from purchase", Long.class)
                .getSingleResult());
    }

    private static String messages() throws SQLException {
        return Run.text("select count(*) from \"" + database.schema() + "\".outbox");
    }

    @Test
    void anEntityAndItsMessageAreCommittedTogether() throws Exception {
        Windlass windlass = database.start(builder());

        inTransaction(session -> {
            session.persist(new Purchase(7));
            OutboxMessageIdentifier id = windlass.outbox().enqueue(MESSAGE);
            assertThat(windlass.outbox().find(id)).isPresent();
            assertThatNobodyElseSeesIt();
        });

        await().untilAsserted(() -> assertThat(handled).containsExactly("7"));
        assertThat(purchases()).isOne();
    }

    private static void assertThatNobodyElseSeesIt() {
        try {
            assertThat(messages()).isEqualTo("0");
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void nothingIsSentIfTheTransactionIsRolledBack() throws Exception {
        Windlass windlass = database.start(builder());

        assertThatThrownBy(() -> inTransaction(session -> {
                    session.persist(new Purchase(7));
                    windlass.outbox().enqueue(MESSAGE);
                    throw new IllegalStateException("out of stock");
                }))
                .hasMessage("out of stock");

        assertThat(messages()).isEqualTo("0");
        assertThat(purchases()).isZero();
    }

    @Test
    void nothingIsSentByATransactionThatCanOnlyBeRolledBack() throws Exception {
        Windlass windlass = database.start(builder());

        inTransaction(session -> {
            session.getTransaction().setRollbackOnly();
            windlass.outbox().enqueue(MESSAGE);
        });
        assertThatThrownBy(() -> windlass.inTransaction(connection -> {
                    sessions.getCurrentSession().getTransaction().setRollbackOnly();
                    return windlass.outbox().enqueue(MESSAGE);
                }))
                .isInstanceOf(RollbackException.class);

        assertThat(messages()).isEqualTo("0");
    }

    @Test
    void theCommitWakesTheHandlersOfThisProcess() {
        Duration never = Duration.ofHours(1);
        Windlass windlass = database.start(builder()
                .options(database.options().withWakeUp(false).withMaxPollingInterval(never))
                .outbox(OutboxOptions.defaults().withPollingInterval(never)));

        inTransaction(session -> windlass.outbox().enqueue(MESSAGE));

        await().untilAsserted(() -> assertThat(handled).containsExactly("7"));
    }

    @Test
    void tellsHowATransactionHasEnded() {
        HibernateTransactions transactions = new HibernateTransactions(sessions);
        List<TransactionEnd> told = new ArrayList<>();

        inTransaction(session -> {
            transactions.whenEnded(told::add);
            assertThat(told).isEmpty();
        });
        inTransaction(session -> {
            transactions.whenEnded(told::add);
            session.getTransaction().setRollbackOnly();
        });

        assertThat(told).containsExactly(TransactionEnd.COMMITTED, TransactionEnd.ROLLED_BACK);
    }

    @Test
    void whatIsWrittenAfterTheCommitHasATransactionOfItsOwn() {
        Windlass windlass = database.start(builder());

        inTransaction(session -> session.getTransaction()
                .runAfterCompletion(status -> windlass.outbox().enqueue(MESSAGE)));

        await().untilAsserted(() -> assertThat(handled).containsExactly("7"));
    }

    @Test
    void withoutATransactionAMessageHasItsOwn() {
        Windlass windlass = database.start(builder());

        windlass.outbox().enqueue(MESSAGE);
        try (Session idle = sessions.openSession()) {
            ManagedSessionContext.bind(idle);
            windlass.outbox().enqueue(MESSAGE);
        } finally {
            ManagedSessionContext.unbind(sessions);
        }

        await().untilAsserted(() -> assertThat(handled).containsExactly("7", "7"));
    }

    @Test
    void aTransactionOfWindlassIsOneOfHibernate() throws Exception {
        Windlass windlass = database.start(builder());

        // tag::write
        windlass.inTransaction(connection -> {
            sessions.getCurrentSession().persist(new Purchase(7));
            return windlass.outbox().enqueue(OutboxEntry.of("order.placed", "7"));
        });
        // end::write
        assertThatThrownBy(() -> windlass.inTransaction(connection -> {
                    sessions.getCurrentSession().persist(new Purchase(8));
                    windlass.outbox().enqueue(MESSAGE);
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");

        assertThat(purchases()).isOne();
        assertThat(messages()).isEqualTo("1");
        assertThat(ManagedSessionContext.hasBind(sessions)).isFalse();
    }

    @Test
    void aHandlerInATransactionWritesEntities() {
        Windlass windlass = database.start(builder().inboxHandlerInTransaction("purchase", (connection, message) -> {
            sessions.getCurrentSession().persist(new Purchase(Long.parseLong(message.payload())));
        }));

        windlass.inbox().enqueue(InboxEntry.of("shop", "1", "purchase", "9"));

        await().untilAsserted(() -> assertThat(purchases()).isOne());
    }

    @Test
    void aMessageWithoutATransactionIsRefusedIfOneIsRequired() throws Exception {
        Windlass windlass = database.start(builder().options(database.options().withTransactionRequired(true)));

        assertThatThrownBy(() -> windlass.outbox().enqueueAll(List.of(MESSAGE)))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("this thread is in none");
        assertThat(messages()).isEqualTo("0");

        inTransaction(session -> windlass.outbox().enqueue(MESSAGE));
        await().untilAsserted(() -> assertThat(handled).containsExactly("7"));
    }
}
