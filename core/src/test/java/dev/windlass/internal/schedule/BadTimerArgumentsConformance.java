package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.Topic;
import dev.windlass.operator.MessageFilter;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Bad arguments are refused with what was expected and what came, and nothing is written. */
@OnEveryEngine
final class BadTimerArgumentsConformance extends TimerConformance {
    private static final TimerEntry GOOD = TimerEntry.of("topic", "", FAR);
    private static final TimerIdentifier ID = new TimerIdentifier(new UUID(1, 1));

    @AfterEach
    void nothingWasWritten() {
        assertThat(count("outbox_timer")).isZero();
    }

    static Stream<Arguments> badEntries() {
        return Stream.of(
                bad(() -> TimerEntry.of(nothing(), "", FAR), "expected a topic, got null"),
                bad(() -> TimerEntry.of(" ", "", FAR), "expected a topic, got blank text"),
                bad(
                        () -> TimerEntry.of("t".repeat(256), "", FAR),
                        "expected a topic of at most 255 characters, got 256"),
                bad(() -> TimerEntry.of("a\0", "", FAR), "expected a topic without NUL characters"),
                bad(() -> TimerEntry.of("a", nothing(), FAR), "expected a payload, got null"),
                bad(() -> TimerEntry.of("a", "\0", FAR), "expected a payload without NUL characters"),
                bad(() -> TimerEntry.of("a", "\uD83D", FAR), "expected a payload of well-formed Unicode"),
                bad(
                        () -> TimerEntry.of("a", "", BadTimerArgumentsConformance.<Instant>nothing()),
                        "expected a due time or a delay, got neither"),
                bad(
                        () -> TimerEntry.of("a", "", BadTimerArgumentsConformance.<Duration>nothing()),
                        "expected a due time or a delay, got neither"),
                bad(
                        () -> new TimerEntry("a", "", FAR, Duration.ZERO, null, null, Map.of()),
                        "expected a due time or a delay, got both"),
                bad(() -> TimerEntry.of("a", "", Instant.MAX), "expected a due time between the years 1 and 9999"),
                bad(() -> TimerEntry.of("a", "", Instant.MIN), "expected a due time between the years 1 and 9999"),
                bad(
                        () -> TimerEntry.of("a", "", Duration.ofMillis(-1)),
                        "expected a delay of zero or more, got PT-0.001S"),
                bad(() -> TimerEntry.of("a", "", Duration.ofDays(36_501)), "expected a delay of at most 100 years"),
                bad(() -> GOOD.replacing(nothing()), "expected a timer key, got null"),
                bad(() -> GOOD.replacing(" "), "expected a timer key, got blank text"),
                bad(() -> GOOD.ifAbsent("k".repeat(256)), "expected a timer key of at most 255 characters, got 256"),
                bad(() -> GOOD.ifAbsent("\0"), "expected a timer key without NUL characters"),
                bad(() -> GOOD.withCorrelationId("c".repeat(256)), "correlation id of at most 255 characters, got 256"),
                bad(() -> GOOD.withHeaders(nothing()), "expected a map of headers, got null"),
                bad(() -> GOOD.withHeaders(Map.of(" ", "v")), "expected a header name, got blank text"),
                bad(
                        () -> GOOD.withHeaders(Collections.singletonMap("h", nothing())),
                        "expected a header value, got null"),
                bad(() -> new TimerIdentifier(nothing()), "expected a timer identifier, got null"),
                bad(() -> ScheduleOptions.defaults().withBatchSize(0), "expected a positive batch size, got 0"),
                bad(() -> ScheduleOptions.defaults().withLease(Duration.ZERO), "expected a positive lease, got PT0S"),
                bad(
                        () -> ScheduleOptions.defaults().withRunRetention(Duration.ofSeconds(-1)),
                        "expected a retention of runs of zero or more, got PT-1S"));
    }

    @ParameterizedTest
    @MethodSource("badEntries")
    void anEntryRefusesWhatCannotBeStored(ThrowingCallable making, String message) {
        refused(making, message);
    }

    @Test
    void callsRefuseBadArguments() throws SQLException {
        OwnerToken owner = OwnerToken.fresh();
        try (Connection connection = database().transaction()) {
            refused(() -> timers.schedule(nothing()), "expected a timer entry, got null");
            refused(() -> timers.schedule(nothing(), GOOD), "expected a connection, got null");
            refused(() -> timers.schedule(connection, nothing()), "expected a timer entry, got null");
            refused(() -> timers.scheduleAll(nothing()), "expected a collection of timer entries, got null");
            refused(
                    () -> timers.scheduleAll(Arrays.asList(GOOD, nothing())),
                    "expected a collection of timer entries, got one with a null in it");
            refused(() -> timers.scheduleAll(nothing(), List.of(GOOD)), "expected a connection, got null");
            refused(() -> timers.cancel((TimerIdentifier) nothing()), "expected a timer identifier, got null");
            refused(() -> timers.cancel((Connection) nothing(), ID), "expected a connection, got null");
            refused(() -> timers.cancel(connection, nothing()), "expected a timer identifier, got null");
            refused(() -> timers.cancel("", "k"), "expected a topic, got blank text");
            refused(() -> timers.cancel("a", nothing()), "expected a timer key, got null");
            refused(() -> timers.cancel(nothing(), "a", "k"), "expected a connection, got null");
            refused(() -> timers.cancel(connection, "a", " "), "expected a timer key, got blank text");
            refused(() -> timers.reschedule(nothing(), FAR), "expected a timer identifier, got null");
            refused(
                    () -> timers.reschedule(ID, (Instant) nothing()),
                    "expected a due time between the years 1 and 9999, got null");
            refused(() -> timers.reschedule(ID, Instant.MAX), "expected a due time between the years 1 and 9999");
            refused(() -> timers.reschedule(nothing(), ID, FAR), "expected a connection, got null");
            refused(
                    () -> timers.reschedule(ID, Duration.ofMillis(-1)),
                    "expected a delay of zero or more, got PT-0.001S");
            refused(
                    () -> timers.reschedule(connection, ID, Duration.ofMillis(-1)),
                    "expected a delay of zero or more, got PT-0.001S");
            refused(() -> timers.entry(nothing(), "", FAR), "expected a topic, got null");
            refused(() -> timers.entry(Topic.of("a", String.class), nothing(), FAR), "expected a payload, got null");
            refused(() -> timers.find((TimerIdentifier) nothing()), "expected a timer identifier, got null");
            refused(() -> timers.find("a", ""), "expected a timer key, got blank text");
            refused(() -> timers.failures(nothing()), "expected a timer identifier, got null");
            refused(() -> timers.operator(" "), "expected a name of the operator, got blank text");
            refused(() -> timers.operator("me").list(MessageFilter.all(), 0), "expected a positive limit, got 0");
            refused(() -> timers.claim(nothing(), Duration.ofSeconds(1), 1), "expected an owner token, got null");
            refused(() -> timers.claim(owner, Duration.ZERO, 1), "expected a positive lease, got PT0S");
            refused(() -> timers.claim(owner, Duration.ofSeconds(1), 0), "expected a positive batch size, got 0");
            refused(() -> timers.ack(nothing(), List.of(ID)), "expected an owner token, got null");
            refused(() -> timers.ack(owner, nothing()), "expected a collection of timer identifiers, got null");
            refused(() -> timers.abandon(owner, nothing()), "expected a collection of timer identifiers, got null");
            refused(
                    () -> timers.abandon(owner, List.of(ID), Duration.ofMillis(-1), ""),
                    "expected a delay of zero or more, got PT-0.001S");
            refused(
                    () -> timers.abandon(owner, List.of(ID), Duration.ZERO, nothing()),
                    "expected an error text, got null");
        }
    }

    private static void refused(ThrowingCallable call, String message) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
    }

    private static Arguments bad(ThrowingCallable making, String message) {
        return Arguments.of(making, message);
    }

    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T nothing() {
        return null;
    }
}
