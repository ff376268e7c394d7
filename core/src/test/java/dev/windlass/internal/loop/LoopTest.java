package dev.windlass.internal.loop;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.database.PoolTimeout;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class LoopTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Workers workers = new Workers();
    private final AtomicInteger runs = new AtomicInteger();

    @AfterEach
    void close() {
        workers.close();
    }

    private Loop started(Loop.Step step) {
        Loop loop = new Loop("a loop", workers, step);
        loop.start();
        return loop;
    }

    @Test
    void runsAgainAfterThePauseItAsksFor() {
        Loop loop = started(() -> runs.incrementAndGet() < 5 ? Duration.ofMillis(1) : Loop.PARKED);
        eventually().until(() -> runs.get() == 5);
        assertThat(loop.stop(PATIENCE)).isTrue();
    }

    @Test
    void wakingEndsThePause() {
        Loop loop = started(() -> {
            runs.incrementAndGet();
            return Loop.PARKED;
        });
        for (int i = 1; i <= 100; i++) {
            int expected = i;
            eventually().until(() -> runs.get() >= expected);
            loop.wake();
        }
        eventually().until(() -> runs.get() == 101);
    }

    @Test
    void wakingDuringAStepMakesItRunOnceMore() {
        Semaphore steps = new Semaphore(0);
        Loop loop = started(() -> {
            runs.incrementAndGet();
            steps.acquire();
            return Loop.PARKED;
        });
        eventually().until(() -> runs.get() == 1);
        loop.wake();
        loop.wake();
        loop.wake();
        steps.release(10);
        eventually().until(() -> runs.get() == 2);
        assertThat(loop.stop(PATIENCE)).isTrue();
        assertThat(runs.get()).isEqualTo(2);
    }

    @Test
    void aLoopSaysNothingOfAPoolWithoutAConnectionNorOfAnInterrupt() {
        SQLException busy = new PoolTimeout(new SQLTimeoutException(), Duration.ofSeconds(3), "pool 1 is busy");
        SQLException stopped = new SQLException("waiting was interrupted", new InterruptedException());
        List<Exception> troubles = List.of(busy, stopped, new IllegalStateException("broken"), busy);
        try (Logs logs = Logs.collect(Level.INFO)) {
            started(() -> {
                int run = runs.getAndIncrement();
                if (run < troubles.size()) {
                    throw troubles.get(run);
                }
                return Loop.PARKED;
            });
            eventually().until(() -> logs.count(Level.INFO, "a loop works again after 4 failures") == 1);
            assertThat(logs.at(Level.WARN)).singleElement().asString().contains("a loop failed and goes on trying");
        }
    }

    @Test
    void ofSeveralTimesGivenDuringAStepTheShortestCounts() {
        Semaphore steps = new Semaphore(0);
        Loop loop = started(() -> {
            runs.incrementAndGet();
            steps.acquire();
            return Loop.PARKED;
        });
        eventually().until(() -> runs.get() == 1);
        loop.wakeWithin(Duration.ofMillis(1));
        loop.wakeWithin(Duration.ofDays(1));
        steps.release(10);
        eventually().until(() -> runs.get() == 2);
        assertThat(loop.stop(PATIENCE)).isTrue();
    }

    @Test
    void wakingWithinATimeDuringAStepShortensThePauseAfterIt() {
        Semaphore steps = new Semaphore(0);
        Loop loop = started(() -> {
            runs.incrementAndGet();
            steps.acquire();
            return Loop.PARKED;
        });
        eventually().until(() -> runs.get() == 1);
        loop.wakeWithin(Duration.ofMillis(1));
        steps.release(10);
        eventually().until(() -> runs.get() == 2);
        loop.wakeWithin(Duration.ofMillis(1));
        eventually().until(() -> runs.get() == 3);
    }

    @Test
    void noWakeUpIsLostAndNoStepRunsTwiceAtOnce() throws Exception {
        AtomicInteger given = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        AtomicInteger inside = new AtomicInteger();
        AtomicBoolean crowded = new AtomicBoolean();
        Loop loop = started(() -> {
            if (inside.incrementAndGet() > 1) {
                crowded.set(true);
            }
            seen.set(given.get());
            inside.decrementAndGet();
            return runs.incrementAndGet() % 3 == 0 ? Duration.ofNanos(1) : Loop.PARKED;
        });
        Thread[] wakers = new Thread[4];
        for (int t = 0; t < wakers.length; t++) {
            wakers[t] = new Thread(() -> {
                for (int i = 0; i < 5000; i++) {
                    given.incrementAndGet();
                    loop.wake();
                }
            });
            wakers[t].start();
        }
        for (Thread waker : wakers) {
            waker.join();
        }
        eventually().until(() -> seen.get() == 20_000);
        assertThat(crowded).isFalse();
    }

    @Test
    void aFailingStepGoesOnAndOnlyTheFirstFailureAndTheRecoveryAreLogged() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            Loop loop = started(() -> {
                if (runs.incrementAndGet() <= 3) {
                    throw new Exception("away");
                }
                return Loop.PARKED;
            });
            eventually().until(() -> runs.get() == 4);
            assertThat(loop.stop(PATIENCE)).isTrue();
            assertThat(logs.at(Level.WARN)).singleElement().asString().startsWith("a loop failed and goes on trying");
            assertThat(logs.at(Level.INFO)).containsExactly("a loop works again after 3 failures");
        }
    }

    @Test
    void errorsAndInterruptsDoNotEndIt() {
        started(() -> {
            switch (runs.incrementAndGet()) {
                case 1 -> throw new StackOverflowError();
                case 2 -> {
                    Thread.currentThread().interrupt();
                    throw new InterruptedException();
                }
                default -> {
                    return Loop.PARKED;
                }
            }
        });
        eventually().until(() -> runs.get() == 3);
    }

    /** Of 50 ms at least, and then of 100. */
    @Test
    void wakingDoesNotShortenThePauseAfterAFailure() {
        List<Long> times = new CopyOnWriteArrayList<>();
        Loop loop = started(() -> {
            times.add(System.nanoTime());
            throw new Exception("away");
        });
        eventually().until(() -> {
            for (int i = 0; i < 1_000; i++) {
                loop.wake();
            }
            return times.size() >= 3;
        });
        assertThat(Duration.ofNanos(times.get(2) - times.get(0))).isGreaterThan(Duration.ofMillis(140));
        loop.stop(PATIENCE);
    }

    @Test
    void stoppingWaitsForTheStepAlsoOnAnInterruptedThread() {
        CountDownLatch goOn = new CountDownLatch(1);
        Loop loop = started(() -> {
            runs.incrementAndGet();
            goOn.await();
            return Duration.ZERO;
        });
        eventually().until(() -> runs.get() == 1);
        assertThat(loop.stop(Duration.ofMillis(1))).isFalse();
        new Thread(goOn::countDown).start();
        Thread.currentThread().interrupt();
        assertThat(loop.stop(PATIENCE)).isTrue();
        assertThat(Thread.interrupted()).isTrue();
        loop.wake();
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void aLoopThatNeverStartedStopsAndStaysStopped() {
        Loop loop = new Loop("a loop", workers, () -> {
            runs.incrementAndGet();
            return Duration.ZERO;
        });
        loop.wake();
        assertThat(loop.stop(PATIENCE)).isTrue();
        loop.start();
        assertThat(runs.get()).isZero();
    }

    /** Whoever logs or sets a timer needs memory as well. */
    @Test
    void anErrorBesideItsStepDoesNotEndItEither() {
        OutOfMemoryError error = new OutOfMemoryError() {
            @Override
            public StackTraceElement[] getStackTrace() {
                throw new OutOfMemoryError("to tell of another");
            }
        };
        try (Logs logs = Logs.collect(Level.DEBUG)) {
            started(() -> {
                if (runs.incrementAndGet() < 3) {
                    throw error;
                }
                return Loop.PARKED;
            });
            eventually().until(() -> runs.get() == 3);
            assertThat(logs.at(Level.WARN)).as("even that could not be said").isEmpty();
        }
    }

    @Test
    void thePauseAfterFailuresIsNoLongerThanWanted() {
        Loop loop = new Loop(
                "a loop",
                workers,
                () -> {
                    runs.incrementAndGet();
                    throw new Exception("away");
                },
                Duration.ofMillis(1));
        loop.start();
        eventually().until(() -> runs.get() > 200);
        assertThat(loop.stop(PATIENCE)).isTrue();
    }

    @Test
    void severalAreToldToStopBeforeAnyIsWaitedFor() {
        CountDownLatch goOn = new CountDownLatch(1);
        Loop first = started(() -> {
            runs.incrementAndGet();
            goOn.await();
            return Duration.ZERO;
        });
        Loop second = started(() -> {
            runs.incrementAndGet();
            goOn.await();
            return Duration.ZERO;
        });
        eventually().until(() -> runs.get() == 2);
        first.askToStop();
        second.askToStop();
        Deadline deadline = Deadline.in(MonotonicClock.system(), PATIENCE);
        goOn.countDown();
        assertThat(first.awaitEnd(deadline)).isTrue();
        assertThat(second.awaitEnd(deadline)).isTrue();
        assertThat(runs.get()).isEqualTo(2);
    }

    @Test
    void anInterruptEndsAStepThatWaitsAndTouchesNoOther() throws Exception {
        AtomicBoolean stillInterrupted = new AtomicBoolean();
        Loop loop = started(() -> {
            runs.incrementAndGet();
            new CountDownLatch(1).await();
            return Loop.PARKED;
        });
        eventually().until(() -> runs.get() == 1);
        loop.askToStop();
        loop.interrupt();
        assertThat(loop.awaitEnd(Deadline.in(MonotonicClock.system(), PATIENCE)))
                .isTrue();
        loop.interrupt();
        started(() -> {
            stillInterrupted.set(Thread.currentThread().isInterrupted());
            runs.incrementAndGet();
            return Loop.PARKED;
        });
        eventually().until(() -> runs.get() == 2);
        assertThat(stillInterrupted).isFalse();
    }

    @Test
    void withoutAThreadItIsNeitherBusyNorInTheWay() {
        workers.close();
        Loop loop = started(() -> Duration.ZERO);
        loop.wake();
        assertThat(loop.stop(PATIENCE)).isTrue();
    }
}
