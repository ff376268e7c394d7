package dev.windlass.internal.work;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.NotYet;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.TopicLimit;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkHandler;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkOptions;
import dev.windlass.work.WorkQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nodes that work on the queue. */
class WorkNodeTest {
    private static final Duration LONG = Duration.ofSeconds(40);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static WorkEntry item(String type) {
        return WorkEntry.of("queue", type, "{}");
    }

    @Test
    void eachTypeHasItsHandlerAndTheResultCanBeWaitedFor() throws Exception {
        Windlass windlass = database.start(database.windlass()
                .workHandler(
                        "queue",
                        "double",
                        (item, context) -> context.result(Integer.toString(2 * Integer.parseInt(item.payload()))))
                .workHandler("queue", "shout", (item, context) -> context.result(item.payload() + "!")));
        WorkQueue work = windlass.workQueue();

        WorkIdentifier number = work.enqueue(WorkEntry.of("queue", "double", "21"));
        WorkIdentifier text = work.enqueue(WorkEntry.of("queue", "shout", "hey"));

        assertThat(work.await(number, LONG).result()).contains("42");
        assertThat(work.await(text, LONG)).satisfies(item -> {
            assertThat(item.result()).contains("hey!");
            assertThat(item.status()).isEqualTo(WorkStatus.DONE);
        });
    }

    @Test
    void waitingEndsWithItsTimeAndIsRefusedInATransaction() throws Exception {
        Windlass windlass = database.start(database.windlass());
        WorkQueue work = windlass.workQueue();
        WorkIdentifier id = work.enqueue(item("nobody's"));

        assertThatThrownBy(() -> work.await(id, Duration.ofMillis(20)))
                .isInstanceOf(TimeoutException.class)
                .hasMessageContaining(id.toString());
        assertThatThrownBy(() -> windlass.inTransaction(connection -> work.await(id, LONG)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("outside of a transaction");
        assertThatThrownBy(() -> work.await(new WorkIdentifier(new java.util.UUID(1, 1)), LONG))
                .hasMessageContaining("got none");
    }

    @Test
    void progressIsStoredWithTheHeartbeatWhileTheHandlerRuns() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        Windlass windlass = database.start(database.windlass()
                .work(WorkOptions.defaults().withLease(Duration.ofMillis(600)))
                .workHandler("queue", "slow", (item, context) -> {
                    context.progress(40, "four of ten");
                    assertThat(seen.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
                    context.progress(90);
                }));
        WorkQueue work = windlass.workQueue();
        WorkIdentifier id = work.enqueue(item("slow"));

        eventually()
                .untilAsserted(() -> assertThat(work.find(id).orElseThrow()).satisfies(item -> {
                    assertThat(item.progress()).hasValue(40);
                    assertThat(item.progressText()).contains("four of ten");
                }));
        seen.countDown();
        assertThat(work.await(id, LONG).progress()).hasValue(90);
    }

    @Test
    void cancellingAQueuedItemEndsItAndNobodyRunsIt() throws Exception {
        ConcurrentLinkedQueue<String> run = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(
                database.windlass().workHandler("queue", "t", (WorkItem item) -> run.add(item.payload())));
        WorkQueue work = windlass.workQueue();
        WorkIdentifier id = work.enqueue(item("t").withDelay(Duration.ofHours(1)));

        assertThat(work.cancel(id)).isTrue();
        assertThat(work.cancel(id)).isFalse();
        assertThat(work.await(id, LONG).status()).isEqualTo(WorkStatus.CANCELLED);
        assertThat(run).isEmpty();
    }

    @Test
    void theHandlerOfACancelledItemIsToldAndTheItemEndsAsCancelled() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicInteger attempts = new AtomicInteger();
        Windlass windlass = database.start(database.windlass().workHandler("queue", "endless", (item, context) -> {
            attempts.incrementAndGet();
            begun.countDown();
            Thread.sleep(LONG.toMillis());
        }));
        WorkQueue other = database.start(database.windlass()).workQueue();
        WorkIdentifier id = windlass.workQueue().enqueue(item("endless"));
        assertThat(begun.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();

        assertThat(other.cancel(id)).isTrue();

        assertThat(other.await(id, LONG)).satisfies(item -> {
            assertThat(item.status()).isEqualTo(WorkStatus.CANCELLED);
            assertThat(item.retryCount()).isZero();
        });
        assertThat(attempts).hasValue(1);
    }

    @Test
    void aHandlerThatGoesOnAfterTheItemWasCancelledKeepsItsLeaseAndCanCompleteIt() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch renewed = new CountDownLatch(1);
        Duration lease = Duration.ofMillis(600);
        Windlass windlass = database.start(database.windlass()
                .work(WorkOptions.defaults().withLease(lease))
                .workHandler("queue", "stubborn", (item, context) -> {
                    begun.countDown();
                    try {
                        renewed.await(LONG.toSeconds(), TimeUnit.SECONDS);
                    } catch (InterruptedException asked) {
                        assertThat(renewed.await(LONG.toSeconds(), TimeUnit.SECONDS))
                                .isTrue();
                    }
                    context.result("done all the same");
                }));
        WorkQueue work = windlass.workQueue();
        WorkIdentifier id = work.enqueue(item("stubborn"));
        assertThat(begun.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();

        assertThat(work.cancel(id)).isTrue();

        eventually()
                .untilAsserted(() -> assertThat(work.find(id).orElseThrow())
                        .satisfies(item -> assertThat(item.leaseExpiresAt().orElseThrow())
                                .isAfter(item.cancelAskedAt().orElseThrow().plus(lease.multipliedBy(3)))));
        renewed.countDown();
        assertThat(work.await(id, LONG)).satisfies(item -> {
            assertThat(item.status()).isEqualTo(WorkStatus.DONE);
            assertThat(item.result()).contains("done all the same");
        });
    }

    @Test
    void whatIsPutOffCostsNoAttemptAndWhatFailsForGoodEndsAtOnce() throws Exception {
        AtomicInteger snoozes = new AtomicInteger();
        Windlass windlass = database.start(database.windlass()
                .workHandler("queue", "snooze", (WorkItem item) -> {
                    if (snoozes.incrementAndGet() < 3) {
                        throw new NotYet(Duration.ofMillis(1), "not yet");
                    }
                })
                .workHandler("queue", "hopeless", (WorkItem item) -> {
                    throw new PermanentFailure("never");
                })
                .workHandler(
                        "queue",
                        "tries",
                        HandlerOptions.defaults()
                                .withRetry(RetryPolicy.defaults()
                                        .withBase(Duration.ofMillis(1))
                                        .withMaxAttempts(3)),
                        (item, context) -> {
                            throw new IllegalStateException("again");
                        }));
        WorkQueue work = windlass.workQueue();
        WorkIdentifier snooze = work.enqueue(item("snooze"));
        WorkIdentifier hopeless = work.enqueue(item("hopeless"));
        WorkIdentifier tries = work.enqueue(item("tries"));

        assertThat(work.await(snooze, LONG)).satisfies(item -> {
            assertThat(item.status()).isEqualTo(WorkStatus.DONE);
            assertThat(item.retryCount()).isZero();
        });
        assertThat(work.await(hopeless, LONG).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(work.await(tries, LONG).lastError())
                .hasValueSatisfying(error -> assertThat(error).contains("again"));
        assertThat(work.failures(tries)).hasSize(3);
    }

    @Test
    void anItemOfATypeThatANodeDoesNotKnowIsLeftToTheOthers() throws Exception {
        database.start(database.windlass().workHandler("queue", "old", (WorkItem item) -> {}));
        WorkQueue work = database.start(database.windlass()).workQueue();
        WorkIdentifier id = work.enqueue(item("new"));
        eventually()
                .untilAsserted(() -> assertThat(work.find(id).orElseThrow().lastError())
                        .hasValueSatisfying(error -> assertThat(error).contains("no handler")));

        assertThat(work.find(id).orElseThrow()).satisfies(item -> {
            assertThat(item.status()).isEqualTo(WorkStatus.READY);
            assertThat(item.retryCount()).isZero();
        });
    }

    @Test
    void twoNodesTogetherNeverRunMoreThanTheLimitAndUseIt() throws Exception {
        int most = 3;
        AtomicInteger now = new AtomicInteger();
        List<Integer> seen = Collections.synchronizedList(new ArrayList<>());
        Semaphore ended = new Semaphore(0);
        WorkHandler handler = (item, context) -> {
            seen.add(now.incrementAndGet());
            Thread.sleep(3);
            now.decrementAndGet();
            ended.release();
        };
        WorkQueue writer = database.start(database.windlass()).workQueue();
        writer.operator("anna").limit("queue", TopicLimit.none().withRunning(most));
        writer.enqueueAll(IntStream.range(0, 60).mapToObj(i -> item("t")).toList());
        database.start(database.windlass().workHandler("queue", "t", handler));
        database.start(database.windlass().workHandler("queue", "t", handler));

        assertThat(ended.tryAcquire(60, LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(seen).allSatisfy(count -> assertThat(count).isLessThanOrEqualTo(most));
        assertThat(seen).contains(most);
    }

    @Test
    void higherPrioritiesStartFirstAlsoOnANodeThatHasOthersInHand() throws Exception {
        ConcurrentLinkedQueue<Integer> order = new ConcurrentLinkedQueue<>();
        Semaphore ended = new Semaphore(0);
        WorkQueue writer = database.start(database.windlass()).workQueue();
        writer.enqueueAll(IntStream.range(0, 60)
                .mapToObj(i -> item("t").withPriority(i % 10))
                .toList());
        database.start(database.windlass()
                .work(WorkOptions.defaults().withConcurrency(1))
                .workHandler("queue", "t", (WorkItem item) -> {
                    order.add(item.priority());
                    ended.release();
                }));

        assertThat(ended.tryAcquire(60, LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(List.copyOf(order)).isSortedAccordingTo(Collections.reverseOrder());
    }

    @Test
    void aNodeThatDoesNotKnowATypeDoesNotJudgeHowManyAttemptsItHas() {
        WorkQueue work = database.passive().workQueue();
        WorkIdentifier id = work.enqueue(item("new"));
        database.update("update %s.work set retry_count = 50");
        database.start(database.windlass().workHandler("queue", "old", (item, context) -> {}));

        eventually()
                .untilAsserted(() -> assertThat(work.find(id).orElseThrow()).satisfies(item -> {
                    assertThat(item.startedAt()).isPresent();
                    assertThat(item.status()).isEqualTo(WorkStatus.READY);
                    assertThat(item.retryCount()).isEqualTo(50);
                }));
    }

    @Test
    void timeOutsAreLookedAfterAsOftenAsTheShortestOfTheTypesNeeds() {
        WorkHandlers handlers = new WorkHandlers();
        HandlerOptions defaults = HandlerOptions.defaults();
        handlers.add("queue", "slow", (item, context) -> {}, null);
        handlers.add("queue", "quick", (item, context) -> {}, defaults.withTimeout(Duration.ofMillis(80)));

        assertThat(handlers.handlings(defaults))
                .hasEntrySatisfying(
                        "queue",
                        handling -> assertThat(handling.options().timeout()).isEqualTo(Duration.ofMillis(80)));
    }
}
