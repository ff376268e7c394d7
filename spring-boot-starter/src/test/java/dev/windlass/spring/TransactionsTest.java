package dev.windlass.spring;

import static dev.windlass.spring.Contexts.count;
import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassException;
import dev.windlass.inbox.Inbox;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

/** What is written in a transaction of Spring's is a part of it: here one of JPA. */
final class TransactionsTest {
    private static final OutboxEntry ENTRY = OutboxEntry.of("order.placed", "1");
    private static ConfigurableApplicationContext context;

    @Entity(name = "orders")
    static class Order {
        @Id
        long id;

        Order() {}

        Order(long id) {
            this.id = id;
        }
    }

    record Placed(String phase) {}

    @SpringBootApplication(proxyBeanMethods = false)
    @EntityScan(basePackageClasses = TransactionsTest.class)
    static class Shop {
        final Queue<String> handled = new ConcurrentLinkedQueue<>();

        @Bean
        Orders orders(EntityManager entities, Outbox outbox) {
            return new Orders(entities, outbox);
        }

        @OnOutbox("order.placed")
        void handle(String payload) {
            handled.add(payload);
        }
    }

    static class Orders {
        private final EntityManager entities;
        private final Outbox outbox;

        Orders(EntityManager entities, Outbox outbox) {
            this.entities = entities;
            this.outbox = outbox;
        }

        @Transactional
        public void place(long id) {
            entities.persist(new Order(id));
            outbox.enqueue(ENTRY);
        }

        @Transactional
        public void fail(long id) {
            place(id);
            throw new IllegalStateException("out of stock");
        }

        @TransactionalEventListener(phase = TransactionPhase.AFTER_COMMIT)
        public void committed(Placed placed) {
            outbox.enqueue(OutboxEntry.of("order.placed", placed.phase + " committed"));
        }

        @TransactionalEventListener(phase = TransactionPhase.AFTER_ROLLBACK)
        public void rolledBack(Placed placed) {
            outbox.enqueue(OutboxEntry.of("order.placed", placed.phase + " rolled back"));
        }
    }

    @BeforeAll
    static void start() {
        context = Contexts.start(Shop.class, "spring.jpa.hibernate.ddl-auto=create");
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void clear() {
        jdbc().update("delete from orders");
        eventually().until(() -> count(context, "outbox where status in (0, 1)") == 0);
        jdbc().update("delete from " + context.getEnvironment().getProperty("windlass.schema") + ".outbox");
        shop().handled.clear();
    }

    private static JdbcTemplate jdbc() {
        return context.getBean(JdbcTemplate.class);
    }

    private static Shop shop() {
        return context.getBean(Shop.class);
    }

    private static Orders orders() {
        return context.getBean(Orders.class);
    }

    private static Outbox outbox() {
        return context.getBean(Outbox.class);
    }

    private static TransactionTemplate transaction() {
        return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
    }

    private static long ordersStored() {
        Long stored = jdbc().queryForObject("select count(*) from orders", Long.class);
        return stored == null ? 0 : stored;
    }

    @Test
    void anOrderAndItsMessageAreCommittedTogether() {
        orders().place(1);

        eventually().untilAsserted(() -> assertThat(shop().handled).containsExactly("1"));
        assertThat(ordersStored()).isOne();
    }

    @Test
    void nothingIsSentIfTheTransactionIsRolledBack() {
        assertThatThrownBy(() -> orders().fail(2)).hasMessage("out of stock");

        assertThat(ordersStored()).isZero();
        assertThat(count(context, "outbox")).isZero();
    }

    @Test
    void nobodySeesTheMessageBeforeTheCommit() {
        transaction().executeWithoutResult(status -> {
            outbox().enqueue(ENTRY);
            assertThat(count(context, "outbox")).isOne(); // on the connection of the transaction
            TransactionTemplate other = transaction();
            other.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            other.executeWithoutResult(
                    inner -> assertThat(count(context, "outbox")).isZero());
        });

        eventually().untilAsserted(() -> assertThat(shop().handled).containsExactly("1"));
    }

    @Test
    void aTransactionInsideOfAnotherHasItsOwnMessages() {
        transaction().executeWithoutResult(status -> {
            TransactionTemplate inner = transaction();
            inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            inner.executeWithoutResult(its -> outbox().enqueue(OutboxEntry.of("order.placed", "inner")));
            outbox().enqueue(OutboxEntry.of("order.placed", "outer"));
            status.setRollbackOnly();
        });

        eventually().untilAsserted(() -> assertThat(shop().handled).containsExactly("inner"));
        assertThat(count(context, "outbox")).isOne();
    }

    @Test
    void whatIsWrittenAfterTheEndOfATransactionIsNotLost() {
        transaction().executeWithoutResult(status -> context.publishEvent(new Placed("it")));
        transaction().executeWithoutResult(status -> {
            context.publishEvent(new Placed("it"));
            status.setRollbackOnly();
        });

        eventually()
                .untilAsserted(
                        () -> assertThat(shop().handled).containsExactlyInAnyOrder("it committed", "it rolled back"));
    }

    /** As soon as it is known that nothing else is ready. */
    @Test
    void aMessageOfATransactionIsKeptByTheNodeThatWritesIt() {
        eventually().until(() -> Boolean.TRUE.equals(transaction().execute(status -> isKept())));

        eventually().until(() -> count(context, "outbox where status <> 2") == 0);
        assertThat(shop().handled).hasSize((int) count(context, "outbox"));
    }

    private static boolean isKept() {
        String schema = context.getEnvironment().getProperty("windlass.schema");
        UUID id = outbox().enqueue(ENTRY).value();
        return Boolean.TRUE.equals(
                jdbc().queryForObject("select status = 1 from " + schema + ".outbox where id = ?", Boolean.class, id));
    }

    @Test
    void withoutATransactionAMessageHasItsOwn() {
        outbox().enqueue(ENTRY);

        eventually().untilAsserted(() -> assertThat(shop().handled).containsExactly("1"));
    }

    @Test
    void workInATransactionOfWindlassIsInOneOfSpring() {
        context.getBean(Windlass.class).inTransaction(connection -> {
            orders().place(7);
            return true;
        });

        assertThat(ordersStored()).isOne();
        assertThatThrownBy(() -> context.getBean(Windlass.class).inTransaction(connection -> {
                    orders().place(8);
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        assertThat(ordersStored()).isOne();
    }

    /** In one of Windlass's. */
    private static void undone(Runnable work) {
        assertThatThrownBy(() -> context.getBean(Windlass.class).inTransaction(connection -> {
                    work.run();
                    throw new IllegalStateException("undone");
                }))
                .hasMessage("undone");
    }

    @Test
    void aTransactionInsideOfOneOfWindlassHasItsOwnMessages() {
        TransactionTemplate inner = transaction();
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

        undone(() -> {
            outbox().enqueue(OutboxEntry.of("order.placed", "before"));
            inner.executeWithoutResult(status -> outbox().enqueue(OutboxEntry.of("order.placed", "inner")));
            inner.executeWithoutResult(status -> {
                outbox().enqueue(OutboxEntry.of("order.placed", "inner undone"));
                status.setRollbackOnly();
            });
            outbox().enqueue(OutboxEntry.of("order.placed", "after"));
        });

        eventually().untilAsserted(() -> assertThat(shop().handled).containsExactly("inner"));
        assertThat(count(context, "outbox")).isOne();
    }

    @Test
    void whatIsWrittenWhileATransactionOfWindlassIsSuspendedIsNoPartOfIt() {
        TransactionTemplate suspending = transaction();
        suspending.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);

        undone(() -> {
            orders().place(9);
            suspending.executeWithoutResult(status -> outbox().enqueue(OutboxEntry.of("order.placed", "apart")));
        });

        eventually().untilAsserted(() -> assertThat(shop().handled).containsExactly("apart"));
        assertThat(count(context, "outbox")).isOne();
        assertThat(ordersStored()).isZero();
    }

    @Test
    void whatWaitsForOthersIsRefusedInATransaction() {
        transaction()
                .executeWithoutResult(status -> assertThatThrownBy(
                                () -> context.getBean(Inbox.class).alreadyProcessed("bank", "1"))
                        .hasMessageContaining("outside of a transaction"));
    }

    @Test
    void aTransactionCanBeRequired() {
        try (ConfigurableApplicationContext strict = Contexts.start(Shop.class, "windlass.transaction-required=true")) {
            assertThatThrownBy(() -> strict.getBean(Outbox.class).enqueue(ENTRY))
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining("this thread is in none");

            new TransactionTemplate(strict.getBean(PlatformTransactionManager.class))
                    .executeWithoutResult(status -> strict.getBean(Outbox.class).enqueue(ENTRY));

            eventually()
                    .untilAsserted(
                            () -> assertThat(strict.getBean(Shop.class).handled).containsExactly("1"));
        }
    }

    @Test
    void aPoolWithoutAutoCommitLosesNothing() {
        try (ConfigurableApplicationContext manual = Contexts.start(
                Shop.class,
                "spring.datasource.hikari.auto-commit=false",
                "spring.jpa.properties.hibernate.connection.provider_disables_autocommit=true")) {
            TransactionTemplate transaction = new TransactionTemplate(manual.getBean(PlatformTransactionManager.class));
            manual.getBean(Orders.class).place(21);
            assertThatThrownBy(() -> manual.getBean(Orders.class).fail(22)).hasMessage("out of stock");
            transaction.executeWithoutResult(status -> manual.publishEvent(new Placed("it")));
            transaction.executeWithoutResult(status -> {
                manual.publishEvent(new Placed("it"));
                status.setRollbackOnly();
            });
            manual.getBean(Outbox.class).enqueue(OutboxEntry.of("order.placed", "alone"));

            eventually()
                    .untilAsserted(() -> assertThat(manual.getBean(Shop.class).handled)
                            .containsExactlyInAnyOrder("1", "it committed", "it rolled back", "alone"));
        }
    }
}
