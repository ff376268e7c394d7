package dev.windlass.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.RetryAfter;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WindlassOptions;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.operator.TopicLimit;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkQueue;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class DrainTest {
    private static final Duration MOMENT = Duration.ofMillis(300);

    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private final AtomicInteger handled = new AtomicInteger();

    @Test
    void drainReturnsAtOnceWhenThereIsNothingToDo() {
        database.drain(MOMENT);
    }

    @Test
    void drainReturnsWhenAllHasBeenHandled() {
        Windlass windlass = database.start(database.windlass().outboxHandler("a", m -> handled.incrementAndGet()));
        windlass.outbox()
                .enqueueAll(IntStream.range(0, 300)
                        .mapToObj(i -> OutboxEntry.of("a", "x" + i))
                        .toList());

        database.drain();

        assertThat(handled).hasValue(300);
        assertThat(database.messages("a")).hasSize(300).allMatch(OutboxMessage::isProcessed);
    }

    @Test
    void drainCoversTimersThatAreDue() {
        Windlass windlass = database.start(database.windlass().outboxHandler("a", m -> handled.incrementAndGet()));
        windlass.timers().schedule(TimerEntry.of("a", "", Duration.ofDays(1)));
        windlass.timers()
                .scheduleAll(IntStream.range(0, 100)
                        .mapToObj(i -> TimerEntry.of("a", "", Duration.ZERO))
                        .toList());

        database.drain();
        assertThat(handled).hasValue(100);

        database.advance(Duration.ofDays(1));
        database.drain();
        assertThat(handled).hasValue(101);
    }

    @Test
    void drainTellsOfTimersThatNobodyHandsOff() {
        Windlass windlass = database.start(
                database.windlass().schedule(ScheduleOptions.defaults().withHandOff(false)));
        windlass.timers().schedule(TimerEntry.of("a", "", Duration.ZERO));

        assertThatThrownBy(() -> database.drain(MOMENT)).hasMessageContaining("1 of topic a due as timers");
    }

    @Test
    void drainCoversTheQueueOfTheInboxAndNotWhatIsProcessedWithoutIt() {
        Windlass windlass = database.start(database.windlass().inboxHandler("a", message -> handled.incrementAndGet()));
        windlass.inbox().begin("orders", "processed by hand");
        windlass.inbox()
                .enqueueAll(IntStream.range(0, 100)
                        .mapToObj(i -> InboxEntry.of("orders", "message " + i, "a", ""))
                        .toList());
        database.drain();
        assertThat(handled).hasValue(100);

        windlass.inbox().enqueue(InboxEntry.of("orders", "nobody's", "b", ""));
        assertThatThrownBy(() -> database.drain(MOMENT)).hasMessageContaining("1 of topic b ready");
    }

    @Test
    void drainCoversTheWorkQueueWithAndWithoutKeys() {
        Windlass windlass = database.start(
                database.windlass().workHandler("reports", "monthly", item -> handled.incrementAndGet()));
        windlass.workQueue().operator("me").limit("reports", TopicLimit.none().withPerKey(1));
        windlass.workQueue()
                .enqueueAll(IntStream.range(0, 100)
                        .mapToObj(i -> WorkEntry.of("reports", "monthly", "")
                                .withPriority(i % 10)
                                .withKey(i % 2 == 0 ? null : "customer " + i % 6))
                        .toList());
        windlass.workQueue().enqueue(WorkEntry.of("reports", "monthly", "").withDelay(Duration.ofDays(1)));

        database.drain();

        assertThat(handled).hasValue(100);
    }

    @Test
    void drainSaysHowManyOfWhichQueueAreLeft() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Windlass windlass = database.start(database.windlass().workHandler("slow", "a", item -> {
            started.countDown();
            release.await();
        }));
        windlass.workQueue().enqueue(WorkEntry.of("slow", "a", "secret"));
        windlass.workQueue().enqueue(WorkEntry.of("unknown", "a", "secret"));
        windlass.workQueue().enqueue(WorkEntry.of("unknown", "b", "secret").withKey("c"));
        started.await();

        assertThatThrownBy(() -> database.drain(MOMENT))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("1 of queue slow in progress")
                .hasMessageContaining("2 of queue unknown ready")
                .hasMessageNotContaining("secret");
        release.countDown();
    }

    @Test
    void drainDealsAtOnceWithItemsThatHaveExpiredOrLostTheirLease() {
        WorkQueue queue = database.start(database.windlass()).workQueue();
        WorkIdentifier expired = queue.enqueue(WorkEntry.of("reports", "monthly", "")
                .withExpiresAt(Instant.now().minusSeconds(60)));
        WorkIdentifier lost = queue.enqueue(WorkEntry.of("reports", "monthly", ""));
        OwnerToken gone = OwnerToken.fresh();
        queue.claim(gone, Duration.ofHours(1), 1);
        database.advance(Duration.ofHours(2));

        assertThatThrownBy(() -> database.drain(MOMENT)).hasMessageContaining("1 of queue reports ready");

        assertThat(queue.find(expired).orElseThrow().status()).isEqualTo(WorkStatus.FAILED);
        assertThat(queue.find(lost).orElseThrow().leaseExpiries()).isEqualTo(1);
    }

    @Test
    void drainMissesNothingThatOneQueueHandsToAnother() {
        WindlassBuilder builder = database.windlass();
        Windlass writer = database.start(database.windlass());
        builder.workHandler("steps", "even", item -> writer.outbox().enqueue(OutboxEntry.of("odd", item.payload())))
                .outboxHandler("odd", message -> {
                    int left = Integer.parseInt(message.payload());
                    handled.incrementAndGet();
                    if (left > 0) {
                        writer.workQueue().enqueue(WorkEntry.of("steps", "even", "" + (left - 1)));
                    }
                });
        database.start(builder);
        writer.workQueue().enqueue(WorkEntry.of("steps", "even", "50"));

        database.drain();

        assertThat(handled).hasValue(51);
    }

    @Test
    void drainWaitsForWhatHandlersWrite() {
        Outbox outbox = database.start(database.windlass()).outbox();
        database.start(database.windlass()
                .outboxHandler("first", m -> outbox.enqueue(OutboxEntry.of("second", "")))
                .outboxHandler("second", m -> handled.incrementAndGet()));
        outbox.enqueue(OutboxEntry.of("first", ""));

        database.drain();

        assertThat(handled).hasValue(1);
    }

    @Test
    void drainWaitsForRetriesThatAreDueNow() {
        Windlass windlass = database.start(database.windlass().outboxHandler("a", m -> {
            if (handled.incrementAndGet() < 3) {
                throw new RetryAfter(Duration.ZERO, "not yet");
            }
        }));
        windlass.outbox().enqueue(OutboxEntry.of("a", ""));

        database.drain();

        assertThat(handled).hasValue(3);
        assertThat(database.messages("a")).allMatch(OutboxMessage::isProcessed);
    }

    @Test
    void drainDoesNotWaitForRetriesThatAreDueLater() {
        RetryPolicy patient =
                RetryPolicy.defaults().withBase(Duration.ofHours(1)).withCap(Duration.ofHours(1));
        Windlass windlass = database.start(database.windlass()
                .outboxHandler("a", HandlerOptions.defaults().withRetry(patient), (OutboxMessage m) -> {
                    handled.incrementAndGet();
                    throw new IllegalStateException("no");
                }));
        windlass.outbox().enqueue(OutboxEntry.of("a", ""));

        database.drain();

        assertThat(handled).hasValue(1);
        assertThat(database.messages("a")).singleElement().satisfies(m -> {
            assertThat(m.status()).isEqualTo(WorkStatus.READY);
            assertThat(m.retryCount()).isEqualTo(1);
        });
    }

    @Test
    void drainSaysWhatIsLeftByTopicAndStatusWithoutPayloads() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Windlass windlass = database.start(database.windlass().outboxHandler("slow", m -> {
            started.countDown();
            release.await();
        }));
        windlass.outbox().enqueue(OutboxEntry.of("slow", "secret"));
        windlass.outbox().enqueue(OutboxEntry.of("unknown", "secret"));
        windlass.outbox().enqueue(OutboxEntry.of("unknown", "secret"));
        started.await();

        assertThatThrownBy(() -> database.drain(MOMENT))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("1 of topic slow in progress")
                .hasMessageContaining("2 of topic unknown ready")
                .hasMessageContaining(database.schema())
                .hasMessageNotContaining("secret");
        release.countDown();
    }

    @Test
    void drainNamesTheLastErrorOfWhatIsLeft() {
        Outbox outbox = database.start(database.windlass()).outbox();
        outbox.enqueue(OutboxEntry.of("a", ""));
        OwnerToken owner = OwnerToken.fresh();
        OutboxMessage claimed = outbox.claim(owner, Duration.ofMinutes(1), 1).get(0);
        outbox.abandon(owner, List.of(claimed.id()), Duration.ZERO, "printer on fire");

        assertThatThrownBy(() -> database.drain(MOMENT)).hasMessageContaining("last error: printer on fire");
    }

    @Test
    void drainFailsWhatHasExpired() {
        Windlass windlass = database.start(database.windlass().outboxHandler("a", m -> handled.incrementAndGet()));
        windlass.outbox()
                .enqueue(OutboxEntry.of("a", "").withExpiresAt(Instant.now().minusSeconds(60)));

        database.drain();

        assertThat(handled).hasValue(0);
        assertThat(database.messages("a"))
                .singleElement()
                .satisfies(m -> assertThat(m.status()).isEqualTo(WorkStatus.FAILED));
    }

    @Test
    void drainWorksWithNodesThatWereStartedElsewhere() {
        try (Windlass windlass = Windlass.on(database.dataSource())
                .options(WindlassOptions.defaults().withSchemaName(database.schema()))
                .outboxHandler("a", m -> handled.incrementAndGet())
                .start()) {
            windlass.outbox().enqueue(OutboxEntry.of("a", ""));
            database.drain();
        }
        assertThat(handled).hasValue(1);
    }

    @Test
    void drainCoversEveryOutboxTableOfTheSchema() {
        OutboxOptions other = OutboxOptions.defaults().withTableName("Other \"box\"");
        Windlass windlass = database.start(database.windlass().outbox(other).ensureSchema());
        windlass.outbox().enqueue(OutboxEntry.of("elsewhere", ""));

        assertThatThrownBy(() -> database.drain(MOMENT)).hasMessageContaining("1 of topic elsewhere ready");
    }

    @Test
    void drainRefusesATimeoutThatIsNotPositive() {
        assertThatIllegalArgumentException().isThrownBy(() -> database.drain(Duration.ZERO));
    }
}
