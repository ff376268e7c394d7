package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;
import java.util.Collections;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nodes here poll every ten minutes: the end of a rest is not found by chance. */
final class RestTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(200);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private final Queue<Boolean> changes = new ConcurrentLinkedQueue<>();
    private final WindlassListener listener = event -> {
        if (event instanceof WindlassEvent.CircuitChanged circuit) {
            changes.add(circuit.open());
        }
    };
    private volatile boolean down = true;

    private static HandlerOptions resting(int failures, Duration rest) {
        return HandlerOptions.defaults()
                .withRetry(new RetryPolicy(10, Duration.ofMillis(1), Duration.ofMillis(1), 0))
                .withCircuit(new Circuit(failures, rest));
    }

    private WindlassBuilder node(OutboxOptions options) {
        return database.windlass()
                .options(database.options().withMaxPollingInterval(LONG))
                .outbox(options.withPollingInterval(LONG))
                .listener(listener);
    }

    private WindlassBuilder node() {
        return node(OutboxOptions.defaults());
    }

    private void send(OutboxMessage message) {
        calls.incrementAndGet();
        if (down) {
            throw new BrokerDown();
        }
    }

    private static final class BrokerDown extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private static void enqueue(Windlass windlass, String topic, int count) {
        windlass.outbox().enqueueAll(Collections.nCopies(count, OutboxEntry.of(topic, "x")));
    }

    private static long retries() {
        return database.value(Long.class, "select sum(retry_count) from %s.outbox");
    }

    @Test
    void anOutageOfTheHandlerCostsNoMoreAttemptsThanItTakesToNotice() {
        Windlass windlass = database.start(node().outboxHandler("a", resting(3, SHORT), this::send));
        enqueue(windlass, "a", 30);
        eventually().until(() -> changes.contains(true));
        int noticed = calls.get();
        eventually().until(() -> calls.get() >= noticed + 20);
        assertThat(retries()).isEqualTo(2);
        down = false;
        eventually().until(() -> database.count("status = 2") == 30);
        assertThat(retries()).isEqualTo(2);
        assertThat(database.count("lease_expiries > 0")).isZero();
        eventually().until(() -> changes.size() == 2);
        assertThat(changes).containsExactly(true, false);
    }

    @Test
    void theLastAttemptOfAMessageIsUsedUpNeitherByTheOpeningNorByAProbe() {
        HandlerOptions once = resting(1, SHORT).withRetry(RetryPolicy.defaults().withMaxAttempts(1));
        Windlass windlass = database.start(node().outboxHandler("a", once.withConcurrency(1), this::send));
        enqueue(windlass, "a", 2);
        eventually().until(() -> calls.get() >= 3);
        down = false;
        eventually().until(() -> database.count("status = 2 and retry_count = 0") == 2);
    }

    @Test
    void handlersThatWereRunningWhenTheRestBeganCostNoAttempt() throws Exception {
        Semaphore fail = new Semaphore(0);
        Windlass windlass = database.start(node().outboxHandler("a", resting(1, LONG), message -> {
            calls.incrementAndGet();
            fail.acquire();
            throw new BrokerDown();
        }));
        enqueue(windlass, "a", 5);
        eventually().until(() -> calls.get() == 5);
        fail.release();
        eventually().until(() -> changes.contains(true));
        fail.release(4);
        eventually().until(() -> database.count("status = 0 and last_error is not null") == 5);
        assertThat(retries()).isZero();
    }

    @Test
    void oneMessageIsTriedAtATimeUntilOneSucceeds() throws Exception {
        Semaphore proceed = new Semaphore(0);
        CountDownLatch other = new CountDownLatch(1);
        Windlass windlass = database.start(node().outboxHandler("b", message -> other.countDown())
                .outboxHandler("a", resting(3, SHORT), message -> {
                    running.incrementAndGet();
                    try {
                        if (changes.contains(true)) {
                            proceed.acquire();
                        }
                        send(message);
                    } finally {
                        running.decrementAndGet();
                    }
                }));
        enqueue(windlass, "a", 30);
        eventually().until(() -> changes.contains(true));
        proceed.release(16); // whatever had begun by then
        eventually().until(() -> running.get() == 1 && proceed.availablePermits() == 0);
        enqueue(windlass, "a", 5);
        enqueue(windlass, "b", 1);
        other.await();
        assertThat(running.get()).isEqualTo(1);
        assertThat(database.count("topic = 'a' and status = 1")).isEqualTo(1);
        down = false;
        proceed.release(100);
        eventually().until(() -> database.count("topic = 'a' and status = 2") == 35);
    }

    @Test
    void aTopicAtRestGivesBackWhatItHoldsAndLeavesOthersAlone() {
        CountDownLatch gate = new CountDownLatch(1);
        down = false;
        Windlass windlass = database.start(node(OutboxOptions.defaults().withLease(LONG))
                .outboxHandler("b", message -> {})
                .outboxHandler("a", resting(3, LONG), message -> {
                    if (down) {
                        gate.await();
                    }
                    send(message);
                }));
        enqueue(windlass, "a", 20);
        eventually().until(() -> database.count("status = 2") == 20);
        down = true;
        enqueue(windlass, "a", 100);
        eventually().until(() -> database.count("status = 1") > 16); // more than can run at once
        gate.countDown();
        eventually().until(() -> database.count("topic = 'a' and status = 0") == 100);
        enqueue(windlass, "b", 100);
        eventually().until(() -> database.count("topic = 'b' and status = 2") == 100);
        assertThat(database.count("topic = 'a' and status = 0 and lease_expiries = 0"))
                .isEqualTo(100);
        assertThat(retries()).isEqualTo(2);
    }

    @Test
    void aNodeWithNothingElseToDoWakesWhenTheRestIsOver() {
        Windlass windlass = database.start(node().outboxHandler("a", resting(1, SHORT), this::send));
        enqueue(windlass, "a", 1);
        eventually().until(() -> calls.get() >= 4);
        down = false;
        eventually().until(() -> database.count("status = 2 and retry_count = 0") == 1);
    }

    @Test
    void aMessageThatAlwaysFailsDoesNotKeepTheOthersOut() {
        Windlass windlass = database.start(node().outboxHandler("a", resting(2, SHORT), message -> {
            if (message.payload().equals("poison")) {
                calls.incrementAndGet();
                throw new IllegalStateException("cannot be handled");
            }
        }));
        windlass.outbox().enqueue(OutboxEntry.of("a", "poison"));
        eventually().until(() -> calls.get() >= 3);
        assertThat(retries()).isEqualTo(1);
        enqueue(windlass, "a", 10);
        eventually().until(() -> database.count("status = 2") == 10);
    }

    @Test
    void timeOutsAreFailures() {
        HandlerOptions quick = resting(2, LONG).withConcurrency(1).withTimeout(Duration.ofMillis(50));
        Windlass windlass = database.start(node().outboxHandler("a", quick, message -> new CountDownLatch(1).await()));
        enqueue(windlass, "a", 3);
        eventually().until(() -> changes.contains(true));
        eventually().until(() -> database.count("status = 0") == 3);
        assertThat(retries()).isEqualTo(1);
    }

    @Test
    void aProbeThatHasToBeGivenUpCostsNoAttemptAndTheTopicRestsOn() {
        CountDownLatch end = new CountDownLatch(1);
        HandlerOptions quick = resting(1, SHORT).withConcurrency(1).withTimeout(Duration.ofMillis(50));
        try (Logs logs = Logs.collect(Level.WARN)) {
            Windlass windlass = database.start(node(database.shortLease()).outboxHandler("a", quick, message -> {
                if (calls.incrementAndGet() > 1) {
                    uninterruptibly(end);
                }
                throw new BrokerDown();
            }));
            enqueue(windlass, "a", 2);
            eventually().until(() -> logs.count(Level.WARN, "still fails") == 1);
            eventually().until(() -> database.count("last_error like '%did not stop%'") == 1);
            assertThat(retries()).isZero();
        } finally {
            end.countDown();
        }
    }

    private static void uninterruptibly(CountDownLatch end) {
        while (end.getCount() > 0) {
            LockSupport.parkNanos(1_000_000);
            Thread.interrupted();
        }
    }

    @Test
    void restsAreLoggedAsTheyBeginAndEnd() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            HandlerOptions options = resting(3, SHORT).withConcurrency(1);
            Windlass windlass = database.start(node().name("orders").outboxHandler("a", options, this::send));
            enqueue(windlass, "a", 5);
            eventually().until(() -> logs.count(Level.WARN, "still fails") >= 2);
            down = false;
            eventually().until(() -> database.count("status = 2") == 5);
            String cause = BrokerDown.class.getName();
            assertThat(logs.at(Level.ERROR)).hasSize(3);
            assertThat(logs.at(Level.WARN).get(0))
                    .isEqualTo("[orders] the handler of topic a failed 3 times in a row, at last with " + cause
                            + "; the topic rests for 0.2 s on this node, then one message is tried");
            assertThat(logs.at(Level.WARN).stream().skip(1))
                    .allMatch(line -> line.equals("[orders] the handler of topic a still fails, with " + cause
                            + "; the topic rests for another 0.2 s"))
                    .hasSize(calls.get() - 8);
            assertThat(logs.count(Level.INFO, "[orders] the handler of topic a works again"))
                    .isEqualTo(1);
        }
    }
}
