package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Node and Java work on one outbox. */
final class NodeExampleTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String STATES =
            "select string_agg(distinct status || ' ' || retry_count || ' ' || lease_expiries, ', ')"
                    + " from windlass.outbox";

    private static NodeExample node;

    private final List<Process> started = new ArrayList<>();
    private final List<Windlass> nodes = new ArrayList<>();

    @BeforeAll
    static void install() throws Exception {
        node = NodeExample.install();
    }

    @BeforeEach
    void emptyDatabase() throws SQLException {
        Run.execute("drop schema if exists windlass cascade; drop schema public cascade; create schema public");
        Windlass.on(EmbeddedPostgres.shared().dataSource()).migrator().migrate();
        Run.execute("""
                create table orders (
                    id bigint generated always as identity, customer text, cents integer check (cents > 0));
                create table invoices (
                    message_id uuid primary key, customer text, cents integer, number bigint generated always as identity)""");
    }

    @AfterEach
    void end() throws InterruptedException {
        nodes.forEach(Windlass::close);
        for (Process process : started) {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void whatNodeWritesWithAnOrderIsHandledInJava() throws Exception {
        Queue<OutboxMessage> handled = new ConcurrentLinkedQueue<>();
        nodes.add(java().outboxHandler("order.placed", handled::add).start());
        Tool.Ran placed = node.run("enqueue.js", "Ada", "1999");
        Tool.Ran refused = node.run("enqueue.js", "Bob", "0");

        assertThat(placed.exitCode()).as(placed.output()).isZero();
        assertThat(refused.exitCode()).isNotZero();
        await().atMost(PATIENCE).until(() -> !handled.isEmpty());
        OutboxMessage message = handled.element();
        assertThat(message.messageId().value()).hasToString(placed.output().strip());
        assertThat(message.payload()).isEqualTo("{\"order\":\"1\",\"customer\":\"Ada\",\"cents\":1999}");
        assertThat(message.orderingKey()).contains("customer-Ada");
        assertThat(Run.text("select string_agg(customer, ',') from orders")).isEqualTo("Ada");
        assertThat(Run.text("select count(*) from windlass.outbox")).isEqualTo("1");
    }

    @Test
    void whatJavaWritesUnderAKeyIsHandledInNodeInItsOrder() throws Exception {
        List<String> customers = IntStream.range(0, 20).mapToObj(i -> "c" + i).toList();
        start("worker.js");
        try (Windlass windlass = java().start()) {
            customers.forEach(customer -> windlass.outbox()
                    .enqueue(OutboxEntry.of("order.placed", order(customer, 5)).withOrderingKey("all")));
        }

        awaitText("select count(*) from windlass.outbox where status = 2", "20");
        assertThat(Run.text("select string_agg(customer, ',' order by number) from invoices"))
                .isEqualTo(String.join(",", customers));
    }

    @Test
    void whatCanNeverBeHandledFailsAndWhatMayWorkLaterComesAgain() throws Exception {
        start("worker.js");
        try (Windlass windlass = java().start()) {
            windlass.outbox().enqueue(OutboxEntry.of("order.placed", order("free", 0)));
            windlass.outbox().enqueue(OutboxEntry.of("order.placed", "no json"));
        }

        awaitText("select last_error from windlass.outbox where status = 3", "Error: expected a price, got: 0");
        awaitText("select count(*) from windlass.outbox where retry_count > 0 and last_error like 'SyntaxError%'", "1");
    }

    @Test
    void whatAKilledWorkerHeldIsFinishedInJava() throws Exception {
        enqueue(3);
        killWhileHolding(3);

        Queue<OutboxMessage> handled = new ConcurrentLinkedQueue<>();
        nodes.add(java().outbox(OutboxOptions.defaults().withLease(Duration.ofSeconds(2)))
                .outboxHandler("order.placed", handled::add)
                .start());
        awaitText(STATES, "2 0 1");
        assertThat(handled).hasSize(3);
    }

    @Test
    void whatAKilledWorkerHeldIsFinishedByAnotherInNode() throws Exception {
        enqueue(3);
        killWhileHolding(3);

        start("test-worker.js", "handle");
        awaitText(STATES, "2 0 1");
    }

    @Test
    void theLeaseIsRenewedWhileTheHandlerWorks() throws Exception {
        enqueue(1);
        start("test-worker.js", "hold");
        awaitText(STATES, "1 0 0");
        String first = Run.text("select locked_until from windlass.outbox");

        awaitText("select locked_until > timestamptz '" + first + "' + interval '4 s' from windlass.outbox", "t");
        assertThat(Run.text(STATES)).isEqualTo("1 0 0");
    }

    @Test
    void aWorkerThatIsAskedToStopGivesBackWhatItHoldsAndThatCostsNoAttempt() throws Exception {
        enqueue(3);
        Process worker = start("test-worker.js", "hold");
        awaitText(STATES, "1 0 0");

        stop(worker);

        assertThat(Run.text(STATES)).isEqualTo("0 0 0");
        assertThat(Run.text("select bool_and(next_attempt_at <= now()) from windlass.outbox"))
                .isEqualTo("t");
    }

    @Test
    void aWorkerThatIsAskedToStopLetsHandlersFinish() throws Exception {
        enqueue(3);
        Process worker = start("test-worker.js", "linger");
        awaitText(STATES, "1 0 0");

        stop(worker);

        assertThat(Run.text(STATES)).isEqualTo("2 0 0");
    }

    @Test
    void anOutcomeIsSaidAgainWhileSomebodyHasTheMessageLocked() throws Exception {
        enqueue(1);
        Process worker = start("test-worker.js", "linger", "30000");
        awaitText(STATES, "1 0 0");

        try (Connection other = transaction("select 1 from windlass.outbox for update")) {
            worker.destroy();
            awaitText("select count(*) > 0 from pg_stat_activity where query like '%windlass.outbox_ack(%'", "t");
            assertThat(Run.text(STATES)).isEqualTo("1 0 0");
            other.rollback();
        }

        assertThat(worker.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(Run.text(STATES)).isEqualTo("2 0 0");
    }

    @Test
    void whatAClaimTookWhoseAnswerWasLostIsGivenBackLongBeforeItsLeaseEnds() throws Exception {
        enqueue(3);
        try (Connection other = transaction("lock table windlass.outbox in access exclusive mode")) {
            start("test-worker.js", "handle", "9000"); // it waits for an answer for a third of the lease
            await().atMost(PATIENCE).until(() -> node.log("test-worker.js").contains("could not claim"));
            other.rollback();
        }

        awaitText("select count(*) from windlass.outbox where status = 2", "3");
        assertThat(Run.text(STATES)).as("no lease has run out").isEqualTo("2 0 0");
    }

    @Test
    void aProcessThatEndsInTheMiddleIsHeldAgainstTheMessageFromTheSecondTimeOn() throws Exception {
        enqueue(1);
        killWhileHolding(1);
        Process second = start("test-worker.js", "hold");
        awaitText("select started and lease_expiries = 1 from windlass.outbox", "t");
        second.destroyForcibly().waitFor();

        start("test-worker.js", "handle");
        awaitText(STATES, "2 0 2");
        assertThat(Run.text("select crashes from windlass.outbox")).isEqualTo("1");
    }

    @Test
    void theLockFileNamesNoRegistry() throws IOException {
        assertThat(Files.readString(Path.of("node/package-lock.json")).lines())
                .noneMatch(line -> line.contains("\"resolved\"") && !line.contains("https://registry.npmjs.org/"));
    }

    private static WindlassBuilder java() {
        return Windlass.on(EmbeddedPostgres.shared().dataSource());
    }

    private static void enqueue(int messages) {
        try (Windlass windlass = java().start()) {
            IntStream.range(0, messages)
                    .forEach(i -> windlass.outbox().enqueue(OutboxEntry.of("order.placed", order("c" + i, 5))));
        }
    }

    private static Connection transaction(String sql) throws SQLException {
        Connection connection = EmbeddedPostgres.shared().dataSource().getConnection();
        connection.setAutoCommit(false);
        connection.createStatement().execute(sql);
        return connection;
    }

    private static String order(String customer, int cents) {
        return "{\"order\": 1, \"customer\": \"%s\", \"cents\": %d}".formatted(customer, cents);
    }

    private Process start(String script, String... arguments) throws IOException {
        Process process = node.start(script, arguments);
        started.add(process);
        return process;
    }

    private void killWhileHolding(int messages) throws Exception {
        Process worker = start("test-worker.js", "hold");
        awaitText("select count(*) from windlass.outbox where status = 1", String.valueOf(messages));
        worker.destroyForcibly().waitFor();
    }

    private static void stop(Process worker) throws InterruptedException {
        worker.destroy();
        assertThat(worker.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(worker.exitValue()).isZero();
    }

    private static void awaitText(String sql, String expected) {
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(Run.text(sql)).isEqualTo(expected));
    }
}
