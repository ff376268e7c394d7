package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.NotYet;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.Topic;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Job;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What makes common cases short. */
final class ConveniencesTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    /** What a program may send. */
    record Report(String month, int pages) {}

    private static final Topic<Report> REPORTS = Topic.of("report", Report.class);

    private final ConcurrentLinkedQueue<Object> handled = new ConcurrentLinkedQueue<>();

    @Test
    void aJobAndItsCodeAreGivenInOneCall() {
        Windlass windlass = database.start(database.windlass()
                .job(Job.every("nightly", HOUR), message -> handled.add(message.topic()))
                .job(Job.every("typed", HOUR), new Report("May", 3), (report, message) -> handled.add(report)));
        windlass.jobs().trigger("nightly");
        windlass.jobs().trigger("typed");

        eventually().until(() -> handled.containsAll(List.of("nightly", new Report("May", 3))));
        windlass.close();

        database.start(database.windlass().job(Job.every("nightly", HOUR.plus(HOUR)), message -> {}));
        assertThat(database.passive().jobs().find("nightly").orElseThrow().job().schedule())
                .hasToString(Job.every("nightly", HOUR.plus(HOUR)).schedule().toString());
    }

    @Test
    void theLogTellsHowOftenAJobRunsInWords() {
        assertThat(Job.every("poll", Duration.ofSeconds(90)).withTopic("a"))
                .hasToString("Job[poll, every 1 min 30 s, topic=a]");
    }

    @Test
    void twoJobsOfOneNameAreRefused() {
        assertThatThrownBy(() -> database.windlass()
                        .job(Job.every("same", HOUR), message -> {})
                        .job(Job.every("same", HOUR), message -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected jobs with different names, got two with \"same\"");
    }

    @Test
    void aHandlerThatCannotDoItYetCostsNoAttempt() {
        AtomicInteger calls = new AtomicInteger();
        try (Logs logs = Logs.collect(Level.INFO)) {
            Windlass windlass = database.start(database.windlass()
                    .outboxHandler(
                            "a",
                            HandlerOptions.defaults()
                                    .withRetry(RetryPolicy.defaults().withMaxAttempts(1))
                                    .withCircuit(new Circuit(1, HOUR)),
                            message -> {
                                if (calls.incrementAndGet() < 4) {
                                    throw new NotYet(Duration.ofMillis(1), "the bank is closed");
                                }
                            }));
            windlass.outbox().enqueue(OutboxEntry.of("a", "x"));

            eventually().until(() -> database.count("status = 2 and retry_count = 0") == 1);
            assertThat(calls).hasValue(4);
            assertThat(logs.count(Level.INFO, "put it off, again in 1 ms, and not counted: the bank is closed"))
                    .isEqualTo(3);
            assertThat(logs.at(Level.ERROR)).isEmpty();
        }
    }

    @Test
    void theInboxHasTypedTopicsToo() {
        Windlass windlass = database.start(database.windlass()
                .inboxHandler(REPORTS, (report, message) -> handled.add(report))
                .inboxHandlerInTransaction(Topic.of("kept", Report.class), (connection, report, message) -> {
                    try (PreparedStatement statement = connection.prepareStatement("select 1")) {
                        statement.execute();
                    }
                    handled.add(report.pages());
                }));
        windlass.inbox().enqueue(windlass.inbox().entry("source", "1", REPORTS, new Report("May", 3)));
        windlass.inbox()
                .enqueue(windlass.inbox().entry("source", "2", Topic.of("kept", Report.class), new Report("June", 4)));

        eventually().until(() -> handled.containsAll(List.of(new Report("May", 3), 4)));
    }
}
