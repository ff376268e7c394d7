package dev.windlass.internal.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.OwnerToken;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkHandler;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Bad arguments are refused with what was expected and what came, and nothing is written. */
@NullUnmarked
@OnEveryEngine
class BadWorkArgumentsConformance extends WorkConformance {
    private static final WorkEntry GOOD = WorkEntry.of("queue", "type", "");
    private static final WorkIdentifier ID = new WorkIdentifier(new UUID(1, 1));
    private static final OwnerToken OWNER = OwnerToken.fresh();

    @AfterEach
    void nothingWasWritten() {
        assertThat(database().value(Long.class, "select count(*) from %s.work")).isZero();
    }

    private static Arguments bad(ThrowingCallable call, String told) {
        return Arguments.of(call, told);
    }

    static Stream<Arguments> badValues() {
        return Stream.of(
                bad(() -> WorkEntry.of(null, "t", ""), "expected a queue, got null"),
                bad(() -> WorkEntry.of(" ", "t", ""), "expected a queue, got blank text"),
                bad(
                        () -> WorkEntry.of("q".repeat(256), "t", ""),
                        "expected a queue of at most 255 characters, got 256"),
                bad(() -> WorkEntry.of("q", null, ""), "expected a type, got null"),
                bad(() -> WorkEntry.of("q", "", ""), "expected a type, got blank text"),
                bad(() -> WorkEntry.of("q", "t ", ""), "expected a type"),
                bad(() -> WorkEntry.of("q", "t", null), "expected a payload, got null"),
                bad(() -> WorkEntry.of("q", "t", "\0"), "expected a payload without NUL characters"),
                bad(() -> GOOD.withPriority(-1), "expected a priority from 0 to 9, got -1"),
                bad(() -> GOOD.withPriority(10), "expected a priority from 0 to 9, got 10"),
                bad(() -> GOOD.withRunAt(Instant.MAX), "expected a time to run between the years 1 and 9999"),
                bad(() -> GOOD.withDelay(Duration.ofSeconds(-1)), "expected a delay of zero or more, got PT-1S"),
                bad(() -> GOOD.withKey(" "), "expected a key, got blank text"),
                bad(() -> GOOD.withKey("k".repeat(256)), "expected a key of at most 255 characters, got 256"),
                bad(() -> GOOD.ifAbsent(null), "expected a unique key, got null"),
                bad(() -> GOOD.replacing(""), "expected a unique key, got blank text"),
                bad(() -> GOOD.withCorrelationId("c".repeat(256)), "correlation id of at most 255 characters, got 256"),
                bad(() -> GOOD.withHeaders(null), "expected a map of headers, got null"),
                bad(
                        () -> GOOD.withRunAt(Instant.EPOCH).withExpiresAt(Instant.EPOCH),
                        "expected an item that expires after it can run"),
                bad(() -> new WorkIdentifier(null), "expected a work identifier, got null"),
                bad(
                        () -> WorkOptions.defaults().withAgeing(Duration.ofSeconds(-1)),
                        "expected an ageing of zero or more"),
                bad(() -> WorkOptions.defaults().withTableName(" "), "expected a table name"),
                bad(() -> WorkOptions.defaults().withBatchSize(0), "expected a positive batch size, got 0"));
    }

    @ParameterizedTest
    @MethodSource("badValues")
    void whatCannotBeIsRefusedWhereItIsMade(ThrowingCallable call, String told) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(told);
    }

    @Test
    void callsWithoutWhatTheyNeedAreRefused() throws SQLException {
        refused(() -> work.enqueue((WorkEntry) null), "expected a work entry, got null");
        refused(() -> work.enqueueAll(null), "expected a collection of work entries, got null");
        refused(() -> work.enqueueAll(Arrays.asList(GOOD, null)), "null");
        refused(() -> work.enqueue(null, GOOD), "expected a connection, got null");
        refused(() -> work.claim(" ", OWNER, LEASE, 1), "expected a queue, got blank text");
        refused(() -> work.claim("q", null, LEASE, 1), "expected an owner token, got null");
        refused(() -> work.claim("q", OWNER, Duration.ZERO, 1), "expected a positive lease, got PT0S");
        refused(() -> work.claim("q", OWNER, LEASE, 0), "expected a positive batch size, got 0");
        refused(() -> work.ack(OWNER, null), "expected a collection of work identifiers, got null");
        refused(() -> work.complete(OWNER, null, ""), "expected a work identifier, got null");
        refused(() -> work.complete(OWNER, ID, null), "expected a result, got null");
        refused(() -> work.complete(OWNER, ID, "\0"), "expected a result without NUL characters");
        refused(() -> work.heartbeat(OWNER, ID, LEASE, 101, ""), "expected a progress from 0 to 100, got 101");
        refused(() -> work.heartbeat(OWNER, ID, LEASE, 1, null), "expected a progress text, got null");
        refused(() -> work.heartbeat(OWNER, ID, Duration.ZERO, 1, ""), "expected a positive lease");
        refused(() -> work.find(null), "expected a work identifier, got null");
        refused(() -> work.find("q", " "), "expected a unique key, got blank text");
        refused(() -> work.await(null, LEASE), "expected a work identifier, got null");
        refused(() -> work.await(ID, Duration.ofSeconds(-1)), "expected a longest wait of zero or more");
        refused(() -> work.cancel(null), "expected a work identifier, got null");
        refused(() -> work.reschedule(ID, null), "expected a time to run between the years 1 and 9999, got null");
        refused(() -> work.attach(null, List.of(ID)), "expected a join identifier, got null");
        refused(() -> work.operator(" "), "expected a name of the operator, got blank text");
        try (Connection connection = database().connect()) {
            assertThatThrownBy(() -> work.enqueue(connection, GOOD)).isInstanceOf(IllegalStateException.class);
        }
    }

    private static void refused(ThrowingCallable call, String told) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(told);
    }

    @Test
    void nothingIsNoErrorWhereThereMayBeNothing() {
        assertThat(work.enqueueAll(List.of())).isEmpty();
        assertThat(work.ack(OWNER, List.of())).isZero();
        assertThat(work.ack(OWNER, Collections.nCopies(2, ID))).isZero();
        assertThat(work.cancel(ID)).isFalse();
        assertThat(work.find(ID)).isEmpty();
    }

    @Test
    void handlersThatCannotBeAreRefusedBeforeTheStart() {
        WorkHandler handler = (item, context) -> {};
        refused(() -> database().windlass().workHandler(" ", "t", handler), "expected a queue, got blank text");
        refused(() -> database().windlass().workHandler("q", " ", handler), "expected a type, got blank text");
        refused(() -> database().windlass().workHandler("q", "t", (WorkHandler) null), "expected a handler, got null");
        refused(
                () -> database().windlass().workHandler("q", "t", handler).workHandler("q", "t", handler),
                "expected one work handler for type t, got a second");
        refused(
                () -> database()
                        .windlass()
                        .workHandler("q", "t", HandlerOptions.defaults().withCircuit(Circuit.defaults()), handler),
                "expected no circuit for type t of queue q");
    }

    @Test
    void sqlThatCannotBeIsRefusedInWordsThatHelp() {
        refusedBySql("work_enqueue('q', 't', '', p_priority => 10)", "expected a priority from 0 to 9, got 10");
        refusedBySql("work_enqueue(null, 't', '')", "expected a queue, a type and a payload for each item, got null");
        refusedBySql("work_enqueue('q', 't', null)", "expected a queue, a type and a payload for each item, got null");
        refusedBySql(
                "work_enqueue('q', 't', '', p_run_at => now(), p_delay => '1 s')",
                "expected a due time or a delay, got both");
        refusedBySql("work_enqueue_all(null, '{q}', '{t,t}', '{x}')", "expected arrays of the same length");
        refusedBySql("work_claim(gen_random_uuid(), '0 s', 1)", "expected a lease of more than nothing");
        refusedBySql("work_limit_topic('me', 'q', 0)", "expected limits of one or more, got 0");
        refusedBySql("work_limit_topic('me', 'q', p_rate => 3)", "expected a rate with a period");
        refusedBySql("work_limit_topic('me', ' ', 3)", "expected a topic");
        refusedBySql("work_limit_topic(null, 'q', 3)", "expected the name of the operator");
        refusedBySql("work_stop(null)", "expected an array of ids");
        refusedBySql("work_complete('{}', '{}', '{x}')", "expected arrays of the same length");
    }

    private void refusedBySql(String call, String told) {
        assertThatThrownBy(() -> database().rows("select %s." + call)).hasMessageContaining(told);
    }
}
