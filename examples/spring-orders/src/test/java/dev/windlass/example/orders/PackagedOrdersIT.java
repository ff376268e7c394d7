package dev.windlass.example.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import tools.jackson.databind.JsonNode;

/** The executable jar, configured as in production, seen from outside. */
final class PackagedOrdersIT {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final DataSource DATABASE = SERVER.dataSource();
    private static final JdbcClient SQL = JdbcClient.create(DATABASE);
    private static Instance first;

    @BeforeAll
    static void start() throws IOException {
        first = Instance.start("first", Instance.jar(), environment(Map.of("ORDERS_REPORT_CRON", "* * * * * *")));
    }

    private static Map<String, String> environment(Map<String, String> more) {
        Map<String, String> all = new HashMap<>(more);
        all.put("SPRING_PROFILES_ACTIVE", "production");
        all.put("DATABASE_URL", SERVER.jdbcUrl());
        all.put("DATABASE_USER", SERVER.user());
        all.put("DATABASE_POOL", "12");
        return all;
    }

    @AfterAll
    static void stop() {
        first.close();
    }

    private static ConditionFactory eventually() {
        return await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(50));
    }

    private static String place(Instance instance) {
        return instance.post("/orders", Map.of("customer", "ada@example.org", "item", "a lamp", "cents", 4200))
                .get("id")
                .asString();
    }

    private static boolean pay(String messageId, String order) {
        return first.post("/payments", Map.of("messageId", messageId, "order", order, "cents", 4200))
                .get("isNew")
                .asBoolean();
    }

    private static List<String> mails(Instance instance, String order) {
        List<String> texts = new ArrayList<>();
        instance.get("/orders/" + order + "/mails").forEach(mail -> texts.add(mail.asString()));
        return texts;
    }

    private static long count(String from, Object... params) {
        return SQL.sql("select count(*) from " + from)
                .params(List.of(params))
                .query(Long.class)
                .single();
    }

    private static long reminders(String order) {
        return count("windlass.outbox_timer where topic = 'order.unpaid' and payload like ?", "%" + order + "%");
    }

    @Test
    void anOrderIsConfirmedByMail() {
        String order = place(first);

        eventually()
                .untilAsserted(
                        () -> assertThat(mails(first, order)).containsExactly("Thank you for your order: a lamp"));
    }

    @Test
    void aPaymentThatIsToldTwiceCountsOnceAndEndsTheReminder() {
        String order = place(first);
        assertThat(reminders(order)).isOne();

        assertThat(pay("bank-7", order)).isTrue();
        assertThat(pay("bank-7", order)).isFalse();

        eventually().until(() -> first.get("/orders/" + order).get("paid").asBoolean());
        assertThat(reminders(order)).isZero();
        eventually()
                .untilAsserted(() -> assertThat(mails(first, order))
                        .containsExactlyInAnyOrder(
                                "Thank you for your order: a lamp", "We have received your payment"));
        assertThat(count("windlass.outbox where topic = 'order.paid' and payload like ?", "%" + order + "%"))
                .isOne();
    }

    @Test
    void aPaymentForNoOrderIsADeadLetterAtOnce() {
        String nobody = UUID.randomUUID().toString();

        pay("bank-8", nobody);

        eventually()
                .until(() -> count(
                                "windlass.inbox where topic = 'payment.received' and status = 3 and last_error like ?",
                                "%there is no order " + nobody + "%")
                        == 1);
    }

    @Test
    void anInvoiceTellsItsProgressAndItsText() {
        String order = place(first);
        String invoice = first.post("/orders/" + order + "/invoice", Map.of())
                .get("invoice")
                .asString();

        eventually()
                .until(() -> first.get("/invoices/" + invoice)
                        .get("status")
                        .asString()
                        .equals("DONE"));
        JsonNode done = first.get("/invoices/" + invoice);
        assertThat(done.get("progress").asInt()).isEqualTo(100);
        assertThat(done.get("text").asString()).isEqualTo("Invoice for ada@example.org: a lamp, 4200 cents");
    }

    @Test
    void theReportComesByItself() {
        eventually().until(() -> !first.get("/reports").isEmpty());
    }

    @Test
    void healthIsUpAndMetricsAreThere() {
        eventually()
                .until(() ->
                        first.get("/actuator/health").get("status").asString().equals("UP"));
        assertThat(first.get("/actuator/health/liveness").get("status").asString())
                .isEqualTo("UP");
        assertThat(first.get("/actuator/health/readiness").get("status").asString())
                .isEqualTo("UP");
        place(first);
        eventually()
                .untilAsserted(() -> assertThat(first.text("/actuator/prometheus"))
                        .contains("windlass_handled_seconds_count")
                        .contains("topic=\"order.placed\""));
    }

    @Test
    void aSecondInstanceSharesTheWorkAndFinishesItsOwnWhenItIsToldToEnd() throws Exception {
        assertThat(first.isReady()).isTrue();
        try (Instance second = Instance.start("second", Instance.jarInLayers(), environment(Map.of()))) {
            eventually().until(() -> {
                place(second);
                return count("windlass.outbox where topic = 'order.placed' and processed_by = 'second'") > 0
                        && count("windlass.outbox where topic = 'order.placed' and processed_by = 'first'") > 0;
            });

            List<String> orders = new ArrayList<>();
            try (Connection lock = DATABASE.getConnection()) {
                lock.setAutoCommit(false);
                holdBackMails(lock);
                eventually().until(() -> {
                    orders.add(place(second));
                    return isWaitingInAHandler("second");
                });
                second.terminate();
                eventually().until(() -> !second.isReady());
                lock.rollback(); // now its handlers can go on
            }

            assertThat(second.awaitExit()).isIn(0, 143);
            assertThat(second.log()).contains("[windlass] stopped").doesNotContain("asked to stop");
            assertThat(orders)
                    .anySatisfy(order -> assertThat(count(
                                    "windlass.outbox where payload like ? and status = 2 and processed_by = 'second'",
                                    "%" + order + "%"))
                            .isOne());
            eventually()
                    .untilAsserted(() -> assertThat(orders)
                            .allSatisfy(order -> assertThat(mails(first, order)).hasSize(1)));
            assertThat(count("windlass.outbox where retry_count > 0 or lease_expiries > 0"))
                    .isZero();
        }
    }

    /** Handlers that send one wait from now on, until the transaction ends. */
    private static void holdBackMails(Connection connection) throws SQLException {
        JdbcClient.create(new SingleConnectionDataSource(connection, true))
                .sql("lock table mails in share mode")
                .update();
    }

    private static boolean isWaitingInAHandler(String node) {
        return count(
                        "pg_stat_activity where application_name = ? and wait_event_type = 'Lock' and query like 'insert into mails%'",
                        node)
                > 0;
    }
}
