package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the driver really sends, by its own account of every message to and from the server. */
final class PostgresRoundTripsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final OutboxEntry ENTRY = OutboxEntry.of("topic", "x");

    private final Logger driver = Logger.getLogger("org.postgresql.core.v3.QueryExecutorImpl");
    private final Traffic traffic = new Traffic();
    private final OwnerToken owner = OwnerToken.fresh();
    private Connection connection;
    private Outbox outbox;

    @BeforeEach
    void listenToTheDriver() throws SQLException {
        connection = database.unpooled().getConnection();
        outbox = database.start(Windlass.on(keeping(connection))
                        .options(database.options().withBackgroundWorkers(false).withWakeUp(false)))
                .outbox();
        driver.addHandler(traffic);
        driver.setUseParentHandlers(false);
        driver.setLevel(Level.FINEST);
    }

    @AfterEach
    void stopListening() throws SQLException {
        driver.setLevel(null);
        driver.setUseParentHandlers(true);
        driver.removeHandler(traffic);
        connection.close();
    }

    @Test
    @Shows("OBX-120")
    void everyVerbIsOneCallOfOneRoutineInOneRoundTrip() {
        oneCall("outbox_enqueue", () -> outbox.enqueue(ENTRY));
        oneCall(
                "outbox_enqueue",
                () -> outbox.enqueue(ENTRY.withOrderingKey("key").withDeduplication("once", LEASE)));
        oneCall("outbox_enqueue_all", () -> outbox.enqueueAll(Collections.nCopies(18, ENTRY)));
        List<OutboxWorkItemIdentifier> ids =
                OutboxConformance.ids(oneCall("outbox_claim", () -> outbox.claim(owner, LEASE, 100)));
        assertThat(ids).hasSize(20);

        assertThat(oneCall("outbox_heartbeat", () -> outbox.heartbeat(owner, ids, LEASE)))
                .isEqualTo(20);
        assertThat(oneCall("outbox_ack", () -> outbox.ack(owner, ids.subList(0, 8))))
                .isEqualTo(8);
        assertThat(oneCall("outbox_abandon", () -> outbox.abandon(owner, ids.subList(8, 10))))
                .isEqualTo(2);
        assertThat(oneCall("outbox_abandon", () -> outbox.abandon(owner, ids.subList(10, 12), LEASE, "busy")))
                .isEqualTo(2);
        assertThat(oneCall("outbox_release", () -> outbox.release(owner, ids.subList(12, 14))))
                .isEqualTo(2);
        assertThat(oneCall("outbox_fail", () -> outbox.fail(owner, ids.subList(14, 20), "no")))
                .isEqualTo(6);
        oneCall("outbox_reap", () -> outbox.reapExpired());
    }

    /** The beginning of the transaction travels with it. */
    @Test
    @Shows("OBX-120")
    void inTheCallersTransactionItIsOneToo() throws SQLException {
        try (Connection callers = database.unpooled().getConnection()) {
            callers.setAutoCommit(false);
            oneCall("outbox_enqueue", () -> outbox.enqueue(callers, ENTRY));
            oneCall("outbox_enqueue_all", () -> outbox.enqueueAll(callers, List.of(ENTRY, ENTRY)));
            callers.commit();
        }
    }

    private <T> T oneCall(String routine, Supplier<T> verb) {
        traffic.messages.clear();
        T result = verb.get();
        assertThat(traffic.roundTrips()).as("round trips of %s", routine).isEqualTo(1);
        assertThat(traffic.messages)
                .filteredOn(message -> message.contains("Parse(") && !message.contains("BEGIN"))
                .singleElement()
                .asString()
                .contains("\"" + routine + "\"(");
        return result;
    }

    /** Hands out one connection again and again: a pool would ask now and then whether its own are alive. */
    private static DataSource keeping(Connection connection) {
        Connection open = proxy(Connection.class, connection);
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, none) -> open);
    }

    private static <T> T proxy(Class<T> type, T real) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        return method.getName().equals("close") ? null : method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    /** The messages between the test's thread and the server. */
    private static final class Traffic extends Handler {
        private static final String TO_SERVER = "FE=>";
        private static final String FROM_SERVER = "<=BE";

        private final long thread = Thread.currentThread().getId();
        private final List<String> messages = new ArrayList<>();
        private final SimpleFormatter formatter = new SimpleFormatter();

        @Override
        public void publish(LogRecord record) {
            String message = formatter.formatMessage(record).strip();
            boolean isTraffic = message.startsWith(TO_SERVER) || message.startsWith(FROM_SERVER);
            if (Thread.currentThread().getId() == thread && isTraffic) {
                messages.add(message);
            }
        }

        /** How often the driver stopped sending, to wait for an answer. */
        long roundTrips() {
            return IntStream.range(1, messages.size())
                    .filter(i -> messages.get(i - 1).startsWith(TO_SERVER)
                            && messages.get(i).startsWith(FROM_SERVER))
                    .count();
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
