package dev.windlass.health;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.lease.Leadership;
import dev.windlass.lease.Lease;
import dev.windlass.metrics.WindlassMetrics;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.TimerEntry;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a node says of itself and of its database. */
final class HealthTest {
    private static final HealthOptions UNCACHED = HealthOptions.defaults().withCacheFor(Duration.ZERO);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static WindlassBuilder node() {
        return database.windlass().health(UNCACHED);
    }

    private static HealthReport.Entry check(HealthReport report, String name) {
        return report.checks().stream()
                .filter(entry -> entry.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static void enqueue(Windlass windlass, int count) {
        windlass.outbox().enqueueAll(Collections.nCopies(count, OutboxEntry.of("a", "x")));
    }

    @Test
    void aNodeThatWorksIsHealthyInEveryCheck() {
        Windlass windlass = database.start(node().outboxHandler("a", message -> {})
                .healthCheck("my disk", () -> HealthFinding.healthy("half full")));

        HealthReport report = windlass.health().all();

        assertThat(report.checks())
                .extracting(HealthReport.Entry::name)
                .containsExactly(
                        "database",
                        "schema",
                        "lease renewal",
                        "loops",
                        "stuck work",
                        "backlog",
                        "overdue timers",
                        "throughput",
                        "my disk");
        assertThat(report.checks()).allSatisfy(entry -> {
            assertThat(entry.status()).as(entry.toString()).isEqualTo(HealthStatus.HEALTHY);
            assertThat(entry.error()).isEmpty();
            assertThat(entry.description()).isNotBlank();
        });
        assertThat(report.status()).isEqualTo(HealthStatus.HEALTHY);
        assertThat(windlass.health().live().checks())
                .extracting(HealthReport.Entry::name)
                .containsExactly("loops");
        assertThat(windlass.health().ready().checks())
                .extracting(HealthReport.Entry::name)
                .containsExactly("database", "schema", "lease renewal");
    }

    @Test
    void aBacklogIsDegradedAndThenUnhealthyAndNothingIsClaimedToCountIt() {
        Windlass windlass = database.start(node().health(UNCACHED.withBacklog(3, 5)));
        enqueue(windlass, 3);
        assertThat(check(windlass.health().all(), "backlog").status()).isEqualTo(HealthStatus.HEALTHY);
        enqueue(windlass, 2);
        awaitStatus(windlass, "backlog", HealthStatus.DEGRADED);
        HealthReport.Entry degraded = check(windlass.health().all(), "backlog");
        assertThat(degraded.description()).contains("outbox 5");
        enqueue(windlass, 20);
        awaitStatus(windlass, "backlog", HealthStatus.UNHEALTHY);

        HealthReport report = windlass.health().all();

        assertThat(check(report, "backlog").status()).isEqualTo(HealthStatus.UNHEALTHY);
        assertThat(check(report, "backlog").description()).contains("outbox more than 5");
        assertThat(report.status()).isEqualTo(HealthStatus.UNHEALTHY);
        assertThat(windlass.health().ready().status()).isEqualTo(HealthStatus.HEALTHY);
        assertThat(database.count("status = 0 and retry_count = 0 and lease_expiries = 0 and owner_token is null"))
                .isEqualTo(25);
    }

    /** On a busy machine an answer takes so long to find that it is given again for a while. */
    private static void awaitStatus(Windlass windlass, String name, HealthStatus status) {
        eventually().until(() -> check(windlass.health().all(), name).status() == status);
    }

    /** More dead entries than a look may meet, of more topics than are known as worked on. */
    @Test
    void whereNotAllCouldBeLookedAtNobodyIsToldThatThereIsLittle() throws SQLException {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        database.execute("insert into %s.outbox (id, created_at, next_attempt_at, topic, payload)"
                + " select gen_random_uuid(), now(), now(), 'topic ' || n % 400, 'x' from generate_series(1, 40000) n");
        try (Connection other = database.owner().getConnection();
                Statement snapshot = other.createStatement()) {
            other.setAutoCommit(false);
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("select 1");
            database.execute("update %s.outbox set status = 2, ended_at = now()");

            Windlass windlass =
                    database.start(node().health(UNCACHED.withBacklog(5, 10)).listener(new WindlassMetrics(registry)));

            HealthReport.Entry backlog = check(windlass.health().all(), "backlog");
            assertThat(backlog.status()).isEqualTo(HealthStatus.DEGRADED);
            assertThat(backlog.description()).contains("outbox at least 0").contains("not all topics");
            assertThat(check(windlass.health().all(), "stuck work").status()).isEqualTo(HealthStatus.HEALTHY);
            eventually().until(() -> incomplete(registry) == 1);
        }
    }

    private static double incomplete(MeterRegistry registry) {
        Gauge gauge = registry.find("windlass.queue.incomplete")
                .tags("queue", "outbox")
                .gauge();
        return gauge == null ? -1 : gauge.value();
    }

    @Test
    void timersThatAreLongOverdueAreFound() {
        Windlass windlass = database.start(node().health(UNCACHED.withOverdueTimers(1, 2))
                .schedule(ScheduleOptions.defaults().withHandOff(false)));
        schedule(windlass, Duration.ofMinutes(-4));
        schedule(windlass, Duration.ofMinutes(-6));
        awaitStatus(windlass, "overdue timers", HealthStatus.HEALTHY);
        schedule(windlass, Duration.ofMinutes(-6));
        awaitStatus(windlass, "overdue timers", HealthStatus.DEGRADED);
        schedule(windlass, Duration.ofMinutes(-6));
        awaitStatus(windlass, "overdue timers", HealthStatus.UNHEALTHY);
    }

    private static void schedule(Windlass windlass, Duration from) {
        UUID id = windlass.timers()
                .schedule(TimerEntry.of("a", "x", Instant.now().plusSeconds(60)))
                .value();
        database.update(
                "update %s.outbox_timer set next_attempt_at = now() + ?::interval where id = ?", from.toString(), id);
    }

    @Test
    void stuckWorkIsFound() throws SQLException {
        Windlass windlass = database.passive();
        assertThat(check(windlass.health().all(), "stuck work").status()).isEqualTo(HealthStatus.HEALTHY);
        database.execute(
                "insert into %s.outbox (id, created_at, next_attempt_at, claimed_at, locked_until, owner_token,"
                        + " status, topic, payload) values (gen_random_uuid(), now(), now(), now() - interval '10 min',"
                        + " now() - interval '9 min', gen_random_uuid(), 1, 'a', 'x')");
        Windlass other = database.start(node().options(database.options().withBackgroundWorkers(false)));
        HealthReport.Entry stuck = check(other.health().all(), "stuck work");
        assertThat(stuck.status()).isEqualTo(HealthStatus.DEGRADED);
        assertThat(stuck.description()).contains("outbox 1");
    }

    @Test
    void checksThatThrowOrHangAreUnhealthyAloneAndHangOnlyOnce() {
        CountDownLatch never = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        Windlass windlass = database.start(node().health(UNCACHED.withTimeout(Duration.ofMillis(500)))
                .healthCheck("throws", () -> {
                    throw new IllegalStateException("no disk");
                })
                .healthCheck("cannot even tell", () -> {
                    throw new IllegalStateException() {
                        @Override
                        public String getMessage() {
                            throw new IllegalStateException("no words");
                        }
                    };
                })
                .healthCheck("hangs", () -> {
                    calls.incrementAndGet();
                    never.await();
                    return HealthFinding.healthy("at last");
                }));
        for (int i = 0; i < 3; i++) {
            HealthReport report = windlass.health().all();
            assertThat(check(report, "throws").error())
                    .hasValueSatisfying(error -> assertThat(error).contains("no disk"));
            assertThat(check(report, "cannot even tell").error())
                    .hasValueSatisfying(error -> assertThat(error).contains("HealthTest"));
            assertThat(check(report, "hangs").error()).contains("it has not answered in time");
            assertThat(check(report, "schema").status()).isEqualTo(HealthStatus.HEALTHY);
        }
        assertThat(calls).hasValue(1);
        never.countDown();
        eventually().until(() -> check(windlass.health().all(), "hangs").status() == HealthStatus.HEALTHY);
    }

    @Test
    void anAnswerIsGivenAgainForAWhile() {
        AtomicInteger calls = new AtomicInteger();
        Windlass windlass = database.start(database.windlass()
                .health(HealthOptions.defaults().withCacheFor(Duration.ofHours(1)))
                .healthCheck("counts", () -> {
                    calls.incrementAndGet();
                    return HealthFinding.healthy("counted");
                }));
        HealthReport first = windlass.health().all();
        assertThat(windlass.health().all()).isSameAs(first);
        assertThat(calls).hasValue(1);
    }

    @Test
    void thoseWhoWaitForTheirTurnShareAnAnswer() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        Windlass windlass = database.start(node().healthCheck("slow", () -> {
            calls.incrementAndGet();
            asked.countDown();
            answer.await();
            return HealthFinding.healthy("at last");
        }));
        List<Thread> askers = Stream.generate(() -> new Thread(windlass.health()::all))
                .limit(10)
                .toList();
        askers.forEach(Thread::start);
        asked.await();
        eventually()
                .until(() -> askers.stream()
                                .filter(asker -> asker.getState() == Thread.State.BLOCKED)
                                .count()
                        == 9);
        answer.countDown();
        for (Thread asker : askers) {
            asker.join();
        }
        assertThat(calls).hasValue(1);
    }

    @Test
    void livenessIsAnsweredWhileAllHangsBehindACheck() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        Windlass windlass = database.start(node().healthCheck("slow", () -> {
            asked.countDown();
            answer.await();
            return HealthFinding.healthy("at last");
        }));
        Thread asker = new Thread(windlass.health()::all);
        asker.start();
        asked.await();

        assertThat(windlass.health().live().status()).isEqualTo(HealthStatus.HEALTHY);
        assertThat(windlass.health().ready().status()).isEqualTo(HealthStatus.HEALTHY);

        answer.countDown();
        asker.join();
    }

    @Test
    void whoIsInterruptedHasAnAnswerAtOnceThatIsNotGivenToOthers() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        HealthOptions kept =
                HealthOptions.defaults().withCacheFor(Duration.ofHours(1)).withTimeout(Duration.ofHours(1));
        Windlass windlass = database.start(database.windlass().health(kept).healthCheck("slow", () -> {
            asked.countDown();
            answer.await();
            return HealthFinding.healthy("at last");
        }));
        AtomicReference<HealthReport> told = new AtomicReference<>();
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread asker = new Thread(() -> {
            told.set(windlass.health().all());
            interrupted.set(Thread.currentThread().isInterrupted());
        });
        asker.start();
        asked.await();
        asker.interrupt();
        asker.join();

        assertThat(check(Objects.requireNonNull(told.get()), "slow").error()).contains("it has not answered in time");
        assertThat(interrupted).isTrue();
        answer.countDown();
        assertThat(check(windlass.health().all(), "slow").status()).isEqualTo(HealthStatus.HEALTHY);
    }

    @Test
    void livenessLooksAtAllThatRunsInTheBackground() {
        Windlass windlass = database.start(node().outboxHandler("a", message -> {}));
        windlass.leases()
                .tryAcquire("warm", Duration.ofMinutes(1))
                .orElseThrow()
                .close();
        int before = loops(windlass);

        Leadership leadership = windlass.leases().lead("a", Duration.ofMinutes(1), lease -> {});

        assertThat(loops(windlass)).isEqualTo(before + 1);
        leadership.close();
        assertThat(loops(windlass)).isEqualTo(before);
    }

    @Test
    void aNodeThatOnlyWritesDoesNotSayThatItsLoopsGoOn() {
        Windlass windlass = database.start(node().options(database.options().withBackgroundWorkers(false)));

        HealthReport.Entry loops = check(windlass.health().live(), "loops");

        assertThat(loops.status()).isEqualTo(HealthStatus.HEALTHY);
        assertThat(loops.description()).contains("nothing is done in the background");
    }

    @Test
    void leasesThatCannotBeRenewedAreFound() throws SQLException {
        Windlass windlass = database.start(node());
        database.execute("create function %s.refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$");
        database.execute("create trigger refuse before update on %s.lease for each row"
                + " when (old.expires_at > clock_timestamp()) execute function %s.refuse()");
        try (Lease lease =
                windlass.leases().tryAcquire("refused", Duration.ofSeconds(5)).orElseThrow()) {
            assertThat(check(windlass.health().ready(), "lease renewal").status())
                    .isEqualTo(HealthStatus.HEALTHY);
            awaitStatus(windlass, "lease renewal", HealthStatus.DEGRADED);
            assertThat(lease.isLost()).isFalse();
        } finally {
            database.execute("drop function %s.refuse() cascade");
        }
    }

    private static int loops(Windlass windlass) {
        String told = check(windlass.health().live(), "loops").description();
        return Integer.parseInt(told.substring(0, told.indexOf(' ')));
    }

    @Test
    void badOptionsAndNamesAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> HealthOptions.defaults().withBacklog(5, 3))
                .withMessageContaining("got 5 and 3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> database.windlass().healthCheck("backlog", () -> HealthFinding.healthy("")))
                .withMessageContaining("backlog");
    }

    @Test
    void aRoutineThatIsGoneIsNamed() throws Exception {
        Windlass windlass = database.start(node());
        assertThat(check(windlass.health().ready(), "schema").status()).isEqualTo(HealthStatus.HEALTHY);
        database.execute("alter function %s.outbox_reap rename to outbox_gone");
        try {
            HealthReport.Entry schema = check(windlass.health().ready(), "schema");

            assertThat(schema.status()).isEqualTo(HealthStatus.UNHEALTHY);
            assertThat(schema.error())
                    .hasValueSatisfying(error ->
                            assertThat(error).contains("missing: outbox_reap").contains("windlass migrate --full"));
        } finally {
            database.execute("alter function %s.outbox_gone rename to outbox_reap");
        }
    }
}
