package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.DeadMessageException;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.StillInProgressException;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers that wait for each other. */
@Timeout(60)
@OnEveryEngine
final class AlreadyProcessedConformance extends InboxConformance {
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    @Test
    void aMessageIsProcessedOnlyOnceItIsMarked() {
        assertThat(inbox.alreadyProcessed(SOURCE, "msg-123")).isFalse();
        inbox.markProcessed(SOURCE, "msg-123");
        assertThat(inbox.alreadyProcessed(SOURCE, "msg-123")).isTrue();
    }

    @Test
    void ofTenCallersAtOnceOneHasToProcessTheMessage() throws Exception {
        List<Boolean> answers = race(10, () -> {
            boolean processed = inbox.alreadyProcessed(SOURCE, "1");
            if (!processed) {
                inbox.markProcessing(SOURCE, "1");
                LockSupport.parkNanos(50_000_000);
                inbox.markProcessed(SOURCE, "1");
            }
            return processed;
        });
        assertThat(answers).containsOnlyOnce(false);
        assertThat(Collections.frequency(answers, true)).isEqualTo(9);
        assertThat(seen("1").retryCount() + seen("1").leaseExpiries()).isZero();
    }

    @Test
    void ofCallersInSeveralProcessesOneHasToProcessTheMessage() throws Exception {
        List<Inbox> nodes = List.of(inbox, inbox(OPTIONS), inbox(OPTIONS));
        AtomicInteger next = new AtomicInteger();
        for (int round = 0; round < 10; round++) {
            String id = "message " + round;
            List<Boolean> answers = race(9, () -> {
                Inbox mine = nodes.get(next.incrementAndGet() % 3);
                boolean processed = mine.alreadyProcessed(SOURCE, id);
                if (!processed) {
                    mine.markProcessed(SOURCE, id);
                }
                return processed;
            });
            assertThat(answers).containsOnlyOnce(false);
        }
    }

    @Test
    void ifTheOwnerFailsOneOfThoseWhoWaitIsNext() throws Exception {
        AtomicInteger owners = new AtomicInteger();
        List<Boolean> answers = race(6, () -> {
            boolean processed = inbox.alreadyProcessed(SOURCE, "1");
            if (!processed && owners.incrementAndGet() < 3) {
                inbox.abandon(SOURCE, "1", "not this time", Duration.ZERO);
            } else if (!processed) {
                inbox.markProcessed(SOURCE, "1");
            }
            return processed;
        });
        assertThat(Collections.frequency(answers, false)).isEqualTo(3);
        assertThat(seen("1").retryCount()).isEqualTo(2);
    }

    @Test
    void ifTheOwnerIsNotHeardOfOneOfThoseWhoWaitIsNext() throws Exception {
        Inbox quick = inbox(SHORT);
        assertThat(begun(quick, "1").number()).isEqualTo(1);
        List<Boolean> answers = race(4, () -> {
            boolean processed = quick.alreadyProcessed(SOURCE, "1");
            if (!processed) {
                quick.markProcessed(SOURCE, "1");
            }
            return processed;
        });
        assertThat(answers).containsOnlyOnce(false);
        assertThat(seen("1").leaseExpiries()).isEqualTo(1);
    }

    @Test
    void deadIsNotProcessedAndNobodyIsToldSo() throws Exception {
        assertThat(inbox.alreadyProcessed(SOURCE, "1")).isFalse();
        Future<Boolean> waiting = threads.submit(() -> inbox.alreadyProcessed(SOURCE, "1"));
        inbox.markDead(SOURCE, "1", "cannot be read");
        assertThatThrownBy(waiting::get).hasCauseInstanceOf(DeadMessageException.class);
        assertThatThrownBy(() -> inbox.alreadyProcessed(SOURCE, "1"))
                .isInstanceOf(DeadMessageException.class)
                .hasMessageContaining("1 of source orders was given up: it has not been processed");
    }

    @Test
    void whoWaitsGivesUpAtTheBound() {
        begun("1");
        Inbox impatient = inbox(OPTIONS.withWaitAtMost(Duration.ofMillis(80)));
        assertThatThrownBy(() -> impatient.alreadyProcessed(SOURCE, "1"))
                .isInstanceOf(StillInProgressException.class)
                .hasMessageContaining("1 of source orders was still in progress after 80 ms");
        assertThat(seen("1").retryCount()).isZero();
    }

    @Test
    void whoAsksTwiceWithoutAMarkIsToldThatHeHasItHimself() {
        Inbox impatient = inbox(OPTIONS.withWaitAtMost(Duration.ofMillis(50)));
        assertThat(impatient.alreadyProcessed(SOURCE, "1")).isFalse();
        assertThatThrownBy(() -> impatient.alreadyProcessed(SOURCE, "1"))
                .isInstanceOf(StillInProgressException.class)
                .hasMessageContaining("this thread has begun it itself");
    }

    @Test
    void whoWaitsHoldsNoConnection() throws Exception {
        begun("1");
        List<Future<Boolean>> waiting = new ArrayList<>();
        for (int i = 0; i < 60; i++) { // more than the pool has connections, each for longer than its patience
            waiting.add(threads.submit(() -> inbox.alreadyProcessed(SOURCE, "1")));
        }
        eventually().until(() -> database().activeConnections() == 0);
        processedElsewhere("1");
        for (Future<Boolean> each : waiting) {
            assertThat(each.get()).isTrue();
        }
    }

    private void processedElsewhere(String id) {
        database().update("update %s.inbox_seen set status = 2, locked_until = null where message_id = ?", id);
    }

    @Test
    void whoWaitsLearnsOfAMarkThatIsMadeWithTheAttempt() throws Exception {
        InboxAttempt attempt = begun("1");
        Future<Boolean> waiting = threads.submit(() -> inbox.alreadyProcessed(SOURCE, "1"));
        inbox.markProcessed(attempt);
        assertThat(waiting.get()).isTrue();
    }

    @Test
    void waitingIsRefusedInsideATransaction() throws Exception {
        windlass.inTransaction(connection -> {
            assertThatThrownBy(() -> inbox.alreadyProcessed(SOURCE, "1"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("outside of a transaction")
                    .hasMessageContaining("use begin, which does not wait");
            return true;
        });
        assertThat(inbox.find(SOURCE, "1")).isEmpty();
        assertThat(inbox.alreadyProcessed(SOURCE, "1")).isFalse();
    }

    @Test
    void aTransactionThatEndedRefusesNothing() throws Exception {
        assertThatThrownBy(() -> windlass.inTransaction(connection -> {
                    windlass.inTransaction(nested -> true);
                    assertThatThrownBy(() -> inbox.alreadyProcessed(SOURCE, "1"))
                            .isInstanceOf(IllegalStateException.class);
                    throw new IllegalArgumentException("rolled back");
                }))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(inbox.alreadyProcessed(SOURCE, "1")).isFalse();
    }

    @Test
    void aThreadThatDoesNotOwnTheMessageCannotMarkItByItsKey() throws Exception {
        assertThat(inbox.alreadyProcessed(SOURCE, "1")).isFalse();
        List<Callable<Object>> marks = List.of(
                () -> run(() -> inbox.markProcessing(SOURCE, "1")),
                () -> run(() -> inbox.markProcessed(SOURCE, "1")),
                () -> run(() -> inbox.markDead(SOURCE, "1", "no")),
                () -> inbox.abandon(SOURCE, "1", "no", Duration.ZERO));
        for (Callable<Object> mark : marks) {
            assertThatThrownBy(() -> threads.submit(mark).get())
                    .cause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("expected this thread to own message 1 of source orders");
        }
        assertThatThrownBy(() -> inbox.markProcessed(SOURCE, "2")).isInstanceOf(IllegalStateException.class);
        inbox.markProcessed(SOURCE, "1");
        assertThatThrownBy(() -> inbox.markProcessed(SOURCE, "1")).isInstanceOf(IllegalStateException.class);
    }

    private static Object run(Runnable work) {
        work.run();
        return true;
    }

    @Test
    void theMarkCanBeMadeInTheTransactionOfTheBusinessChange() throws Exception {
        assertThat(inbox.alreadyProcessed(SOURCE, "1")).isFalse();
        try (Connection connection = transaction()) {
            inbox.markProcessed(connection, SOURCE, "1");
            connection.rollback();
        }
        assertThat(status("1")).isEqualTo(WorkStatus.IN_PROGRESS);
        windlass.inTransaction(connection -> {
            inbox.markProcessed(connection, SOURCE, "1");
            return true;
        });
        assertThat(inbox.alreadyProcessed(SOURCE, "1")).isTrue();
    }

    @Test
    void anInterruptEndsTheWait() throws Exception {
        begun("1");
        CountDownLatch told = new CountDownLatch(1);
        Thread waiting = new Thread(() -> {
            try {
                inbox.alreadyProcessed(SOURCE, "1");
            } catch (WindlassException e) {
                if (Thread.currentThread().isInterrupted()) {
                    told.countDown();
                }
            }
        });
        waiting.start();
        eventually().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
        waiting.interrupt();
        told.await();
    }

    @Test
    void otherContentIsProcessedOrNotAsTheFirstWas() {
        assertThat(inbox.alreadyProcessed(SOURCE, "1", ContentHash.of("a"))).isFalse();
        inbox.markProcessed(SOURCE, "1");
        assertThat(inbox.alreadyProcessed(SOURCE, "1", ContentHash.of("b"))).isTrue();
    }
}
