package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore.Answer;
import dev.windlass.internal.queue.WorkStore.Demand;
import dev.windlass.internal.queue.WorkStore.Ending;
import dev.windlass.internal.queue.WorkStore.Failure;
import dev.windlass.internal.queue.WorkStore.GivenBack;
import dev.windlass.internal.queue.WorkStore.Held;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A row that somebody keeps locked holds up nothing but itself: no verb waits for it, and each says which rows to ask for again. */
@Timeout(60)
@OnEveryEngine
final class HeldRowsConformance extends OutboxConformance {
    private static final OwnerToken OWNER = OwnerToken.fresh();

    /** What an owner does with what it holds. */
    enum Verb {
        ACK,
        DELETE,
        ABANDON,
        FAIL,
        RELEASE,
        HEARTBEAT,
        START
    }

    private Answer run(Verb verb, List<Held> held) throws SQLException {
        return database().routines().once(connection -> run(verb, connection, held));
    }

    private Answer run(Verb verb, Connection connection, List<Held> held) throws SQLException {
        return switch (verb) {
            case ACK -> store(LEASE).ack(connection, held);
            case DELETE -> store(Duration.ZERO).ack(connection, held);
            case ABANDON ->
                store(LEASE)
                        .abandon(
                                connection,
                                held.stream()
                                        .map(each -> new Failure(each, Duration.ZERO, "again"))
                                        .toList());
            case FAIL ->
                store(LEASE)
                        .fail(
                                connection,
                                held.stream()
                                        .map(each -> new Ending(each, "topic", "no"))
                                        .toList());
            case RELEASE -> store(LEASE).release(connection, held);
            case HEARTBEAT -> store(LEASE).heartbeat(connection, held, LEASE);
            case START -> store(LEASE).start(connection, held);
        };
    }

    private List<Held> claimMany(int count) {
        enqueue("topic", count);
        return claim(OWNER, count).stream()
                .map(id -> new Held(id.value(), OWNER.value(), false))
                .toList();
    }

    /** An open transaction that has this row. */
    private Connection holding(String table, String key, UUID id) throws SQLException {
        Connection connection = database().transaction();
        assertThat(database().lock(connection, table, key + " = ?", id)).isEqualTo(1);
        return connection;
    }

    @ParameterizedTest
    @EnumSource
    void aLockedMessageIsLeftOutAndAskedForAgain(Verb verb) throws SQLException {
        List<Held> held = claimMany(5);
        UUID locked = held.get(2).id();
        try (Connection somebody = holding("outbox", "id", locked)) {
            assertThat(run(verb, held)).isEqualTo(new Answer(4, Set.of(locked), Set.of()));
            assertThat(run(verb, held.subList(2, 3))).isEqualTo(new Answer(0, Set.of(locked), Set.of()));
            somebody.rollback();
        }
        assertThat(run(verb, held.subList(2, 3))).isEqualTo(new Answer(1, Set.of(), Set.of()));
    }

    @ParameterizedTest
    @EnumSource
    void whatIsLostIsToldApartFromWhatIsLocked(Verb verb) throws SQLException {
        List<Held> held = claimMany(4);
        UUID lost = held.get(0).id();
        UUID unknown = UUID.randomUUID();
        database().update("update %s.outbox set owner_token = ? where id = ?", UUID.randomUUID(), lost);
        List<Held> all =
                List.of(held.get(0), held.get(1), held.get(2), held.get(3), new Held(unknown, OWNER.value(), false));
        try (Connection somebody = holding("outbox", "id", held.get(1).id())) {
            assertThat(run(verb, all))
                    .isEqualTo(new Answer(2, Set.of(held.get(1).id()), Set.of(lost, unknown)));
            somebody.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ACK", "DELETE", "FAIL"})
    void aLockedJoinHoldsUpOnlyItsMembers(Verb verb) throws SQLException {
        List<Held> held = claimMany(3);
        UUID member = held.get(1).id();
        UUID join = join(List.of(new OutboxWorkItemIdentifier(member)));
        try (Connection somebody = holding("windlass_join", "id", join)) {
            assertThat(run(verb, held)).isEqualTo(new Answer(2, Set.of(member), Set.of()));
            somebody.rollback();
        }
        assertThat(run(verb, held.subList(1, 2)).changed()).isEqualTo(1);
        assertThat(steps("completed_steps + failed_steps", join)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"ACK", "DELETE", "FAIL"})
    void aLockedRunHoldsUpOnlyItsMessage(Verb verb) throws SQLException {
        List<Held> held = claimMany(3);
        UUID run = held.get(1).id();
        Instant now = database().now();
        database().update("update %s.outbox set source = 'job', awaited = ? where id = ?", true, run);
        database()
                .update(
                        "insert into %s.outbox_job_run (id, source, topic, payload, tick_at, triggered, created_at, next_attempt_at, status,"
                                + " handed_off) values (?, 'job', 'topic', '', ?, ?, ?, ?, 6, ?)",
                        run, now, true, now, now, true);
        try (Connection somebody = holding("outbox_job_run", "id", run)) {
            assertThat(run(verb, held)).isEqualTo(new Answer(2, Set.of(run), Set.of()));
            somebody.rollback();
        }
        assertThat(run(verb, held.subList(1, 2)).changed()).isEqualTo(1);
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_job_run where ended_at is not null"))
                .isEqualTo(1);
    }

    @Test
    void aCancellationThatAClaimOvertookKeepsNoLock() throws Exception {
        doesNotKeep(connection -> outbox.cancel(connection, written));
    }

    @Test
    void aMoveThatAClaimOvertookKeepsNoLock() throws Exception {
        doesNotKeep(
                connection -> outbox.reschedule(connection, written, database().now()));
    }

    private OutboxMessageIdentifier written = new OutboxMessageIdentifier(UUID.randomUUID());

    private interface Change {
        boolean run(Connection connection);
    }

    private void doesNotKeep(Change change) throws Exception {
        written = enqueue("topic");
        Held held = new Held(written.value(), OWNER.value(), false);
        try (Connection claimer = database().transaction();
                Connection changer = database().transaction()) {
            assertThat(store(LEASE).claimAny(claimer, null, OWNER.value(), LEASE, 10, false))
                    .hasSize(1);
            CompletableFuture<Boolean> changed = CompletableFuture.supplyAsync(() -> change.run(changer));
            TimeUnit.MILLISECONDS.sleep(
                    200); // time to begin to wait; without it the test shows less, not something wrong
            claimer.commit();
            assertThat(changed.get(20, TimeUnit.SECONDS)).isFalse();
            assertThat(run(Verb.HEARTBEAT, List.of(held)))
                    .as("the transaction that wanted to change it is still open")
                    .isEqualTo(new Answer(1, Set.of(), Set.of()));
            changer.rollback();
        }
    }

    @Test
    void oneOwnerServesForAll() throws SQLException {
        List<Held> held = claimMany(3);
        Answer answer = database()
                .routines()
                .once(connection -> database()
                        .routines()
                        .call(connection, "outbox_ack")
                        .uuids(held.stream().map(Held::id).toList())
                        .uuids(List.of(OWNER.value()))
                        .list(row -> Answer.all(row.getInt("changed")))
                        .get(0));
        assertThat(answer.changed()).isEqualTo(3);
    }

    @Test
    void aClaimWhoseAnswerWasLostIsGivenBackWithoutBlame() throws SQLException {
        List<Held> held = claimMany(3);
        OwnerToken other = OwnerToken.fresh();
        enqueue("topic", 2);
        claim(other, 10);

        assertThat(giveBack(OWNER, null)).isEqualTo(3);
        assertThat(giveBack(OWNER, null)).isZero();
        assertThat(count("status = 0 and retry_count = 0 and lease_expiries = 0 and owner_token is null"))
                .isEqualTo(3);
        assertThat(count("status = 1")).isEqualTo(2);
        assertThat(run(Verb.ACK, held).lost()).hasSize(3);
    }

    @Test
    void whatIsLockedIsNotGivenBackAndTold() throws SQLException {
        List<Held> held = claimMany(3);
        try (Connection somebody = holding("outbox", "id", held.get(1).id())) {
            assertThat(giveBackAll(OWNER, null)).isEqualTo(new GivenBack(2, 1));
            assertThat(giveBackAll(OWNER, null)).isEqualTo(new GivenBack(0, 1));
            somebody.rollback();
        }
        assertThat(giveBackAll(OWNER, null)).isEqualTo(new GivenBack(1, 0));
        assertThat(giveBackAll(OWNER, null)).isEqualTo(new GivenBack(0, 0));
    }

    @Test
    void whatCannotBeReadIsSetAsideWithTheReason() throws SQLException {
        claimMany(1);

        assertThat(giveBack(OWNER, "it is larger than the memory")).isEqualTo(1);
        assertThat(count("status = 3 and last_error = 'it is larger than the memory'"))
                .isEqualTo(1);
    }

    private int giveBack(OwnerToken owner, @Nullable String problem) throws SQLException {
        return giveBackAll(owner, problem).given();
    }

    private GivenBack giveBackAll(OwnerToken owner, @Nullable String problem) throws SQLException {
        return database().routines().once(connection -> store(LEASE).giveBack(connection, owner.value(), problem));
    }

    @Test
    void anExpiryIsHeldAgainstAMessageOnlyIfItsStartWasWrittenDown() throws SQLException {
        List<Held> held = claimMany(2);
        run(Verb.START, held.subList(0, 1));
        runOutLease(held.stream()
                .map(each -> new OutboxWorkItemIdentifier(each.id()))
                .toList());

        assertThat(outbox.reapExpired()).isEqualTo(2);

        assertThat(count("lease_expiries = 1")).isEqualTo(2);
        assertThat(database().value(UUID.class, "select id from %s.outbox where crashes = 1"))
                .isEqualTo(held.get(0).id());
        claim(OWNER, 10);
        runOutLease(held.stream()
                .map(each -> new OutboxWorkItemIdentifier(each.id()))
                .toList());
        outbox.reapExpired();
        assertThat(count("crashes = 1"))
                .as("a start counts for its own attempt")
                .isEqualTo(1);
    }

    @Test
    void aClaimTakesNoMoreThanItsBytesButAlwaysOne() throws SQLException {
        outbox.enqueueAll(List.of(entry(1000), entry(1000), entry(1000), entry(1000)));

        assertThat(claimBytes(1)).isEqualTo(1);
        assertThat(claimBytes(1001)).isEqualTo(2);
        assertThat(claimBytes(Long.MAX_VALUE)).isEqualTo(1);
    }

    private static OutboxEntry entry(int length) {
        return OutboxEntry.of("topic", "x".repeat(length));
    }

    private int claimBytes(long bytes) throws SQLException {
        return database()
                .routines()
                .once(connection -> store(LEASE)
                        .claim(
                                connection,
                                UUID.randomUUID(),
                                LEASE,
                                10,
                                bytes,
                                List.of(new Demand("topic", 10, Position.START))))
                .size();
    }

    @Test
    void aRowThatCannotBeReadDoesNotHideItsNeighbours() throws SQLException {
        withUnreadableRow(odd -> {
            List<Claimed<OutboxMessage>> claimed = database()
                    .routines()
                    .once(connection -> store(LEASE)
                            .claim(
                                    connection,
                                    OWNER.value(),
                                    LEASE,
                                    10,
                                    Long.MAX_VALUE,
                                    List.of(new Demand("topic", 10, Position.START))));

            assertThat(claimed).hasSize(3);
            assertThat(claimed)
                    .filteredOn(each -> each.problem() != null)
                    .singleElement()
                    .satisfies(each -> {
                        assertThat(each.id()).isEqualTo(odd.value());
                        assertThat(each.problem())
                                .startsWith("it cannot be read")
                                .doesNotContain("1]");
                    });
        });
    }

    @Test
    void whoClaimsByHandGetsTheNeighboursAndAnOperatorTheReason() throws SQLException {
        withUnreadableRow(odd -> {
            assertThat(outbox.claim(OwnerToken.fresh(), LEASE, 10))
                    .hasSize(2)
                    .noneMatch(message -> message.id().value().equals(odd.value()));

            assertThat(database()
                            .rows("select status, last_error from %s.outbox where id = ?", odd.value())
                            .get(0))
                    .startsWith("3 it cannot be read")
                    .doesNotContain("1]");
        });
    }

    private interface Look {
        void at(OutboxMessageIdentifier odd) throws SQLException;
    }

    private void withUnreadableRow(Look look) throws SQLException {
        enqueue("topic", 2);
        OutboxMessageIdentifier odd = enqueue("topic");
        database().whileUnreadable(odd.value(), () -> look.at(odd));
    }

    @Test
    void nothingIsReapedUntilOwnersHaveHadTheTimeToRenew() throws SQLException {
        List<Held> held = claimMany(1);
        runOutLease(List.of(new OutboxWorkItemIdentifier(held.get(0).id())));
        Duration quiet = Duration.ofMillis(500);
        watch(Instant.MIN, database().now().minus(Duration.ofHours(1)));

        assertThat(reap(quiet)).as("nobody was here for an hour").isZero();
        assertThat(reap(quiet)).as("owners have had no time yet").isZero();
        database()
                .update(
                        "update %s.windlass_watch set quiet_until = ? where queue = 'outbox'",
                        database().now());
        assertThat(reap(quiet)).isEqualTo(1);
    }

    @Test
    void afterAClockWasSetBackReapingWaitsForALeaseAndNotUntilTheOldTimeIsReached() throws SQLException {
        List<Held> held = claimMany(1);
        runOutLease(List.of(new OutboxWorkItemIdentifier(held.get(0).id())));
        Duration quiet = Duration.ofMillis(500);
        Instant before = database().now().plus(Duration.ofHours(1));
        watch(before, before);

        assertThat(reap(quiet)).as("owners have had no time yet").isZero();
        eventually().until(() -> reap(quiet) == 1);
    }

    private void watch(Instant quietUntil, Instant seen) {
        database()
                .update(
                        "update %s.windlass_watch set quiet_until = ?, seen_at = ? where queue = 'outbox'",
                        quietUntil, seen);
    }

    private int reap(Duration quiet) throws SQLException {
        return database().routines().once(connection -> store(LEASE).reap(connection, quiet, 10, true));
    }
}
