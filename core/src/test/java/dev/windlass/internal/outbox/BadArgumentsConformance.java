package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
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
final class BadArgumentsConformance extends OutboxConformance {
    private static final Instant DUE = Instant.parse("2030-01-01T00:00:00Z");
    private static final Duration NANO = Duration.ofNanos(1);
    private static final Duration HUNDRED_YEARS = Duration.ofDays(36_500);
    private static final OutboxEntry GOOD = OutboxEntry.of("topic", "");

    @AfterEach
    void nothingWasWritten() {
        assertThat(count("1 = 1")).isZero();
    }

    static Stream<Arguments> badEntries() {
        return Stream.of(
                bad(() -> OutboxEntry.of(nothing(), ""), "expected a topic, got null"),
                bad(() -> OutboxEntry.of("", ""), "expected a topic, got blank text"),
                bad(() -> OutboxEntry.of(" \t\n\u2003", ""), "expected a topic, got blank text"),
                bad(() -> OutboxEntry.of("t".repeat(256), ""), "expected a topic of at most 255 characters, got 256"),
                bad(() -> OutboxEntry.of("a\0b", ""), "expected a topic without NUL characters, got one at index 1"),
                bad(() -> OutboxEntry.of("\uD83D!", ""), "topic of well-formed Unicode, got half a surrogate pair"),
                bad(() -> OutboxEntry.of("topic", nothing()), "expected a payload, got null"),
                bad(() -> OutboxEntry.of("topic", "ab\0"), "payload without NUL characters, got one at index 2"),
                bad(() -> OutboxEntry.of("topic", "a\uDE00"), "payload of well-formed Unicode"),
                bad(() -> OutboxEntry.of("topic", "a\uD83D"), "payload of well-formed Unicode"),
                bad(
                        () -> GOOD.withCorrelationId("c".repeat(256)),
                        "expected a correlation id of at most 255 characters, got 256"),
                bad(() -> GOOD.withCorrelationId("\0"), "correlation id without NUL characters"),
                bad(() -> GOOD.withHeaders(nothing()), "expected a map of headers, got null"),
                bad(
                        () -> GOOD.withHeaders(Collections.singletonMap("h", nothing())),
                        "expected a header value, got null"),
                bad(
                        () -> GOOD.withHeaders(Collections.singletonMap(nothing(), "v")),
                        "expected a header name, got null"),
                bad(() -> GOOD.withHeaders(Map.of(" ", "v")), "expected a header name, got blank text"),
                bad(
                        () -> GOOD.withHeaders(Map.of("h".repeat(256), "v")),
                        "header name of at most 255 characters, got 256"),
                bad(() -> GOOD.withHeaders(Map.of("h", "\0")), "header value without NUL characters"),
                bad(() -> GOOD.withHeaders(Map.of("h\0", "v")), "header name without NUL characters"),
                bad(() -> GOOD.withHeaders(Map.of("h", "\uD83D")), "header value of well-formed Unicode"),
                bad(() -> GOOD.withDueTime(Instant.MAX), "due time between the years 1 and 9999, got +1000000000"),
                bad(() -> GOOD.withDueTime(Instant.MIN), "due time between the years 1 and 9999, got -1000000000"),
                bad(() -> GOOD.withExpiresAt(Instant.MAX), "expiry between the years 1 and 9999"),
                bad(() -> GOOD.withDelay(Duration.ofMillis(-1)), "expected a delay of zero or more, got PT-0.001S"),
                bad(() -> GOOD.withDelay(Duration.ofDays(36_501)), "expected a delay of at most 100 years"),
                bad(
                        () -> new OutboxEntry("topic", "", null, Map.of(), DUE, Duration.ZERO, null, null, null, null),
                        "expected a due time or a delay, got both"));
    }

    @ParameterizedTest
    @MethodSource("badEntries")
    @Shows({"OBX-004", "OBX-005", "OBX-007", "OBX-009"})
    void anEntryRefusesWhatCannotBeStored(ThrowingCallable making, String message) {
        refused(making, message);
    }

    @Test
    void enqueueRefusesWhatIsMissing() throws SQLException {
        refused(() -> outbox.enqueue((OutboxEntry) nothing()), "entry, got null");
        refused(() -> outbox.enqueueAll(nothing()), "expected a collection of outbox entries, got null");
        refused(() -> outbox.enqueueAll(Arrays.asList(GOOD, nothing())), "got one with a null in it");
        refused(() -> outbox.enqueue((Connection) nothing(), GOOD), "expected a connection, got null");
        refused(() -> outbox.enqueueAll(nothing(), List.of(GOOD)), "expected a connection, got null");
        refused(() -> outbox.entry("topic", nothing()), "expected a payload, got null");
        refused(() -> outbox.entry(" ", "payload"), "expected a topic, got blank text");
        try (Connection connection = database().connect()) {
            connection.setAutoCommit(false);
            refused(() -> outbox.enqueue(connection, nothing()), "entry, got null");
            refused(() -> outbox.enqueueAll(connection, nothing()), "expected a collection of outbox entries");
            refused(() -> outbox.enqueueAll(connection, Arrays.asList(GOOD, nothing())), "got one with a null in it");
            connection.commit();
        }
    }

    @Test
    @Shows({"OBX-116", "OBX-117"})
    void claimRefusesALeaseOrABatchSizeJustOutsideOfWhatCanBe() {
        OwnerToken owner = OwnerToken.fresh();
        refused(() -> outbox.claim(nothing(), LEASE, 1), "owner token, got null");
        refused(() -> outbox.claim(owner, nothing(), 1), "expected a positive lease, got null");
        refused(() -> outbox.claim(owner, Duration.ZERO, 1), "expected a positive lease, got PT0S");
        refused(() -> outbox.claim(owner, NANO.negated(), 1), "expected a positive lease, got PT-0.000000001S");
        refused(
                () -> outbox.claim(owner, HUNDRED_YEARS.plus(NANO), 1),
                "expected a lease of at most 100 years, got PT876000H0.000000001S");
        refused(() -> outbox.claim(owner, LEASE, 0), "expected a positive batch size, got 0");
        refused(() -> outbox.claim(owner, LEASE, -7), "expected a positive batch size, got -7");
    }

    @Test
    @Shows({"OBX-116", "OBX-117"})
    void optionsRefuseTheSameLeasesAndBatchSizes() {
        OutboxOptions options = OutboxOptions.defaults();
        refused(() -> options.withLease(nothing()), "expected a positive lease, got null");
        refused(() -> options.withLease(Duration.ZERO), "expected a positive lease, got PT0S");
        refused(
                () -> options.withLease(HUNDRED_YEARS.plus(NANO)),
                "expected a lease of at most 100 years, got PT876000H");
        refused(() -> options.withBatchSize(0), "expected a positive batch size, got 0");
        refused(() -> options.withBatchSize(-1), "expected a positive batch size, got -1");

        assertThat(options.withLease(NANO).queue().lease()).isEqualTo(NANO);
        assertThat(options.withLease(HUNDRED_YEARS).queue().lease()).isEqualTo(HUNDRED_YEARS);
        assertThat(options.withBatchSize(1).queue().batchSize()).isEqualTo(1);
        assertThat(options.withBatchSize(Integer.MAX_VALUE).queue().batchSize()).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void completionsRefuseMissingOwnersAndIds() {
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxWorkItemIdentifier> ids = List.of(new OutboxWorkItemIdentifier(UUID.randomUUID()));
        List<OutboxWorkItemIdentifier> holes = Arrays.asList(ids.get(0), nothing());
        List<OutboxWorkItemIdentifier> none = nothing();
        OwnerToken nobody = nothing();

        refused(() -> outbox.ack(nobody, ids), "owner token, got null");
        refused(() -> outbox.abandon(nobody, ids), "owner token, got null");
        refused(() -> outbox.abandon(nobody, ids, LEASE, ""), "owner token, got null");
        refused(() -> outbox.fail(nobody, ids, ""), "owner token, got null");
        refused(() -> outbox.heartbeat(nobody, ids, LEASE), "owner token, got null");
        for (List<OutboxWorkItemIdentifier> bad : Arrays.asList(none, holes)) {
            String message = "expected a collection of work item identifiers, got "
                    + (bad == null ? "null" : "one with a null in it");
            refused(() -> outbox.ack(owner, bad), message);
            refused(() -> outbox.abandon(owner, bad), message);
            refused(() -> outbox.abandon(owner, bad, LEASE, ""), message);
            refused(() -> outbox.fail(owner, bad, ""), message);
            refused(() -> outbox.heartbeat(owner, bad, LEASE), message);
        }
    }

    @Test
    void completionsRefusePausesLeasesAndErrorsThatCannotBe() {
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxWorkItemIdentifier> ids = List.of(new OutboxWorkItemIdentifier(UUID.randomUUID()));
        refused(() -> outbox.abandon(owner, ids, nothing(), ""), "expected a delay of zero or more, got null");
        refused(() -> outbox.abandon(owner, ids, Duration.ofSeconds(-1), ""), "delay of zero or more, got PT-1S");
        refused(() -> outbox.abandon(owner, ids, LEASE, nothing()), "error text, got null");
        refused(() -> outbox.abandon(owner, ids, LEASE, "\0"), "error text without NUL characters");
        refused(() -> outbox.fail(owner, ids, nothing()), "error text, got null");
        refused(() -> outbox.fail(owner, ids, "a\0b"), "error text without NUL characters, got one at index 1");
        refused(() -> outbox.fail(owner, ids, "\uDE00"), "error text of well-formed Unicode");
        refused(() -> outbox.heartbeat(owner, ids, Duration.ZERO), "expected a positive lease, got PT0S");
        refused(() -> outbox.heartbeat(owner, ids, nothing()), "expected a positive lease, got null");
    }

    @Test
    void identifiersAndTokensAreNeverMissingOrNil() {
        refused(() -> new OwnerToken(nothing()), "owner token, got null");
        refused(() -> new OwnerToken(new UUID(0, 0)), "expected an owner token, got the nil UUID");
        refused(() -> new OutboxMessageIdentifier(nothing()), "message identifier, got null");
        refused(() -> new OutboxWorkItemIdentifier(nothing()), "work item identifier, got null");
        refused(() -> outbox.find(nothing()), "message identifier, got null");
    }

    private static Arguments bad(ThrowingCallable making, String message) {
        return Arguments.of(making, message);
    }

    static void refused(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("expected a")
                .hasMessageContaining(message);
    }

    /** What a caller without null checks may hand over. */
    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    static <T> T nothing() {
        return null;
    }
}
