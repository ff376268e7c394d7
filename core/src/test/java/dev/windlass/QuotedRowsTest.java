package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.base.OwnerToken;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import dev.windlass.schedule.ClaimedJobRun;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.Timers;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever is called: what a database says about a message stays between the two. */
final class QuotedRowsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final String SECRET = "s3cr3t";
    private static final String PAYLOAD = "payload " + SECRET;
    private static final Map<String, String> HEADERS = Map.of("header " + SECRET, "value " + SECRET);
    private static final List<String> TABLES =
            List.of("outbox", "inbox", "outbox_timer", "outbox_job", "outbox_job_run");
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration MOMENT = Duration.ofMillis(1);

    private final List<Throwable> thrown = new ArrayList<>();
    private final OwnerToken owner = OwnerToken.fresh();

    @FunctionalInterface
    private interface PublicCall {
        Object run() throws Exception;
    }

    private void call(PublicCall call) {
        try {
            call.run();
        } catch (Exception e) {
            thrown.add(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Shows("OBX-125")
    void nothingThatTheDatabaseQuotesIsToldByAnyCall(Quoting quoting) throws Exception {
        try (Logs logs = Logs.collect(Level.TRACE)) {
            Windlass windlass = database.start(database.windlass()
                    .options(database.options().withBackgroundWorkers(false))
                    .outbox(database.shortLease())
                    .inbox(InboxOptions.defaults().withLease(Duration.ofSeconds(1)))
                    .schedule(ScheduleOptions.defaults().withHandOff(false).withLease(Duration.ofSeconds(1))));
            List<Runnable> calls = new ArrayList<>();
            calls.add(outboxCalls(windlass));
            calls.add(inboxQueueCalls(windlass));
            calls.add(inboxGuardCalls(windlass));
            calls.add(timerCalls(windlass));
            calls.add(jobCalls(windlass));

            quoting.begin(database, TABLES);
            try {
                calls.forEach(Runnable::run);
            } finally {
                quoting.end(database, TABLES);
            }

            assertThat(thrown).hasSizeGreaterThan(15);
            assertThat(thrown).allSatisfy(e -> assertThat(Told.by(e)).doesNotContain(SECRET));
            assertThat(thrown)
                    .filteredOn(e -> e.getCause() instanceof SQLException)
                    .hasSizeGreaterThan(15)
                    .allSatisfy(e -> tellsWhatHelps(quoting, e));
            assertThat(logs.lines()).isNotEmpty().noneMatch(line -> line.text().contains(SECRET));
        }
    }

    private static void tellsWhatHelps(Quoting quoting, Throwable e) {
        assertThat(e)
                .hasMessageContaining("[windlass")
                .hasMessageContaining("could not ")
                .hasMessageContaining("SQLSTATE " + quoting.state)
                .hasMessageContaining("the server's log has it");
        SQLException cause = (SQLException) Objects.requireNonNull(e.getCause());
        assertThat(cause.getSQLState()).isEqualTo(quoting.state);
        assertThat(cause.getStackTrace()[0].getClassName()).startsWith("org.postgresql.");
        if (quoting == Quoting.CHECK_CONSTRAINT) {
            assertThat(e).hasMessageContaining("constraint \"keeps_secrets\"").hasMessageContaining("table \"");
        }
    }

    private static OutboxEntry entry() {
        return OutboxEntry.of("a", PAYLOAD).withHeaders(HEADERS);
    }

    private Runnable outboxCalls(Windlass windlass) {
        Outbox outbox = windlass.outbox();
        OutboxOperator operator = outbox.operator("me");
        outbox.enqueueAll(List.of(entry(), entry(), entry()));
        outbox.fail(owner, work(outbox.claim(owner, MINUTE, 2)), "broken");
        List<OutboxMessageIdentifier> failed = operator.list(MessageFilter.failed(), 10).stream()
                .map(letter -> letter.id())
                .toList();
        outbox.claim(owner, MOMENT, 10);
        outbox.enqueueAll(List.of(entry(), entry()));
        List<OutboxWorkItemIdentifier> held = work(outbox.claim(owner, MINUTE, 10));
        OutboxMessageIdentifier ready = outbox.enqueue(entry());
        return () -> {
            call(() -> outbox.enqueue(entry()));
            call(() -> outbox.enqueue(entry().withOrderingKey("key " + SECRET)));
            call(() -> outbox.enqueue(entry().withDeduplication("key " + SECRET, MINUTE)));
            call(() -> outbox.enqueueAll(List.of(entry(), entry())));
            call(() -> windlass.inTransaction(connection -> outbox.enqueue(connection, entry())));
            call(() -> windlass.inTransaction(connection -> outbox.enqueueAll(connection, List.of(entry(), entry()))));
            call(() -> outbox.reschedule(ready, Instant.EPOCH));
            call(() -> windlass.inTransaction(
                    connection -> outbox.reschedule(connection, ready, Instant.EPOCH.plusSeconds(1))));
            call(() -> outbox.heartbeat(owner, held, MINUTE));
            call(() -> outbox.release(owner, held));
            call(() -> outbox.abandon(owner, held));
            call(() -> outbox.fail(owner, held, "broken"));
            call(() -> outbox.ack(owner, held));
            call(outbox::reapExpired);
            call(() -> outbox.claim(OwnerToken.fresh(), MINUTE, 10));
            call(() -> operator.requeue(failed, Attempts.RESET));
            call(() -> operator.requeue(MessageFilter.failed(), Attempts.RESET));
            call(() -> operator.skip(failed));
            call(() -> operator.erase(failed));
            call(() -> operator.purge(failed));
            call(() -> operator.purge(MessageFilter.failed()));
            call(() -> outbox.cancel(ready));
            call(() -> windlass.inTransaction(connection -> outbox.cancel(connection, ready)));
        };
    }

    private static List<OutboxWorkItemIdentifier> work(List<OutboxMessage> claimed) {
        return claimed.stream().map(OutboxMessage::id).toList();
    }

    private static InboxEntry arrival(int number) {
        return InboxEntry.of("orders", "queued " + number, "a", PAYLOAD).withHeaders(HEADERS);
    }

    private Runnable inboxQueueCalls(Windlass windlass) {
        Inbox inbox = windlass.inbox();
        inbox.enqueueAll(List.of(arrival(1), arrival(2)));
        inbox.fail(owner, arrived(inbox.claim(owner, MINUTE, 1)), "broken");
        inbox.claim(owner, MOMENT, 10);
        inbox.enqueue(arrival(3));
        List<InboxWorkItemIdentifier> held = arrived(inbox.claim(owner, MINUTE, 10));
        return () -> {
            call(() -> inbox.enqueue(arrival(4)));
            call(() -> windlass.inTransaction(connection -> inbox.enqueue(connection, arrival(5))));
            call(() -> inbox.heartbeat(owner, held, MINUTE));
            call(() -> inbox.release(owner, held));
            call(() -> inbox.abandon(owner, held));
            call(() -> inbox.fail(owner, held, "broken"));
            call(() -> inbox.ack(owner, held));
            call(() -> windlass.inTransaction(connection -> inbox.ack(connection, owner, held)));
            call(inbox::reapExpired);
            call(() -> inbox.claim(OwnerToken.fresh(), MINUTE, 10));
            call(() -> inbox.operator("me").requeue(MessageFilter.failed(), Attempts.RESET));
            call(() -> inbox.operator("me").purge(MessageFilter.failed()));
        };
    }

    private static List<InboxWorkItemIdentifier> arrived(List<InboxMessage> claimed) {
        return claimed.stream().map(InboxMessage::id).toList();
    }

    private Runnable inboxGuardCalls(Windlass windlass) {
        Inbox inbox = windlass.inbox();
        InboxAttempt attempt = ((Begin.Proceed) inbox.begin("orders", "begun")).attempt();
        return () -> {
            call(() -> inbox.begin("orders", "new"));
            call(() -> inbox.alreadyProcessed("orders", "newer"));
            call(() -> inbox.process("orders", "newest", connection -> {}));
            call(() -> {
                inbox.markProcessing(attempt);
                return attempt;
            });
            call(() -> inbox.abandon(attempt, "broken " + SECRET, MOMENT));
            call(() -> {
                inbox.markDead(attempt, "broken " + SECRET);
                return attempt;
            });
            call(() -> windlass.inTransaction(connection -> {
                inbox.markProcessed(connection, attempt);
                return attempt;
            }));
            call(() -> {
                inbox.markProcessed(attempt);
                return attempt;
            });
        };
    }

    private static TimerEntry timer(Duration delay) {
        return TimerEntry.of("a", PAYLOAD, delay).withHeaders(HEADERS);
    }

    private Runnable timerCalls(Windlass windlass) {
        Timers timers = windlass.timers();
        timers.schedule(timer(Duration.ZERO));
        List<TimerIdentifier> held =
                timers.claim(owner, MINUTE, 10).stream().map(Timer::id).toList();
        timers.schedule(timer(Duration.ZERO));
        timers.claim(owner, MOMENT, 10);
        timers.schedule(timer(Duration.ZERO));
        TimerIdentifier pending = timers.schedule(timer(MINUTE));
        return () -> {
            call(() -> timers.schedule(timer(MINUTE)));
            call(() -> timers.scheduleAll(List.of(timer(MINUTE), timer(MINUTE))));
            call(() -> windlass.inTransaction(connection -> timers.schedule(connection, timer(MINUTE))));
            call(() -> windlass.inTransaction(
                    connection -> timers.scheduleAll(connection, List.of(timer(MINUTE), timer(MINUTE)))));
            call(() -> timers.reschedule(pending, MINUTE));
            call(() -> windlass.inTransaction(connection -> timers.reschedule(connection, pending, MINUTE)));
            call(() -> timers.abandon(owner, held, MOMENT, "broken"));
            call(() -> timers.ack(owner, held));
            call(timers::reapExpired);
            call(() -> timers.claim(OwnerToken.fresh(), MINUTE, 10));
            call(() -> timers.cancel(pending));
        };
    }

    private static Job job(String name) {
        return Job.every(name, Duration.ofDays(1)).withTopic("a").withPayload(PAYLOAD);
    }

    private Runnable jobCalls(Windlass windlass) {
        Jobs jobs = windlass.jobs();
        jobs.save(job("saved"));
        jobs.trigger("saved");
        List<JobRunIdentifier> held = jobs.runClaims().claim(owner, MINUTE, 10).stream()
                .map(ClaimedJobRun::id)
                .toList();
        return () -> {
            call(() -> {
                jobs.save(job("new"));
                return jobs;
            });
            call(() -> windlass.inTransaction(connection -> {
                jobs.save(connection, job("saved").withPayload("other " + SECRET));
                return jobs;
            }));
            call(() -> jobs.trigger("saved"));
            call(() -> jobs.pause("saved"));
            call(() -> jobs.resume("saved"));
            call(() -> jobs.runClaims().abandon(owner, held, MOMENT, "broken " + SECRET));
            call(() -> jobs.runClaims().fail(owner, held, "broken " + SECRET));
            call(() -> jobs.runClaims().ack(owner, held));
            call(jobs.runClaims()::reapExpired);
            call(() -> jobs.runClaims().claim(OwnerToken.fresh(), MINUTE, 10));
            call(() -> {
                jobs.delete("saved");
                return jobs;
            });
        };
    }
}
