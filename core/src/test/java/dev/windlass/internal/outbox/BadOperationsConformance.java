package dev.windlass.internal.outbox;

import static dev.windlass.internal.outbox.BadArgumentsConformance.nothing;
import static dev.windlass.internal.outbox.BadArgumentsConformance.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.Topic;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bad arguments of keys, cancelling, rescheduling and operators are refused, and nothing is written or recorded. */
@OnEveryEngine
final class BadOperationsConformance extends OutboxConformance {
    private static final OutboxEntry GOOD = OutboxEntry.of("topic", "");
    private static final Duration HOUR = Duration.ofHours(1);
    private static final MessageFilter ALL = MessageFilter.failed();

    private final OutboxMessageIdentifier id = new OutboxMessageIdentifier(UUID.randomUUID());
    private OutboxOperator anna;

    @BeforeEach
    void signIn() {
        anna = outbox.operator("anna");
    }

    @AfterEach
    void nothingWasWritten() {
        assertThat(count("1 = 1")).isZero();
        assertThat(database().value(Long.class, "select count(*) from %s.windlass_action"))
                .isZero();
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_dedup"))
                .isZero();
    }

    @Test
    void entriesRefuseKeysThatCannotBe() {
        refused(() -> GOOD.withOrderingKey(" "), "expected an ordering key, got blank text");
        refused(() -> GOOD.withOrderingKey("k".repeat(256)), "ordering key of at most 255 characters, got 256");
        refused(() -> GOOD.withOrderingKey("\0"), "ordering key without NUL characters");
        refused(() -> GOOD.withOrderingKey("\uD83D"), "ordering key of well-formed Unicode");
        refused(() -> GOOD.withDeduplication(nothing(), HOUR), "expected a deduplication key, got null");
        refused(() -> GOOD.withDeduplication("", HOUR), "expected a deduplication key, got blank text");
        refused(() -> GOOD.withDeduplication("k".repeat(256), HOUR), "deduplication key of at most 255 characters");
        refused(() -> GOOD.withDeduplication("\0", HOUR), "deduplication key without NUL characters");
        refused(() -> GOOD.withDeduplication("\uDE00", HOUR), "deduplication key of well-formed Unicode");
        refused(() -> GOOD.withDeduplication("k", nothing()), "a positive deduplication window, got null");
        refused(() -> GOOD.withDeduplication("k", Duration.ZERO), "a positive deduplication window, got PT0S");
        refused(() -> GOOD.withDeduplication("k", HOUR.negated()), "a positive deduplication window, got PT-1H");
        refused(() -> GOOD.withDeduplication("k", Duration.ofDays(36_501)), "window of at most 100 years");
    }

    @Test
    void cancelRescheduleAndHistoryRefuseWhatIsMissing() throws SQLException {
        refused(() -> outbox.failures(nothing()), "message identifier, got null");
        refused(() -> outbox.cancel(nothing()), "message identifier, got null");
        refused(() -> outbox.cancel(nothing(), id), "connection, got null");
        refused(() -> outbox.reschedule(nothing(), Instant.EPOCH), "message identifier, got null");
        refused(() -> outbox.reschedule(id, nothing()), "due time between the years 1 and 9999, got null");
        refused(() -> outbox.reschedule(id, Instant.MAX), "due time between the years 1 and 9999");
        refused(() -> outbox.reschedule(nothing(), id, Instant.EPOCH), "connection, got null");
        try (Connection connection = database().connect()) {
            refused(() -> outbox.cancel(connection, nothing()), "message identifier, got null");
            refused(() -> outbox.reschedule(connection, nothing(), Instant.EPOCH), "message identifier, got null");
            refused(() -> outbox.reschedule(connection, id, nothing()), "due time between");
            refused(() -> outbox.reschedule(connection, id, Instant.MIN), "due time between");
        }
    }

    @Test
    void anOperatorHasAName() {
        refused(() -> outbox.operator(nothing()), "expected a name of the operator, got null");
        refused(() -> outbox.operator("\t"), "expected a name of the operator, got blank text");
        refused(() -> outbox.operator("n".repeat(256)), "name of the operator of at most 255 characters, got 256");
        refused(() -> outbox.operator("a\0"), "name of the operator without NUL characters");
    }

    @Test
    void filtersRefuseWhatCannotBeLookedFor() {
        Instant time = Instant.parse("2025-01-01T00:00:00Z");
        refused(() -> ALL.withTopic(" "), "expected a topic, got blank text");
        refused(() -> ALL.withTopic("t".repeat(256)), "topic of at most 255 characters");
        refused(() -> ALL.withTopic("\0"), "topic without NUL characters");
        refused(() -> ALL.withFrom(Instant.MIN), "time between the years 1 and 9999");
        refused(() -> ALL.withUntil(Instant.MAX), "time between the years 1 and 9999");
        refused(() -> ALL.withFrom(time).withUntil(time), "a time that begins before it ends");
        refused(() -> ALL.withError(""), "expected an error text, got blank text");
        refused(() -> ALL.withError("e".repeat(2049)), "error text of at most 2048 characters, got 2049");
        refused(() -> ALL.withError("\0"), "error text without NUL characters");
    }

    @Test
    void listsRefuseLimitsOfNothingAndMissingPages() {
        refused(() -> anna.list(nothing(), 1), "filter, got null");
        refused(() -> anna.list(ALL, 0), "expected a positive limit, got 0");
        refused(() -> anna.list(ALL, -1), "expected a positive limit, got -1");
        refused(() -> anna.list(ALL, 1, nothing()), "expected a position, got null");
        refused(() -> anna.actions(0), "expected a positive limit, got 0");
        refused(() -> anna.actions(-5), "expected a positive limit, got -5");
        refused(() -> anna.actions(1, nothing()), "expected a position, got null");
    }

    @Test
    void changesRefuseMissingIdsFiltersAndChoices() {
        List<OutboxMessageIdentifier> none = nothing();
        MessageFilter noFilter = nothing();
        for (List<OutboxMessageIdentifier> bad : Arrays.asList(none, Arrays.asList(id, nothing()))) {
            String message = "expected a collection of identifiers, got " + (bad == null ? "null" : "one with a null");
            refused(() -> anna.requeue(bad, Attempts.RESET), message);
            refused(() -> anna.purge(bad), message);
            refused(() -> anna.skip(bad), message);
            refused(() -> anna.erase(bad), message);
        }
        refused(() -> anna.requeue(List.of(id), nothing()), "choice of attempts, got null");
        refused(() -> anna.requeue(ALL, nothing()), "choice of attempts, got null");
        refused(() -> anna.requeue(noFilter, Attempts.KEEP), "filter, got null");
        refused(() -> anna.purge(noFilter), "filter, got null");
        refused(() -> anna.skip(noFilter), "filter, got null");
        refused(() -> outbox.fail(OwnerToken.fresh(), List.of(), "x", nothing()), "choice for failed heads, got null");
    }

    @Test
    void nothingToChangeIsNothingToRecord() {
        assertThat(anna.requeue(List.of(), Attempts.RESET)).isZero();
        assertThat(anna.purge(List.of())).isZero();
        assertThat(anna.skip(List.of())).isZero();
        assertThat(anna.erase(List.of())).isZero();
    }

    @Test
    void pausesRefuseTopicsAndReasonsThatCannotBe() {
        refused(() -> anna.pause(nothing(), ""), "expected a topic, got null");
        refused(() -> anna.pause(" ", ""), "expected a topic, got blank text");
        refused(() -> anna.pause("t".repeat(256), ""), "topic of at most 255 characters");
        refused(() -> anna.pause("\0", ""), "topic without NUL characters");
        refused(() -> anna.pause("topic", nothing()), "expected a reason, got null");
        refused(() -> anna.pause("topic", "\0"), "reason without NUL characters");
        refused(() -> anna.resume(nothing()), "expected a topic, got null");
        refused(() -> anna.resume(""), "expected a topic, got blank text");
        refused(() -> anna.resume("t".repeat(256)), "topic of at most 255 characters");
        assertThat(anna.pausedTopics()).isEmpty();
    }

    @Test
    void typedTopicsRefuseMissingNamesTypesAndPayloads() {
        Topic<String> topic = Topic.of("topic", String.class);
        Topic<String> none = nothing();
        refused(() -> Topic.of(nothing(), String.class), "expected a topic, got null");
        refused(() -> Topic.of(" ", String.class), "expected a topic, got blank text");
        refused(() -> Topic.of("t".repeat(256), String.class), "topic of at most 255 characters");
        refused(() -> Topic.of("topic", nothing()), "payload type, got null");
        refused(() -> outbox.enqueue(none, "x"), "topic, got null");
        refused(() -> outbox.enqueue(topic, nothing()), "payload, got null");
        refused(() -> outbox.enqueue(nothing(), topic, "x"), "connection, got null");
        refused(() -> outbox.entry(none, "x"), "topic, got null");
        refused(() -> outbox.entry(topic, nothing()), "payload, got null");
    }
}
