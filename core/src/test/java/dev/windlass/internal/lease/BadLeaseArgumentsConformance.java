package dev.windlass.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.lease.LeaseRequest;
import dev.windlass.lease.LeaseSemaphore;
import java.time.Duration;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Bad arguments are refused with what was expected and what came, and nothing is written. */
@OnEveryEngine
final class BadLeaseArgumentsConformance extends LeaseConformance {

    @AfterEach
    void nothingWasWritten() {
        assertThat(database().value(Long.class, "select count(*) from %s.lease"))
                .isZero();
        assertThat(database().value(Long.class, "select count(*) from %s.lease_semaphore"))
                .isZero();
    }

    static Stream<Arguments> badNames() {
        return Stream.of(
                Arguments.of(nothing(), "expected a lease name, got null"),
                Arguments.of("", "expected a lease name, got blank text"),
                Arguments.of(" \t", "expected a lease name, got blank text"),
                Arguments.of("n".repeat(256), "expected a lease name of at most 255 characters, got 256"),
                Arguments.of("a\0b", "expected a lease name without NUL characters, got one at index 1"),
                Arguments.of("\uD83D", "expected a lease name of well-formed Unicode"));
    }

    @ParameterizedTest
    @MethodSource("badNames")
    void everyCallRefusesANameThatCannotBe(String name, String message) {
        refused(() -> leases.tryAcquire(name, LONG), message);
        refused(() -> LeaseRequest.of(name, LONG), message);
        refused(() -> leases.tryAcquire(name, LONG, LONG), message);
        refused(() -> leases.runIfAcquired(name, LONG, lease -> {}), message);
        refused(() -> leases.find(name), message);
        refused(() -> leases.semaphore(name, 1), message);
        refused(() -> leases.lead(name, LONG, lease -> {}), message);
    }

    static Stream<Arguments> badDurations() {
        return Stream.of(
                Arguments.of(nothing(), "expected a positive lease duration, got null"),
                Arguments.of(Duration.ZERO, "expected a positive lease duration, got PT0S"),
                Arguments.of(Duration.ofSeconds(-1), "expected a positive lease duration, got PT-1S"),
                Arguments.of(
                        Duration.ofNanos(999_999), "expected a lease duration from 1 ms to 1 day, got PT0.000999999S"),
                Arguments.of(
                        Duration.ofDays(1).plusMillis(1), "expected a lease duration from 1 ms to 1 day, got PT24H"),
                Arguments.of(Duration.ofDays(40_000), "expected a lease duration of at most 100 years"));
    }

    @ParameterizedTest
    @MethodSource("badDurations")
    void everyCallRefusesADurationThatCannotBe(Duration duration, String message) {
        LeaseSemaphore semaphore = leases.semaphore("s", 1);
        refused(() -> leases.tryAcquire("a", duration), message);
        refused(() -> leases.tryAcquire(LeaseRequest.of("a", duration)), message);
        refused(() -> leases.tryAcquire("a", duration, LONG), message);
        refused(() -> leases.runIfAcquired("a", duration, lease -> {}), message);
        refused(() -> leases.lead("a", duration, lease -> {}), message);
        refused(() -> semaphore.tryAcquire(duration), message);
        refused(() -> semaphore.tryAcquire(duration, LONG), message);
        refused(() -> semaphore.runIfAcquired(duration, lease -> {}), message);
    }

    @Test
    void anOwnerIsAText() {
        refused(() -> LeaseRequest.of("a", LONG).withOwner(nothing()), "expected an owner, got null");
        refused(() -> LeaseRequest.of("a", LONG).withOwner(" "), "expected an owner, got blank text");
        refused(
                () -> LeaseRequest.of("a", LONG).withOwner("o".repeat(256)),
                "owner of at most 255 characters, got 256");
        refused(() -> LeaseRequest.of("a", LONG).withOwner("\0"), "owner without NUL characters");
    }

    @Test
    void aWaitIsNeverNegative() {
        refused(() -> leases.tryAcquire("a", LONG, nothing()), "expected a time to wait of zero or more, got null");
        refused(
                () -> leases.tryAcquire("a", LONG, Duration.ofMillis(-1)),
                "time to wait of zero or more, got PT-0.001S");
        refused(() -> leases.tryAcquire("a", LONG, Duration.ofDays(36_501)), "time to wait of at most 100 years");
        refused(
                () -> leases.semaphore("s", 1).tryAcquire(LONG, Duration.ofMillis(-1)),
                "time to wait of zero or more, got PT-0.001S");
    }

    @Test
    void aSemaphoreHasOneToTenThousandPermits() {
        refused(() -> leases.semaphore("s", 0), "expected 1 to 10000 permits, got 0");
        refused(() -> leases.semaphore("s", -1), "expected 1 to 10000 permits, got -1");
        refused(() -> leases.semaphore("s", 10_001), "expected 1 to 10000 permits, got 10001");
    }

    @Test
    void workAndCallbacksAreNeverMissing() {
        refused(() -> leases.runIfAcquired("a", LONG, nothing()), "expected a piece of work, got null");
        refused(() -> leases.lead("a", LONG, nothing()), "expected a piece of work, got null");
        refused(() -> leases.semaphore("s", 1).runIfAcquired(LONG, nothing()), "expected a piece of work, got null");
    }

    @Test
    void optionsRefuseWhatCannotBe() {
        WindlassBuilder builder = database().windlass();
        LeaseOptions options = LeaseOptions.defaults();
        refused(() -> builder.leases((LeaseOptions) nothing()), "expected a set of lease options, got null");
        refused(() -> builder.clock(nothing()), "expected a clock, got null");
        refused(() -> options.withTableName(" "), "expected a table name, got blank text");
        refused(() -> options.withTableName("a$b"), "table name without '$'");
        for (double part : new double[] {0, 0.09, 0.91, 1, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            refused(() -> options.withRenewAt(part), "expected a part of the lease from 0.1 to 0.9, got " + part);
        }
        refused(() -> options.withRetention(Duration.ofDays(-1)), "expected a retention of zero or more, got PT-24H");
        refused(() -> options.withRetention(nothing()), "expected a retention of zero or more, got null");
    }

    @Test
    void deadlinesRefuseWhatCannotBe() {
        refused(() -> Deadline.in(nothing(), LONG), "expected a clock, got null");
        refused(() -> new Deadline(nothing(), 1), "expected a clock, got null");
        refused(() -> Deadline.in(MonotonicClock.system(), nothing()), "time until the deadline of zero or more");
        refused(() -> Deadline.in(MonotonicClock.system(), LONG.negated()), "time until the deadline of zero or more");
    }

    private static void refused(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("expected ")
                .hasMessageContaining(message);
    }

    /** What a caller without null checks may hand over. */
    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    static <T> T nothing() {
        return null;
    }
}
