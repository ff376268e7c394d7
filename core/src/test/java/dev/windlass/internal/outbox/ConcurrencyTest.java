package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class ConcurrencyTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    /** How many run now, and how many ran at once at most. */
    private static final class Gauge {
        private final AtomicInteger now = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();

        void enter() {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
        }

        void leave() {
            now.decrementAndGet();
        }
    }

    @Test
    @Shows({"OBX-059", "OBX-100", "OBX-101"})
    void noMessageIsHandledTwiceAtOnceByManyNodesThatRetry() {
        Set<UUID> running = ConcurrentHashMap.newKeySet();
        Queue<UUID> overlaps = new ConcurrentLinkedQueue<>();
        AtomicInteger calls = new AtomicInteger();
        OutboxHandler.Simple handler = message -> {
            if (!running.add(message.id().value())) {
                overlaps.add(message.id().value());
            }
            try {
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(3_000_000));
                if (calls.incrementAndGet() % 3 == 0) {
                    throw new IllegalStateException("every third attempt fails");
                }
            } finally {
                running.remove(message.id().value());
            }
        };
        HandlerOptions options = HandlerOptions.defaults()
                .withRetry(new RetryPolicy(100, Duration.ofMillis(1), Duration.ofMillis(5), 1));
        for (int node = 0; node < 4; node++) {
            database.start(database.windlass()
                    .outbox(database.shortLease()
                            .withLease(Duration.ofSeconds(3))
                            .withBatchSize(7))
                    .outboxHandler("a", options, handler));
        }
        Windlass writer = database.passive();
        for (int i = 0; i < 15; i++) {
            writer.outbox()
                    .enqueueAll(IntStream.range(0, 40)
                            .mapToObj(n -> OutboxEntry.of("a", "x"))
                            .toList());
        }
        eventually().until(() -> database.count("status = 2") == 600);
        assertThat(overlaps).isEmpty();
        assertThat(calls.get()).isGreaterThan(800);
        assertThat(database.count("lease_expiries > 0")).isZero();
    }

    @Test
    @Shows("OBX-060")
    void handlersRunSideBySideUpToTheLimitsOfTopicAndNode() {
        Gauge node = new Gauge();
        Gauge small = new Gauge();
        CountDownLatch full = new CountDownLatch(1);
        HandlerOptions two = HandlerOptions.defaults().withConcurrency(2);
        Windlass windlass = database.start(database.windlass()
                .outbox(OutboxOptions.defaults().withConcurrency(5))
                .outboxHandler("small", two, message -> run(node, small, full))
                .outboxHandler("large", message -> run(node, new Gauge(), full)));
        for (String topic : new String[] {"small", "large"}) {
            windlass.outbox()
                    .enqueueAll(IntStream.range(0, 100)
                            .mapToObj(n -> OutboxEntry.of(topic, "x"))
                            .toList());
        }
        eventually().until(() -> node.now.get() == 5);
        full.countDown();
        eventually().until(() -> database.count("status = 2") == 200);
        assertThat(node.most.get()).isEqualTo(5);
        assertThat(small.most.get()).isEqualTo(2);
    }

    private static void run(Gauge node, Gauge topic, CountDownLatch full) throws InterruptedException {
        node.enter();
        topic.enter();
        full.await();
        LockSupport.parkNanos(200_000);
        topic.leave();
        node.leave();
    }

    @Test
    void aTopicWhoseHandlersHangLeavesPlacesToOthersWithoutAnyLimit() {
        CountDownLatch never = new CountDownLatch(1);
        AtomicInteger hanging = new AtomicInteger();
        Windlass windlass = database.start(database.windlass()
                .outboxHandler("slow", message -> {
                    hanging.incrementAndGet();
                    never.await();
                })
                .outboxHandler("quick", message -> {})
                .outboxHandler("other", message -> {}));
        windlass.outbox()
                .enqueueAll(IntStream.range(0, 500)
                        .mapToObj(n -> OutboxEntry.of("slow", "x"))
                        .toList());
        eventually().until(() -> hanging.get() == 14);
        for (String topic : new String[] {"quick", "other"}) {
            windlass.outbox()
                    .enqueueAll(IntStream.range(0, 500)
                            .mapToObj(n -> OutboxEntry.of(topic, "x"))
                            .toList());
        }
        eventually().until(() -> database.count("status = 2") == 1000);
        assertThat(hanging.get()).isEqualTo(14);
        never.countDown();
    }

    @Test
    void aBlockedTopicDoesNotHoldUpAnother() {
        CountDownLatch never = new CountDownLatch(1);
        HandlerOptions two = HandlerOptions.defaults().withConcurrency(2);
        Windlass windlass = database.start(database.windlass()
                .outboxHandler("blocked", two, message -> never.await())
                .outboxHandler("free", message -> {}));
        for (String topic : new String[] {"blocked", "free"}) {
            windlass.outbox()
                    .enqueueAll(IntStream.range(0, 500)
                            .mapToObj(n -> OutboxEntry.of(topic, "x"))
                            .toList());
        }
        eventually().until(() -> database.count("topic = 'free' and status = 2") == 500);
        assertThat(database.count("topic = 'blocked' and status = 1")).isEqualTo(2);
        never.countDown();
    }
}
