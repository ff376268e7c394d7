package dev.windlass.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.NotYet;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.RetryAfter;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.schema.Channel;
import dev.windlass.operator.TopicLimit;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkItem;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

final class AdvanceTest {
    private static final Duration DAY = Duration.ofDays(1);

    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private final List<String> handled = new CopyOnWriteArrayList<>();

    private WindlassBuilder node() {
        return database.windlass().outboxHandler("a", message -> handled.add(message.payload()));
    }

    @Test
    void aRowThatTheDatabaseQuotesIsNotTold() throws SQLException {
        Outbox outbox = database.start(node()).outbox();
        outbox.enqueue(OutboxEntry.of("a", "s3cr3t").withDelay(DAY));
        execute("alter table %s.outbox add constraint keeps_secrets check (payload <> 's3cr3t') not valid");
        try {
            assertThatThrownBy(() -> database.advance(DAY))
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining("constraint \"keeps_secrets\"")
                    .satisfies(e -> assertThat(Throwables.getStackTrace(e)).doesNotContain("s3cr3t"));
        } finally {
            execute("alter table %s.outbox drop constraint keeps_secrets");
        }
    }

    @Test
    void advanceMakesDueWhatWasDueWithinThatTimeAndNothingElse() {
        Outbox outbox = database.start(node()).outbox();
        outbox.enqueue(OutboxEntry.of("a", "by delay").withDelay(DAY.multipliedBy(3)));
        outbox.enqueue(OutboxEntry.of("a", "by due time")
                .withDueTime(Instant.now().plus(DAY.multipliedBy(3)).minusSeconds(60)));
        outbox.enqueue(OutboxEntry.of("a", "later").withDelay(DAY.multipliedBy(4)));

        database.advance(DAY.multipliedBy(2));
        database.drain();
        assertThat(handled).isEmpty();

        database.advance(DAY);
        database.drain();
        assertThat(handled).containsExactlyInAnyOrder("by delay", "by due time");
    }

    @Test
    void advanceMakesRetriesDue() {
        AtomicInteger attempts = new AtomicInteger();
        Windlass windlass = database.start(database.windlass().outboxHandler("a", message -> {
            if (attempts.incrementAndGet() == 1) {
                throw new RetryAfter(DAY, "come back tomorrow");
            }
        }));
        windlass.outbox().enqueue(OutboxEntry.of("a", ""));
        database.drain();
        assertThat(attempts).hasValue(1);

        database.advance(DAY);
        database.drain();

        assertThat(attempts).hasValue(2);
    }

    @Test
    void advanceMakesItemsOfTheWorkQueueDue() {
        Windlass windlass = database.start(database.windlass().workHandler("a", "b", item -> {
            handled.add(item.payload());
            if (item.payload().equals("put off") && handled.size() == 1) {
                throw new NotYet(DAY, "come back tomorrow");
            }
        }));
        windlass.workQueue().enqueue(WorkEntry.of("a", "b", "put off"));
        windlass.workQueue().enqueue(WorkEntry.of("a", "b", "delayed").withDelay(DAY));
        windlass.workQueue()
                .enqueue(WorkEntry.of("a", "b", "with a key").withDelay(DAY).withKey("c"));
        database.drain();
        assertThat(handled).containsExactly("put off");

        database.advance(DAY);
        database.drain();

        assertThat(handled).containsExactlyInAnyOrder("put off", "put off", "delayed", "with a key");
    }

    @Test
    void advanceLetsTheTimeOfARatePass() {
        Windlass windlass = database.start(
                database.windlass().workHandler("a", "b", (WorkItem item) -> handled.add(item.payload())));
        windlass.workQueue().operator("me").limit("a", TopicLimit.none().withRate(1, DAY));
        windlass.workQueue().enqueue(WorkEntry.of("a", "b", "1"));
        windlass.workQueue().enqueue(WorkEntry.of("a", "b", "2"));
        assertThatThrownBy(() -> database.drain(Duration.ofMillis(300))).hasMessageContaining("1 of queue a ready");
        assertThat(handled).hasSize(1);

        database.advance(DAY);
        database.drain();

        assertThat(handled).hasSize(2);
    }

    @Test
    void advanceLetsMessagesExpire() {
        Outbox outbox = database.start(node()).outbox();
        outbox.enqueue(OutboxEntry.of("a", "")
                .withDelay(DAY)
                .withExpiresAt(Instant.now().plus(DAY.multipliedBy(2))));

        database.advance(DAY.multipliedBy(3));
        database.drain();

        assertThat(handled).isEmpty();
        assertThat(database.messages("a"))
                .singleElement()
                .satisfies(message -> assertThat(message.status()).isEqualTo(WorkStatus.FAILED));
    }

    @Test
    void advanceLetsLeasesRunOut() {
        Outbox dying = database.start(database.windlass()).outbox();
        dying.enqueue(OutboxEntry.of("a", "x"));
        assertThat(dying.claim(OwnerToken.fresh(), Duration.ofHours(1), 1)).hasSize(1);
        database.start(node());

        database.advance(Duration.ofHours(1));
        database.drain();

        assertThat(handled).containsExactly("x");
        assertThat(database.messages("a"))
                .singleElement()
                .satisfies(message -> assertThat(message.leaseExpiries()).isEqualTo(1));
    }

    /** What became due without being stamped anew would be behind what the node knows, and wait for its next full look. */
    @Test
    void advanceIsSeenAtOnceByANodeThatHasHandledLaterMessages() {
        Outbox outbox = database.start(node()).outbox();
        outbox.enqueue(OutboxEntry.of("a", "due tomorrow").withDelay(DAY));
        for (int i = 0; i < 5; i++) {
            outbox.enqueue(OutboxEntry.of("a", "now"));
            database.drain();
        }

        database.advance(DAY.multipliedBy(2));
        database.drain(Duration.ofSeconds(5));

        assertThat(handled).contains("due tomorrow");
    }

    @Test
    void advanceWakesNodesThatListen() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            List<String> channels = Stream.of("outbox", "outbox_timer", "outbox_job_run")
                    .map(table -> Channel.of(database.schema(), table))
                    .toList();
            for (String channel : channels) {
                statement.execute("listen \"" + channel + "\"");
            }

            database.advance(DAY);

            PGNotification[] heard = connection.unwrap(PGConnection.class).getNotifications(10_000);
            assertThat(heard).extracting(PGNotification::getName).containsExactlyElementsOf(channels);
            assertThat(heard).extracting(PGNotification::getParameter).containsOnly("ready");
            statement.execute("unlisten *");
        }
    }

    @Test
    void advanceWhileNodesWorkLosesNothing() {
        Outbox outbox = database.start(node()).outbox();
        for (int i = 0; i < 20; i++) {
            outbox.enqueue(OutboxEntry.of("a", "later " + i).withDelay(Duration.ofMinutes(i)));
            outbox.enqueueAll(List.of(OutboxEntry.of("a", "now " + i), OutboxEntry.of("a", "also now " + i)));
            database.advance(Duration.ofSeconds(1));
        }
        database.drain();
        database.advance(DAY);
        database.drain();

        assertThat(handled).doesNotHaveDuplicates().hasSize(60);
    }

    @Test
    void advanceMovesEveryInstantOfEveryTableOfTheSchema() throws SQLException {
        execute("create table %s.later (at timestamptz, \"Other at\" timestamptz, note text)");
        execute("insert into %s.later values ('2024-03-01 12:00Z', null, 'x')");
        Outbox outbox = database.start(database.windlass()).outbox();
        Instant due = Instant.now().plus(DAY).truncatedTo(ChronoUnit.MILLIS);
        outbox.enqueue(OutboxEntry.of("a", "").withDueTime(due).withExpiresAt(due.plus(DAY)));
        OutboxMessage before = database.messages("a").get(0);

        Duration time = Duration.ofHours(1).plusMillis(1);
        database.advance(time);

        OutboxMessage after = database.messages("a").get(0);
        assertThat(after.createdAt()).isEqualTo(before.createdAt().minus(time));
        assertThat(after.dueTime()).contains(due.minus(time));
        assertThat(after.expiresAt()).contains(due.plus(DAY).minus(time));
        assertThat(instant("select at from %s.later")).isEqualTo("2024-03-01T10:59:59.999Z");
        execute("drop table %s.later");
    }

    /** Nodes would take the jump for an outage, and leave leases alone for a while. */
    @Test
    void whenAQueueWasLastLookedAfterIsNeitherMovedNorForgotten() throws SQLException {
        Instant before = instant("select max(seen_at) from %s.windlass_watch");
        database.advance(DAY);
        assertThat(instant("select max(seen_at) from %s.windlass_watch")).isEqualTo(before);
    }

    @Test
    void advanceDoesNotMoveTheRecordOfMigrations() throws SQLException {
        Instant before = instant("select max(applied_at) from %s.windlass_version");
        database.advance(DAY);
        assertThat(instant("select max(applied_at) from %s.windlass_version")).isEqualTo(before);
    }

    @Test
    void aRunningHandlerIsAskedToStopWhenTimePassesOverItsLease() {
        CountDownLatch started = new CountDownLatch(1);
        AtomicInteger stopped = new AtomicInteger();
        Windlass windlass = database.start(database.windlass()
                .outbox(OutboxOptions.defaults().withLease(Duration.ofSeconds(1)))
                .outboxHandler("a", message -> {
                    if (started.getCount() > 0) {
                        started.countDown();
                        try {
                            new CountDownLatch(1).await();
                        } finally {
                            stopped.incrementAndGet();
                        }
                    }
                }));
        windlass.outbox().enqueue(OutboxEntry.of("a", ""));
        await().until(() -> started.getCount() == 0);

        database.advance(DAY);
        await().until(() -> stopped.get() == 1);

        // Reaped first, the message is ready at once; else it has failed once, and waits for its retry.
        database.drain();
        database.advance(DAY);
        database.drain();
        assertThat(database.messages("a")).hasSize(1).allMatch(OutboxMessage::isProcessed);
    }

    @Test
    void advanceRefusesTimeThatIsNotPositive() {
        assertThatIllegalArgumentException().isThrownBy(() -> database.advance(Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> database.advance(Duration.ofSeconds(-1)));
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql.replace("%s", database.schema()));
        }
    }

    private static Instant instant(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql.replace("%s", database.schema()))) {
            row.next();
            return row.getObject(1, OffsetDateTime.class).toInstant();
        }
    }
}
