package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.base.WindlassException;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.TimerEntry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

/** On a data source that gives the connection of the transaction that is open, a transaction is committed by its manager alone. */
final class TransactionManagerTest {
    private static final OutboxEntry ENTRY = OutboxEntry.of("a", "x");

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final TransactionAwareDataSourceProxy following =
            new TransactionAwareDataSourceProxy(database.dataSource());
    private final JdbcTemplate jdbc = new JdbcTemplate(database.dataSource());
    private final TransactionTemplate transaction =
            new TransactionTemplate(new DataSourceTransactionManager(database.dataSource()));
    private final String orders = "\"" + database.schema() + "\".orders";

    private static final class Undo extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @BeforeEach
    void makeOrders() throws Exception {
        database.execute("create table if not exists %s.orders (id int)");
        database.execute("truncate %s.orders");
        database.execute("grant all on %s.orders to public");
    }

    private WindlassBuilder on(javax.sql.DataSource source) {
        return Windlass.on(source).options(database.options());
    }

    private long rows() {
        return database.count("true")
                + database.value(Long.class, "select count(*) from %s.orders")
                + database.value(Long.class, "select count(*) from %s.outbox_timer");
    }

    @Test
    void anOrderAndItsMessageAreCommittedTogetherOrNotAtAll() {
        Windlass windlass =
                database.start(on(following).options(database.options().withBackgroundWorkers(false)));

        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    order(windlass);
                    throw new Undo();
                }))
                .isInstanceOf(Undo.class);
        assertThat(rows()).isZero();

        transaction.executeWithoutResult(status -> {
            order(windlass);
            assertThat(rows()).as("seen by others").isZero();
        });
        assertThat(rows()).isEqualTo(7);
    }

    private void order(Windlass windlass) {
        jdbc.update("insert into " + orders + " values (1)");
        windlass.outbox().enqueue(ENTRY);
        windlass.outbox().enqueueAll(List.of(ENTRY, ENTRY));
        windlass.timers().schedule(TimerEntry.of("a", "x", Duration.ofHours(1)));
        windlass.inTransaction(connection -> windlass.outbox().enqueue(connection, ENTRY));
        windlass.inTransaction(connection -> windlass.outbox().enqueue(ENTRY));
    }

    @Test
    void aMessageWrittenFirstInATransactionIsAPartOfItToo() {
        Windlass windlass =
                database.start(on(following).options(database.options().withBackgroundWorkers(false)));

        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    windlass.outbox().enqueue(ENTRY);
                    throw new Undo();
                }))
                .isInstanceOf(Undo.class);

        assertThat(rows()).isZero();
    }

    @Test
    void nodesOnSuchADataSourceWorkAsOnAnyOther() {
        ConcurrentLinkedQueue<String> handled = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(on(following).outboxHandler("a", message -> handled.add(message.payload())));

        transaction.executeWithoutResult(status -> windlass.outbox().enqueue(ENTRY));

        eventually().until(() -> handled.contains("x"));
    }

    @Test
    void whatNeedsATransactionOfItsOwnIsRefusedInsideOfOneAndSaysSo() {
        Windlass windlass =
                database.start(on(following).options(database.options().withBackgroundWorkers(false)));

        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    jdbc.update("insert into " + orders + " values (1)");
                    windlass.leases().tryAcquire("name", Duration.ofMinutes(1));
                }))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("it needs a transaction of its own")
                .hasMessageContaining("call it outside of that");
        assertThat(rows()).isZero();
        assertThat(windlass.leases().tryAcquire("name", Duration.ofMinutes(1))).isPresent();
    }

    @Test
    void aPoolWhoseConnectionsHaveAutoCommitOffIsUsedAsBefore() {
        try (HikariDataSource pool = withoutAutoCommit()) {
            Windlass windlass =
                    database.start(on(pool).options(database.options().withBackgroundWorkers(false)));
            windlass.outbox().enqueue(ENTRY);
            windlass.inTransaction(connection -> windlass.outbox().enqueue(connection, ENTRY));
            assertThat(rows()).isEqualTo(2);
            windlass.close();
        }
    }

    /** From such a connection nobody can tell whether a transaction is open. */
    @Test
    void suchAPoolBehindADataSourceThatFollowsTransactionsIsRefusedAtTheStart() {
        try (HikariDataSource pool = withoutAutoCommit()) {
            assertThatThrownBy(
                            () -> on(new TransactionAwareDataSourceProxy(pool)).start())
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining("give Windlass the pool itself");
        }
    }

    private static HikariDataSource withoutAutoCommit() {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSource(database.unpooled());
        pool.setAutoCommit(false);
        pool.setMaximumPoolSize(3);
        return pool;
    }
}
