package dev.windlass.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxOperator;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Bad arguments are refused with what was expected and what came, and nothing is written. */
@OnEveryEngine
final class BadArgumentsConformance extends InboxConformance {
    private static final InboxEntry GOOD = InboxEntry.of("source", "id", "topic", "");
    private static final InboxAttempt ATTEMPT = new InboxAttempt(new InboxKey("source", "id"), OwnerToken.fresh(), 1);
    private static final List<InboxWorkItemIdentifier> IDS = List.of(new InboxWorkItemIdentifier(UUID.randomUUID()));

    @AfterEach
    void nothingWasWritten() {
        assertThat(count("1 = 1")).isZero();
    }

    static Stream<Arguments> badKeys() {
        return Stream.of(
                Arguments.of(nothing(), "id", "expected a source, got null"),
                Arguments.of("", "id", "expected a source, got blank text"),
                Arguments.of(" \t", "id", "expected a source, got blank text"),
                Arguments.of("s".repeat(256), "id", "expected a source of at most 255 characters, got 256"),
                Arguments.of("a\0", "id", "expected a source without NUL characters"),
                Arguments.of("\uD83D!", "id", "source of well-formed Unicode"),
                Arguments.of("source", nothing(), "expected a message id, got null"),
                Arguments.of("source", "", "expected a message id, got blank text"),
                Arguments.of("source", "i".repeat(256), "expected a message id of at most 255 characters, got 256"),
                Arguments.of("source", "\0", "expected a message id without NUL characters"),
                Arguments.of("source", "a\uDE00", "message id of well-formed Unicode"));
    }

    @ParameterizedTest
    @MethodSource("badKeys")
    void everyCallRefusesAKeyThatCannotBe(String source, String id, String message) throws SQLException {
        ContentHash hash = ContentHash.of("");
        List<BiConsumer<String, String>> calls = List.of(
                inbox::begin,
                (s, i) -> inbox.begin(s, i, hash),
                inbox::alreadyProcessed,
                (s, i) -> inbox.alreadyProcessed(s, i, hash),
                (s, i) -> inbox.markProcessing(s, i),
                (s, i) -> inbox.markProcessed(s, i),
                (s, i) -> inbox.markDead(s, i, "no"),
                (s, i) -> inbox.abandon(s, i, "no", Duration.ZERO),
                inbox::find,
                inbox::failures,
                inbox::cancel,
                (s, i) -> inbox.reschedule(s, i, Instant.EPOCH),
                InboxKey::new,
                (s, i) -> InboxEntry.of(s, i, "topic", ""));
        calls.forEach(call -> refused(() -> call.accept(source, id), message));
        refused(() -> inbox.process(source, id, connection -> {}), message);
        refused(() -> inbox.process(source, id, hash, connection -> {}), message);
        try (Connection connection = transaction()) {
            refused(() -> inbox.markProcessed(connection, source, id), message);
        }
    }

    @Test
    void aKeyTakesOneLineOfALog() {
        assertThat(new InboxKey("a\nb", "1\r\n\u001b[31m")).hasToString("1???[31m of source a?b");
    }

    static Stream<Arguments> badEntries() {
        return Stream.of(
                bad(() -> InboxEntry.of("s", "i", nothing(), ""), "expected a topic, got null"),
                bad(() -> InboxEntry.of("s", "i", " ", ""), "expected a topic, got blank text"),
                bad(() -> InboxEntry.of("s", "i", "t".repeat(256), ""), "topic of at most 255 characters, got 256"),
                bad(() -> InboxEntry.of("s", "i", "t", nothing()), "expected a payload, got null"),
                bad(() -> InboxEntry.of("s", "i", "t", "\0"), "payload without NUL characters"),
                bad(() -> InboxEntry.of("s", "i", "t", "\uD83D"), "payload of well-formed Unicode"),
                bad(() -> GOOD.withHeaders(nothing()), "expected a map of headers, got null"),
                bad(() -> GOOD.withHeaders(Map.of(" ", "v")), "expected a header name, got blank text"),
                bad(() -> GOOD.withHeaders(Collections.singletonMap("h", nothing())), "header value, got null"),
                bad(() -> GOOD.withDueTime(Instant.MAX), "due time between the years 1 and 9999"),
                bad(() -> GOOD.withDelay(Duration.ofMillis(-1)), "expected a delay of zero or more, got PT-0.001S"),
                bad(() -> GOOD.withExpiresAt(Instant.MAX), "expiry between the years 1 and 9999"),
                bad(
                        () -> GOOD.withDueTime(Instant.EPOCH).withExpiresAt(Instant.EPOCH),
                        "expected an expiry after the due time 1970-01-01T00:00:00Z, got 1970-01-01T00:00:00Z"),
                bad(
                        () -> new InboxEntry(GOOD.key(), "t", "", Map.of(), null, Instant.EPOCH, Duration.ZERO, null),
                        "expected a due time or a delay, got both"),
                bad(() -> new InboxEntry(nothing(), "t", "", Map.of(), null, null, null, null), "inbox key, got null"));
    }

    @ParameterizedTest
    @MethodSource("badEntries")
    void anEntryRefusesWhatCannotBeStored(ThrowingCallable making, String message) {
        refused(making, message);
    }

    @Test
    void hashesAreThoseOfSha256() {
        assertThat(ContentHash.of("abc").hex())
                .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        refused(() -> ContentHash.of((String) nothing()), "content, got null");
        refused(() -> ContentHash.of((byte[]) nothing()), "content, got null");
        refused(() -> new ContentHash(nothing()), "hash, got null");
        refused(() -> new ContentHash("ABC"), "expected a hash of 64 hexadecimal digits in small letters, got 3");
        refused(() -> new ContentHash("G".repeat(64)), "64 hexadecimal digits");
        refused(() -> inbox.begin("s", "i", nothing()), "hash, got null");
        refused(() -> inbox.alreadyProcessed("s", "i", nothing()), "hash, got null");
        refused(() -> inbox.process("s", "i", nothing(), connection -> {}), "hash, got null");
    }

    @Test
    void marksRefuseWhatIsMissing() throws SQLException {
        refused(() -> inbox.markProcessing((InboxAttempt) nothing()), "expected an attempt, got null");
        refused(() -> inbox.markProcessed((InboxAttempt) nothing()), "expected an attempt, got null");
        refused(() -> inbox.markProcessed((Connection) nothing(), ATTEMPT), "expected a connection, got null");
        refused(() -> inbox.markDead((InboxAttempt) nothing(), "no"), "expected an attempt, got null");
        refused(() -> inbox.markDead(ATTEMPT, nothing()), "expected a reason, got null");
        refused(() -> inbox.markDead(ATTEMPT, "\0"), "reason without NUL characters");
        refused(() -> inbox.abandon((InboxAttempt) nothing(), "no", Duration.ZERO), "expected an attempt, got null");
        refused(() -> inbox.abandon(ATTEMPT, nothing(), Duration.ZERO), "error text, got null");
        refused(() -> inbox.abandon(ATTEMPT, "no", nothing()), "delay of zero or more, got null");
        refused(() -> inbox.abandon(ATTEMPT, "no", Duration.ofSeconds(-1)), "delay of zero or more, got PT-1S");
        refused(() -> inbox.process("s", "i", nothing()), "piece of work, got null");
        refused(() -> new InboxAttempt(nothing(), OwnerToken.fresh(), 1), "inbox key, got null");
        refused(() -> new InboxAttempt(GOOD.key(), nothing(), 1), "owner token, got null");
        refused(() -> new InboxAttempt(GOOD.key(), OwnerToken.fresh(), 0), "positive number of the attempt, got 0");
        try (Connection connection = transaction()) {
            refused(() -> inbox.markProcessed(connection, (InboxAttempt) nothing()), "expected an attempt, got null");
        }
    }

    @Test
    void theQueueRefusesWhatIsMissing() throws SQLException {
        OwnerToken owner = OwnerToken.fresh();
        refused(() -> inbox.enqueue((InboxEntry) nothing()), "inbox entry, got null");
        refused(() -> inbox.enqueueAll(nothing()), "expected a collection of inbox entries, got null");
        refused(() -> inbox.enqueueAll(Arrays.asList(GOOD, nothing())), "got one with a null in it");
        refused(() -> inbox.enqueue((Connection) nothing(), GOOD), "expected a connection, got null");
        refused(() -> inbox.claim(nothing(), LEASE, 1), "owner token, got null");
        refused(() -> inbox.claim(owner, nothing(), 1), "positive lease, got null");
        refused(() -> inbox.claim(owner, Duration.ZERO, 1), "positive lease, got PT0S");
        refused(() -> inbox.claim(owner, LEASE, 0), "positive batch size, got 0");
        refused(() -> inbox.ack(nothing(), IDS), "owner token, got null");
        refused(() -> inbox.ack(owner, nothing()), "collection of work item identifiers, got null");
        refused(() -> inbox.ack(nothing(), owner, IDS), "expected a connection, got null");
        refused(() -> inbox.ack(owner, Arrays.asList(IDS.get(0), nothing())), "got one with a null in it");
        refused(() -> inbox.abandon(nothing(), IDS), "owner token, got null");
        refused(() -> inbox.abandon(owner, IDS, Duration.ofSeconds(-1), "no"), "delay of zero or more, got PT-1S");
        refused(() -> inbox.abandon(owner, IDS, Duration.ZERO, nothing()), "error text, got null");
        refused(() -> inbox.release(nothing(), IDS), "owner token, got null");
        refused(() -> inbox.fail(owner, IDS, nothing()), "error text, got null");
        refused(() -> inbox.heartbeat(owner, IDS, Duration.ZERO), "positive lease, got PT0S");
        refused(() -> new InboxWorkItemIdentifier(nothing()), "work item identifier, got null");
        assertThat(inbox.ack(owner, List.of())).isZero();
        assertThat(inbox.abandon(owner, List.of())).isZero();
        assertThat(inbox.heartbeat(owner, List.of(), LEASE)).isZero();
    }

    @Test
    void operatorsAreRefusedWhatCannotBe() {
        refused(() -> inbox.operator(" "), "name of the operator, got blank text");
        refused(() -> inbox.operator(nothing()), "name of the operator, got null");
        InboxOperator operator = inbox.operator("anna");
        refused(() -> operator.list(nothing(), 1), "filter, got null");
        refused(() -> operator.list(MessageFilter.all(), 0), "positive limit, got 0");
        refused(() -> operator.list(MessageFilter.all(), 1, nothing()), "expected a position, got null");
        refused(() -> operator.stuck(nothing(), 1), "age of zero or more, got null");
        refused(() -> operator.stuck(Duration.ZERO, -1), "positive limit, got -1");
        refused(() -> operator.requeue((MessageFilter) nothing(), Attempts.RESET), "filter, got null");
        refused(() -> operator.requeue(List.of(GOOD.key()), nothing()), "choice of attempts, got null");
        refused(
                () -> operator.requeue(BadArgumentsConformance.<List<InboxKey>>nothing(), Attempts.RESET),
                "collection of identifiers, got null");
        refused(() -> operator.purge((MessageFilter) nothing()), "filter, got null");
        refused(() -> operator.purge(MessageFilter.all().withStatus(WorkStatus.DONE)), "filter of what has failed");
        refused(() -> operator.purge(Arrays.asList(GOOD.key(), nothing())), "got one with a null in it");
        assertThat(operator.requeue(List.of(), Attempts.RESET)).isZero();
    }

    static Stream<Arguments> badOptions() {
        InboxOptions good = InboxOptions.defaults();
        return Stream.of(
                bad(() -> good.withTableName("a$b"), "table name without '$'"),
                bad(() -> good.withPollingInterval(Duration.ZERO), "positive polling interval, got PT0S"),
                bad(() -> good.withBatchSize(0), "positive batch size, got 0"),
                bad(() -> good.withLease(Duration.ZERO), "positive lease, got PT0S"),
                bad(() -> good.withGuardLease(nothing()), "positive guard lease, got null"),
                bad(() -> good.withWaitAtMost(Duration.ofSeconds(-1)), "longest wait of zero or more, got PT-1S"),
                bad(() -> good.withMaxAttempts(0), "positive number of attempts, got 0"),
                bad(() -> good.withConcurrency(0), "positive concurrency, got 0"),
                bad(() -> good.withRetention(Duration.ZERO), "positive retention, got PT0S"),
                bad(() -> good.withMaxLeaseExpiries(0), "positive number of lease expiries, got 0"),
                bad(() -> good.withHandlers(nothing()), "set of handler options, got null"));
    }

    @ParameterizedTest
    @MethodSource("badOptions")
    void optionsRefuseWhatCannotWork(ThrowingCallable making, String message) {
        refused(making, message);
    }

    private static Arguments bad(ThrowingCallable making, String message) {
        return Arguments.of(making, message);
    }

    private static void refused(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("expected a")
                .hasMessageContaining(message);
    }

    /** What a caller without null checks may hand over. */
    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T nothing() {
        return null;
    }
}
