package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.Overtime;
import dev.windlass.base.RetryPolicy;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class MisbehavingHandlerTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final RetryPolicy TWICE = new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(1), 0);

    /** Ways to end a handler other than returning. */
    enum Misbehaviour {
        CHECKED {
            @Override
            void run() throws IOException {
                throw new IOException("disk full");
            }
        },
        UNCHECKED {
            @Override
            void run() {
                throw new IllegalStateException("broken");
            }
        },
        ERROR {
            @Override
            void run() {
                throw new AssertionError("impossible");
            }
        },
        STACK_OVERFLOW {
            @Override
            @SuppressWarnings("InfiniteRecursion")
            void run() {
                run();
            }
        },
        OUT_OF_MEMORY {
            @Override
            void run() {
                throw new OutOfMemoryError("Java heap space");
            }
        },
        STOPS_ITS_THREAD {
            @Override
            @SuppressWarnings({"deprecation", "removal"})
            void run() {
                Thread.currentThread().stop();
            }
        },
        NUL_IN_MESSAGE {
            @Override
            void run() {
                throw new IllegalStateException("a\0b");
            }
        },
        HALF_A_CHARACTER_IN_MESSAGE {
            @Override
            void run() {
                throw new IllegalStateException("a\ud83d");
            }
        },
        HUGE_MESSAGE {
            @Override
            void run() {
                throw new IllegalStateException("x".repeat(1 << 20));
            }
        },
        NO_MESSAGE_AT_ALL {
            @Override
            void run() {
                throw new Unprintable(Optional.empty());
            }
        },
        MESSAGE_THAT_THROWS {
            @Override
            void run() {
                throw new Unprintable(Optional.of(new IllegalStateException("no message today")));
            }
        },
        INTERRUPTS_ITSELF {
            @Override
            void run() {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted");
            }
        };

        abstract void run() throws Exception;
    }

    private static final class Unprintable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @SuppressWarnings("serial")
        private final Optional<RuntimeException> failure;

        Unprintable(Optional<RuntimeException> failure) {
            this.failure = failure;
        }

        @Override
        public String getMessage() {
            return toString();
        }

        @Override
        @SuppressWarnings({"NullAway", "ToStringReturnsNull"})
        public String toString() {
            if (failure.isPresent()) {
                throw failure.get();
            }
            return null;
        }
    }

    @ParameterizedTest
    @EnumSource
    @Shows("OBX-056")
    void whateverAHandlerThrowsIsAFailedAttemptAndNothingMore(Misbehaviour misbehaviour) {
        AtomicInteger good = new AtomicInteger();
        HandlerOptions options = HandlerOptions.defaults().withRetry(TWICE);
        Windlass windlass = database.start(database.windlass()
                .outbox(OutboxOptions.defaults().withConcurrency(1))
                .outboxHandler("bad", options, message -> misbehaviour.run())
                .outboxHandler("good", message -> good.incrementAndGet()));
        windlass.outbox()
                .enqueueAll(IntStream.range(0, 5)
                        .mapToObj(n -> OutboxEntry.of("bad", "x"))
                        .toList());
        eventually().until(() -> database.count("status = 3 and retry_count = 1") == 5);
        assertThat(database.count("length(last_error) between 1 and 2048")).isEqualTo(5);
        windlass.outbox().enqueue(OutboxEntry.of("good", "x"));
        eventually().until(() -> database.count("status = 2") == 1);
        assertThat(good.get()).isEqualTo(1);
    }

    @Test
    void anInterruptOfOneMessageNeverReachesTheNext() {
        Queue<Boolean> interrupted = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(database.windlass()
                .outbox(OutboxOptions.defaults().withConcurrency(1))
                .outboxHandler("a", message -> {
                    interrupted.add(Thread.currentThread().isInterrupted());
                    Thread.currentThread().interrupt();
                }));
        windlass.outbox()
                .enqueueAll(IntStream.range(0, 50)
                        .mapToObj(n -> OutboxEntry.of("a", "x"))
                        .toList());
        eventually().until(() -> database.count("status = 2") == 50);
        assertThat(interrupted).hasSize(50).containsOnly(false);
    }

    @Test
    void aHandlerThatHonoursItsInterruptFailsByTimeOut() {
        CountDownLatch never = new CountDownLatch(1);
        HandlerOptions options = HandlerOptions.defaults().withRetry(TWICE).withTimeout(Duration.ofMillis(50));
        Windlass windlass = database.start(database.windlass().outboxHandler("a", options, message -> never.await()));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> database.count("status = 3") == 1);
        assertThat(database.value(String.class, "select last_error from %s.outbox"))
                .isEqualTo("java.lang.IllegalStateException: timed out after 50 ms");
    }

    @Test
    void handlersThatNeverReturnAreGivenUpAndTakeABoundedNumberOfThreads() {
        AtomicBoolean hang = new AtomicBoolean(true);
        AtomicInteger hanging = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        HandlerOptions options = HandlerOptions.defaults()
                .withTimeout(Duration.ofMillis(100))
                .withRetry(new RetryPolicy(50, Duration.ofMillis(1), Duration.ofMillis(10), 0));
        Windlass windlass = database.start(database.windlass()
                .outbox(database.shortLease().withConcurrency(2).withMaxLeaseExpiries(1000))
                .outboxHandler("bad", options, message -> {
                    most.accumulateAndGet(hanging.incrementAndGet(), Math::max);
                    while (hang.get()) {
                        hangOn();
                    }
                    hanging.decrementAndGet();
                })
                .outboxHandler("good", message -> {}));
        windlass.outbox().enqueue(OutboxEntry.of("bad", "x"));
        eventually().until(() -> database.count("retry_count >= 1 and last_error like '%did not stop%'") == 1);
        windlass.outbox().enqueue(OutboxEntry.of("good", "x"));
        eventually().until(() -> database.count("topic = 'good' and status = 2") == 1);

        windlass.outbox()
                .enqueueAll(IntStream.range(0, 20)
                        .mapToObj(n -> OutboxEntry.of("bad", "x"))
                        .toList());
        eventually().until(() -> hanging.get() == 3);
        windlass.outbox().enqueue(OutboxEntry.of("good", "x"));
        eventually().until(() -> database.count("topic = 'good' and status = 2") == 2);
        hang.set(false);
        eventually().until(() -> database.count("status = 2") == 23);
        assertThat(most.get())
                .as("one that runs beside the place of the other topic, and two that were given up")
                .isEqualTo(3);
    }

    @Test
    void whatWaitsBehindHungHandlersGoesToANodeThatIsFree() {
        AtomicBoolean hang = new AtomicBoolean(true);
        HandlerOptions options = HandlerOptions.defaults().withTimeout(Duration.ofMillis(100));
        OutboxOptions outbox = database.shortLease().withConcurrency(1).withMaxLeaseExpiries(1000);
        Windlass sick = database.start(database.windlass().outbox(outbox).outboxHandler("a", options, message -> {
            while (hang.get() && message.payload().equals("hang")) {
                hangOn();
            }
        }));
        sick.outbox()
                .enqueueAll(IntStream.range(0, 20)
                        .mapToObj(n -> OutboxEntry.of("a", "good"))
                        .toList());
        eventually().until(() -> database.count("status = 2") == 20);
        sick.outbox()
                .enqueueAll(IntStream.range(0, 43)
                        .mapToObj(n -> OutboxEntry.of("a", n < 3 ? "hang" : "good"))
                        .toList());
        eventually().until(() -> database.count("status = 1") > 10);
        database.start(database.windlass().outbox(outbox).outboxHandler("a", message -> {}));
        eventually().until(() -> database.count("status = 2 and payload = 'good'") == 60);
        hang.set(false);
    }

    @Test
    @Shows("OBX-059")
    void aMessageThatIsHeldWaitsForItsHandlerHoweverLongItTakes() {
        AtomicBoolean hang = new AtomicBoolean(true);
        AtomicInteger calls = new AtomicInteger();
        HandlerOptions options = HandlerOptions.defaults()
                .withTimeout(Duration.ofMillis(50))
                .withOvertime(Overtime.HOLD)
                .withRetry(TWICE);
        for (int node = 0; node < 2; node++) {
            database.start(database.windlass().outbox(database.shortLease()).outboxHandler("a", options, message -> {
                calls.incrementAndGet();
                while (hang.get()) {
                    hangOn();
                }
            }));
        }
        database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> database.count("locked_until > created_at + interval '4 s'") == 1);
        assertThat(calls.get()).isEqualTo(1);
        assertThat(database.count("status = 1 and retry_count = 0")).isEqualTo(1);
        hang.set(false);
        eventually().until(() -> database.count("status = 2") == 1);
        assertThat(calls.get()).as("the first attempt has failed").isEqualTo(2);
        assertThat(database.count(
                        "retry_count = 1 and lease_expiries = 0 and last_error like '%timed out after 50 ms%'"))
                .isEqualTo(1);
    }

    @Test
    void aShutdownGivesUpAMessageThatIsHeldAndTheAttemptCounts() {
        AtomicBoolean hang = new AtomicBoolean(true);
        AtomicInteger calls = new AtomicInteger();
        HandlerOptions options =
                HandlerOptions.defaults().withTimeout(Duration.ofMillis(50)).withOvertime(Overtime.HOLD);
        Windlass windlass = database.start(database.windlass()
                .options(database.options().withShutdownGrace(Duration.ofMillis(100)))
                .outboxHandler("a", options, message -> {
                    calls.incrementAndGet();
                    while (hang.get()) {
                        hangOn();
                    }
                }));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> calls.get() == 1);
        LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
        windlass.close();
        hang.set(false);
        assertThat(database.count("status = 0 and retry_count = 1 and last_error like '%did not stop%'"))
                .isEqualTo(1);
    }

    /** Ignores the interrupt without spinning, which would keep a virtual thread's carrier from everybody else. */
    private static void hangOn() {
        LockSupport.parkNanos(1_000_000);
        Thread.interrupted();
    }
}
