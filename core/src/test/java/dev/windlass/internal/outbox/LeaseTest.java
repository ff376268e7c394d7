package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class LeaseTest {
    private static final String STEAL = "update %s.outbox set owner_token = gen_random_uuid(),"
            + " locked_until = clock_timestamp() + interval '1 hour' where payload = ";

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Queue<String> handled = new ConcurrentLinkedQueue<>();
    private final CountDownLatch goOn = new CountDownLatch(1);

    private static List<OutboxEntry> entries(String payload, int count) {
        return IntStream.range(0, count)
                .mapToObj(n -> OutboxEntry.of("a", payload + n))
                .toList();
    }

    @Test
    @Shows({"OBX-059", "OBX-101"})
    void aHandlerThatTakesSeveralLeasesKeepsItsMessage() {
        AtomicInteger calls = new AtomicInteger();
        for (int node = 0; node < 2; node++) {
            database.start(database.windlass().outbox(database.shortLease()).outboxHandler("a", message -> {
                calls.incrementAndGet();
                goOn.await();
            }));
        }
        database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> database.count("locked_until > created_at + interval '4 s'") == 1);
        goOn.countDown();
        eventually().until(() -> database.count("status = 2 and lease_expiries = 0 and retry_count = 0") == 1);
        assertThat(calls.get()).isEqualTo(1);
    }

    @Test
    @Shows({"OBX-057", "OBX-105"})
    void aHandlerWhoseLeaseIsLostIsCancelledAndInterrupted() throws Exception {
        Windlass windlass = database.start(database.windlass()
                .outbox(database.shortLease())
                .outboxHandler("a", (message, cancellation) -> {
                    try {
                        goOn.await();
                    } catch (InterruptedException e) {
                        handled.add("interrupted, cancelled: " + cancellation.isCancelled());
                        throw new IllegalStateException("half of it is done", e);
                    }
                }));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> database.count("status = 1") == 1);
        try (Logs logs = Logs.collect(Level.WARN)) {
            database.execute(STEAL + "'x'");
            eventually()
                    .until(() -> logs.count(Level.WARN, "had lost their lease when their outcome was written") == 1);
            assertThat(logs.count(Level.WARN, "lost the lease of message")).isEqualTo(1);
            assertThat(logs.at(Level.WARN))
                    .filteredOn(line -> line.contains("half of it is done"))
                    .singleElement()
                    .asString()
                    .contains("of topic a", "the message may belong to another owner", "LeaseTest.java");
        }
        assertThat(handled).containsExactly("interrupted, cancelled: true");
        assertThat(database.count("status = 1 and retry_count = 0 and last_error is null"))
                .isEqualTo(1);
    }

    @Test
    void theLateOutcomeOfALostAttemptChangesNothing() throws Exception {
        Windlass windlass = database.start(database.windlass().outboxHandler("a", message -> goOn.await()));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> database.count("status = 1") == 1);
        try (Logs logs = Logs.collect(Level.WARN)) {
            database.execute(STEAL + "'x'");
            goOn.countDown();
            eventually()
                    .until(() -> logs.count(Level.WARN, "had lost their lease when their outcome was written") == 1);
        }
        assertThat(database.count("status = 1 and locked_until > clock_timestamp() + interval '50 min'"))
                .isEqualTo(1);
    }

    @Test
    @Shows("OBX-059")
    void aMessageThatIsLostWhileItWaitsIsNotStarted() throws Exception {
        Windlass windlass = database.start(database.windlass()
                .outbox(OutboxOptions.defaults().withConcurrency(1).withLease(Duration.ofSeconds(2)))
                .outboxHandler("a", message -> {
                    handled.add(message.payload());
                    if (message.payload().equals("block0")) {
                        goOn.await();
                    }
                }));
        windlass.outbox().enqueueAll(entries("quick", 20));
        eventually().until(() -> database.count("status = 2") == 20);
        List<OutboxEntry> batch = new ArrayList<>(entries("block", 1));
        batch.addAll(entries("stolen", 10));
        windlass.outbox().enqueueAll(batch);
        eventually().until(() -> database.count("status = 1") == 11);
        try (Logs logs = Logs.collect(Level.WARN)) {
            database.execute(STEAL + "any (select 'stolen' || n from generate_series(0, 9) n)");
            eventually().until(() -> logs.count(Level.WARN, "lost the lease of message") == 10);
        }
        goOn.countDown();
        windlass.outbox().enqueueAll(entries("last", 1));
        eventually().until(() -> database.count("status = 2") == 22);
        assertThat(handled).noneMatch(payload -> payload.startsWith("stolen"));
        assertThat(database.count("payload like 'stolen%' and status = 1")).isEqualTo(10);
    }

    @Test
    @Shows("OBX-106")
    void aLeaseThatRanOutIsReapedAndTheMessageHandled() throws Exception {
        try (Logs logs = Logs.collect(Level.INFO)) {
            database.start(database.windlass()
                    .outbox(database.shortLease())
                    .outboxHandler("a", message -> handled.add(message.payload())));
            database.execute("""
                    insert into %s.outbox (id, created_at, next_attempt_at, claimed_at, owner_token, locked_until, status, topic, payload)
                    select gen_random_uuid(), clock_timestamp(), clock_timestamp(), clock_timestamp(), gen_random_uuid(),
                           clock_timestamp() - interval '1 s', 1, 'a', 'x'
                      from generate_series(1, 3)""");
            eventually().until(() -> database.count("status = 2 and lease_expiries = 1 and retry_count = 0") == 3);
            assertThat(logs.count(Level.INFO, "returned 3 messages to ready whose lease had run out"))
                    .isEqualTo(1);
        }
    }
}
