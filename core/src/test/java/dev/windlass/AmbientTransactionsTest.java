package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.AmbientTransactions;
import dev.windlass.base.TransactionEnd;
import dev.windlass.base.TransactionalWork;
import dev.windlass.base.WindlassException;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.work.WorkEntry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is written without naming a connection is a part of the transaction that the framework of the caller has open. */
final class AmbientTransactionsTest {
    private static final OutboxEntry ENTRY = OutboxEntry.of("a", "x");

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Framework framework = new Framework();

    /** As small as a framework can be: a connection bound to the thread. */
    @SuppressWarnings("ThreadLocalUsage") // one framework for each test
    private static final class Framework implements AmbientTransactions {
        final ThreadLocal<@Nullable Connection> bound = new ThreadLocal<>();
        final ThreadLocal<Set<Consumer<TransactionEnd>>> after = ThreadLocal.withInitial(LinkedHashSet::new);
        final AtomicInteger begun = new AtomicInteger();
        volatile TransactionEnd commitIs = TransactionEnd.COMMITTED;

        @Override
        public Optional<Connection> current() {
            return Optional.ofNullable(bound.get());
        }

        @Override
        public void whenEnded(Consumer<TransactionEnd> listener) {
            after.get().add(listener);
        }

        private void tell(TransactionEnd end) {
            after.get().forEach(listener -> listener.accept(end));
        }

        @Override
        public <T extends @Nullable Object, X extends Exception> T run(TransactionalWork<T, X> work) throws X {
            begun.incrementAndGet();
            Connection outer = bound.get();
            Set<Consumer<TransactionEnd>> outerListeners = after.get();
            try (Connection connection = database.dataSource().getConnection()) {
                connection.setAutoCommit(false);
                bound.set(connection);
                after.set(new LinkedHashSet<>());
                T result;
                try {
                    result = work.run(connection);
                } catch (Throwable e) {
                    connection.rollback();
                    tell(TransactionEnd.ROLLED_BACK);
                    throw e;
                } finally {
                    bound.set(outer);
                }
                connection.commit();
                tell(commitIs);
                return result;
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            } finally {
                after.set(outerListeners);
            }
        }
    }

    private static final class Undo extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @BeforeEach
    void makeOrders() throws Exception {
        database.execute("create table if not exists %s.orders (id int)");
        database.execute("truncate %s.orders");
        database.execute("grant all on %s.orders to public");
    }

    private WindlassBuilder inFramework() {
        return Windlass.on(database.dataSource()).options(database.options()).transactions(framework);
    }

    private Windlass writer() {
        return database.start(inFramework().options(database.options().withBackgroundWorkers(false)));
    }

    private static void order(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("insert into \"" + database.schema() + "\".orders values (1)");
        }
    }

    private static long rows() {
        long rows = 0;
        for (String table : List.of("orders", "outbox", "outbox_timer", "inbox", "work")) {
            rows += database.value(Long.class, "select count(*) from %s." + table);
        }
        return rows;
    }

    private static Connection writeAll(Windlass windlass, Connection connection) throws SQLException {
        order(connection);
        windlass.outbox().enqueue(ENTRY);
        windlass.outbox().enqueueAll(List.of(ENTRY, ENTRY));
        windlass.timers().schedule(TimerEntry.of("a", "x", Duration.ofDays(1)));
        windlass.inbox().enqueue(InboxEntry.of("s", "1", "a", "x"));
        windlass.workQueue().enqueue(WorkEntry.of("q", "t", "x"));
        return connection;
    }

    @Test
    void allThatIsWrittenIsCommittedWithTheTransactionOfTheFramework() throws Exception {
        Windlass windlass = writer();

        framework.run(connection -> {
            writeAll(windlass, connection);
            assertThat(rows()).isZero();
            return true;
        });

        assertThat(rows()).isEqualTo(7);
    }

    @Test
    void nothingIsLeftOfATransactionThatIsRolledBack() {
        Windlass windlass = writer();

        assertThatThrownBy(() -> framework.run(connection -> {
                    writeAll(windlass, connection);
                    throw new Undo();
                }))
                .isInstanceOf(Undo.class);

        assertThat(rows()).isZero();
    }

    @Test
    void theDispatcherIsWokenByTheCommitEvenIfNobodyListens() throws Exception {
        Queue<String> handled = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(inFramework()
                .options(database.options().withWakeUp(false).withMaxPollingInterval(Duration.ofHours(1)))
                .outbox(OutboxOptions.defaults().withPollingInterval(Duration.ofHours(1)))
                .outboxHandler("a", message -> handled.add(message.payload())));
        List<Integer> registered = new ArrayList<>();

        framework.run(connection -> {
            for (int i = 0; i < 3; i++) {
                windlass.outbox().enqueue(OutboxEntry.of("a", "" + i));
            }
            registered.add(framework.after.get().size());
            return true;
        });

        eventually().untilAsserted(() -> assertThat(handled).containsExactlyInAnyOrder("0", "1", "2"));
        assertThat(registered).containsExactly(1);
    }

    /** It may be in progress from its commit on; the lease is so long that nobody else would find it. */
    @ParameterizedTest
    @EnumSource(names = {"COMMITTED", "UNKNOWN"})
    void whatIsWrittenIsHandledWhateverTheFrameworkKnowsOfItsCommit(TransactionEnd told) throws Exception {
        Queue<String> handled = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(inFramework()
                .outbox(OutboxOptions.defaults().withLease(Duration.ofMinutes(10)))
                .outboxHandler("a", message -> handled.add(message.payload())));
        eventually()
                .until(() -> framework.run(
                        connection -> isKept(connection, windlass.outbox().enqueue(ENTRY))));
        eventually().until(() -> database.count("status <> 2") == 0);
        handled.clear();
        framework.commitIs = told;

        boolean kept =
                framework.run(connection -> isKept(connection, windlass.outbox().enqueue(OutboxEntry.of("a", "1"))));

        assertThat(kept).isTrue();
        eventually().untilAsserted(() -> assertThat(handled).containsExactly("1"));
    }

    private static boolean isKept(Connection connection, OutboxMessageIdentifier id) {
        try {
            return database.lock(connection, "outbox", "id = ? and status = 1", id.value()) == 1;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void workInATransactionHasOneOfTheFramework() throws Exception {
        Windlass windlass = writer();

        windlass.inTransaction(connection -> {
            assertThat(framework.current()).containsSame(connection);
            order(connection);
            windlass.outbox().enqueue(ENTRY);
            return true;
        });

        assertThat(rows()).isEqualTo(2);
        assertThat(framework.begun).hasValue(1);
    }

    @Test
    void workInATransactionInsideOfOneOfTheFrameworkIsAPartOfIt() {
        Windlass windlass = writer();

        framework.run(connection -> {
            windlass.inTransaction(same -> windlass.outbox().enqueue(ENTRY));
            assertThatThrownBy(() -> windlass.inTransaction(same -> {
                        windlass.outbox().enqueue(ENTRY);
                        throw new Undo();
                    }))
                    .isInstanceOf(Undo.class);
            return true;
        });

        assertThat(rows()).isEqualTo(1);
        assertThat(framework.begun).hasValue(1);
    }

    @Test
    void aTransactionThatWorkBeginsInTheFrameworkIsNoPartOfTheOneAroundIt() {
        Windlass windlass = writer();

        assertThatThrownBy(() -> windlass.inTransaction(outer -> {
                    windlass.outbox().enqueue(ENTRY);
                    framework.run(inner -> writeAll(windlass, inner));
                    windlass.outbox().enqueue(ENTRY);
                    throw new Undo();
                }))
                .isInstanceOf(Undo.class);

        assertThat(rows()).isEqualTo(7);
    }

    @Test
    void theDispatcherIsWokenByTheCommitOfAHandlerInATransaction() {
        Queue<String> handled = new ConcurrentLinkedQueue<>();
        Queue<Integer> registered = new ConcurrentLinkedQueue<>();
        List<Windlass> windlass = new CopyOnWriteArrayList<>();
        windlass.add(database.start(inFramework()
                .outboxHandler("a", message -> handled.add(message.payload()))
                .inboxHandlerInTransaction("a", (connection, message) -> {
                    windlass.get(0).outbox().enqueue(ENTRY);
                    registered.add(framework.after.get().size());
                })));

        windlass.get(0).inbox().enqueue(InboxEntry.of("s", "1", "a", "x"));

        eventually().untilAsserted(() -> assertThat(handled).containsExactly("x"));
        assertThat(registered).containsExactly(1);
    }

    @Test
    void handlersInATransactionAreInOneOfTheFramework() throws Exception {
        Queue<Boolean> joined = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(inFramework().inboxHandlerInTransaction("a", (connection, message) -> {
            joined.add(framework.current().equals(Optional.of(connection)));
            order(connection);
        }));

        windlass.inbox().enqueue(InboxEntry.of("s", "1", "a", "x"));

        eventually()
                .untilAsserted(() -> assertThat(database.value(Long.class, "select count(*) from %s.orders"))
                        .isOne());
        assertThat(joined).containsExactly(true);
    }

    @Test
    void whatWaitsForOthersIsRefusedInsideOfATransaction() {
        Windlass windlass = writer();

        framework.run(connection -> {
            assertThatThrownBy(() -> windlass.inbox().alreadyProcessed("s", "1"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("outside of a transaction");
            return true;
        });
    }

    @Test
    void whoMeansToBeInATransactionIsToldIfThereIsNone() throws Exception {
        Windlass windlass = database.start(inFramework()
                .options(database.options().withBackgroundWorkers(false).withTransactionRequired(true)));

        assertThatThrownBy(() -> windlass.outbox().enqueue(ENTRY))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("this thread is in none");
        assertThatThrownBy(() -> windlass.outbox().enqueueAll(List.of(ENTRY))).isInstanceOf(WindlassException.class);
        assertThatThrownBy(() -> windlass.timers().schedule(TimerEntry.of("a", "x", Duration.ofDays(1))))
                .isInstanceOf(WindlassException.class);
        assertThatThrownBy(() -> windlass.workQueue().enqueue(WorkEntry.of("q", "t", "x")))
                .isInstanceOf(WindlassException.class);
        assertThat(rows()).isZero();

        windlass.inbox().enqueue(InboxEntry.of("s", "1", "a", "x")); // what arrives comes from no transaction
        framework.run(connection -> windlass.outbox().enqueue(ENTRY));
        assertThat(rows()).isEqualTo(2);
    }
}
