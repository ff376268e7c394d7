package dev.windlass.cli.demo;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.PermanentFailure;
import dev.windlass.join.FollowUp;
import dev.windlass.join.JoinEntry;
import dev.windlass.operator.TopicLimit;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Overlap;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.work.WorkContext;
import dev.windlass.work.WorkEntry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/**
 * Orders, and what follows from them: at once, when two steps have ended by a join, some seconds later by a timer, and every ten
 * seconds by a job. Some customers want a report, which takes a while: that is for the work queue.
 */
public final class Shop {
    private static final Duration REVIEW_AFTER = Duration.ofSeconds(5);
    private static final int FAX_EVERY = 25;
    private static final Duration COUNT_EVERY = Duration.ofSeconds(10);
    private static final int REPORT_EVERY = 14;
    private static final int CUSTOMERS = 5;
    private static final int PAGES = 12;
    private static final int PAGE_MILLIS = 500;

    private final DataSource dataSource;
    private final String table;
    private final String run = UUID.randomUUID().toString();
    final Tally tally = new Tally();

    /** A shop that keeps its orders in this table, whose name comes quoted. */
    public Shop(DataSource dataSource, String table) {
        this.dataSource = dataSource;
        this.table = table;
    }

    public void addHandlers(WindlassBuilder builder) {
        builder.outboxHandler("order.placed", message -> counted(message, this::confirm))
                .outboxHandler("mail.send", message -> counted(message, Shop::sendMail))
                .outboxHandler("fax.send", message -> counted(message, Shop::sendFax))
                .outboxHandler("parcel.send", message -> tally.handled.increment())
                .outboxHandler("review.ask", message -> tally.asked.increment())
                .outboxHandler("till.count", message -> tally.counts.increment())
                .workHandler("reports", "report.write", (item, context) -> writeReport(context))
                .jobs(JobSet.of("demo", 1)
                        .with(Job.every("count-the-till", COUNT_EVERY)
                                .withTopic("till.count")
                                .withOverlap(Overlap.SKIP)
                                .withMisfire(Misfire.skip())));
    }

    /** Three reports at once, and one of each customer: over all nodes that open the shop. */
    static void limitReports(Windlass windlass) {
        windlass.workQueue()
                .operator("demo")
                .limit("reports", TopicLimit.none().withRunning(3).withPerKey(1));
    }

    void createTable() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("""
                    create table if not exists %s (
                        id           bigint generated always as identity primary key,
                        amount_cents integer     not null,
                        placed_at    timestamptz not null default clock_timestamp(),
                        confirmed_at timestamptz
                    )""".formatted(table));
        }
    }

    void placeOrder(Windlass windlass) throws Exception {
        windlass.inTransaction(connection -> {
            String order = Long.toString(insertOrder(connection));
            windlass.outbox().fanOut(connection, paidAndTold(order), messages(order));
            windlass.outbox().enqueueAll(connection, fax(order));
            windlass.workQueue().enqueueAll(connection, report(order));
            windlass.timers().schedule(connection, TimerEntry.of("review.ask", order, REVIEW_AFTER));
            return order;
        });
        tally.placed.increment();
    }

    private List<OutboxEntry> messages(String order) {
        return List.of(
                entry("order.placed", order, "{\"order\": " + order + "}"),
                entry("mail.send", order, "{\"to\": \"customer" + order + "@example.com\"}"));
    }

    /** The parcel goes out when the order is confirmed and the customer has a mail. */
    private static JoinEntry paidAndTold(String order) {
        return JoinEntry.of(2).withGroupingKey("order " + order).withFollowUp(FollowUp.completed("parcel.send", order));
    }

    /** One customer in twenty-five wants a fax too. */
    private List<OutboxEntry> fax(String order) {
        return Long.parseLong(order) % FAX_EVERY == 10
                ? List.of(entry("fax.send", order, "{\"order\": " + order + "}"))
                : List.of();
    }

    /** One in fourteen wants a report of all it has bought, and some of these are in a hurry. */
    private static List<WorkEntry> report(String order) {
        long number = Long.parseLong(order);
        return number % REPORT_EVERY == 3
                ? List.of(WorkEntry.of("reports", "report.write", order)
                        .withKey("customer " + number % CUSTOMERS)
                        .withPriority(number % 3 == 0 ? 9 : 4)
                        .withCorrelationId(order))
                : List.of();
    }

    private void writeReport(WorkContext context) throws InterruptedException {
        for (int page = 1; page <= PAGES; page++) {
            Thread.sleep(PAGE_MILLIS);
            context.progress(100 * page / PAGES, "page " + page + " of " + PAGES);
        }
        context.result(PAGES + " pages");
        tally.reports.increment();
    }

    private long insertOrder(Connection connection) throws SQLException {
        String sql = "insert into %s (amount_cents) values (?) returning id".formatted(table);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, ThreadLocalRandom.current().nextInt(500, 20_000));
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** Remembers the moment by this JVM's monotonic clock, which says nothing to another run. */
    private OutboxEntry entry(String topic, String order, String payload) {
        return OutboxEntry.of(topic, payload)
                .withCorrelationId(order)
                .withHeaders(Map.of("run", run, "nanos", Long.toString(System.nanoTime())));
    }

    private void counted(OutboxMessage message, Step step) throws Exception {
        if (message.retryCount() == 0 && run.equals(message.headers().get("run"))) {
            tally.waited(System.nanoTime() - Long.parseLong(message.headers().getOrDefault("nanos", "0")));
        }
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(5, 51));
            step.run(message, Long.parseLong(message.correlationId().orElseThrow()));
            tally.handled.increment();
        } catch (PermanentFailure e) {
            tally.failed.increment();
            throw e;
        } catch (StagedFailure e) {
            tally.retries.increment();
            throw e;
        }
    }

    private interface Step {
        void run(OutboxMessage message, long order) throws Exception;
    }

    /** May run twice for one order, as every handler may; the first time counts. */
    private void confirm(OutboxMessage message, long order) throws SQLException {
        String sql =
                "update %s set confirmed_at = clock_timestamp() where id = ? and confirmed_at is null".formatted(table);
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, order);
            statement.executeUpdate();
        }
    }

    /** Nobody has a fax any more: each becomes a dead letter, at the second attempt. */
    private static void sendFax(OutboxMessage message, long order) {
        StagedFailure busy = new StagedFailure("the line is busy");
        if (message.retryCount() == 0) {
            throw busy;
        }
        throw new PermanentFailure("nobody answers", busy);
    }

    private static void sendMail(OutboxMessage message, long order) {
        if (order % 100 == 50) {
            throw new PermanentFailure("refused", new StagedFailure("there is no such address"));
        }
        if (order % 15 == 5 && message.retryCount() == 0) {
            throw new StagedFailure("the mail server is busy");
        }
    }
}
