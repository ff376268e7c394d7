package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Of several messages with one key, the first within the window is written. */
@OnEveryEngine
final class DeduplicationConformance extends OutboxConformance {
    private static final Duration HOUR = Duration.ofHours(1);

    private static OutboxEntry entry(String key) {
        return OutboxEntry.of("topic", "{}").withDeduplication(key, HOUR);
    }

    private long keys() {
        return database().value(Long.class, "select count(*) from %s.outbox_dedup");
    }

    private void endWindow(String key) {
        database().update("update %s.outbox_dedup set expires_at = '2020-01-01T00:00:00Z' where dedup_key = ?", key);
    }

    @Test
    void aSecondMessageIsNotWrittenAndTheFirstOnesIdIsReturned() {
        OutboxMessageIdentifier first =
                outbox.enqueue(OutboxEntry.of("topic", "first").withDeduplication("order 7", HOUR));
        OutboxMessageIdentifier second =
                outbox.enqueue(OutboxEntry.of("topic", "second").withDeduplication("order 7", HOUR));

        assertThat(second).isEqualTo(first);
        assertThat(count("1 = 1")).isEqualTo(1);
        assertThat(stored(workItem(first)).payload()).isEqualTo("first");
    }

    @Test
    void anotherTopicOrKeyIsAnotherMessage() {
        assertThat(List.of(
                        outbox.enqueue(entry("a")),
                        outbox.enqueue(entry("A")),
                        outbox.enqueue(entry(" a")),
                        outbox.enqueue(OutboxEntry.of("other", "").withDeduplication("a", HOUR)),
                        enqueue("topic"),
                        enqueue("topic")))
                .doesNotHaveDuplicates();
        assertThat(count("1 = 1")).isEqualTo(6);
    }

    @Test
    void whenTheWindowIsOverAMessageIsWrittenAgainAndBeginsAnother() {
        OutboxMessageIdentifier first = outbox.enqueue(entry("key"));
        endWindow("key");
        OutboxMessageIdentifier second = outbox.enqueue(entry("key"));
        OutboxMessageIdentifier third = outbox.enqueue(entry("key"));

        assertThat(second).isNotEqualTo(first);
        assertThat(third).isEqualTo(second);
        assertThat(count("1 = 1")).isEqualTo(2);
        assertThat(keys()).isEqualTo(1);
    }

    @Test
    void theWindowBeginsWithTheFirstAndALaterDuplicateDoesNotMoveIt() {
        outbox.enqueue(entry("key"));
        outbox.enqueue(OutboxEntry.of("topic", "").withDeduplication("key", HOUR.multipliedBy(10)));

        assertThat(database().value(Instant.class, "select expires_at from %s.outbox_dedup"))
                .isBetween(
                        database().now().plus(Duration.ofMinutes(50)),
                        database().now().plus(Duration.ofMinutes(61)));
    }

    @Test
    void aMessageThatIsDoneCancelledOrDeletedIsNotWrittenAgainWithinTheWindow() {
        Outbox deleting = outbox(OPTIONS.withRetention(Duration.ZERO));
        OutboxMessageIdentifier deleted = outbox.enqueue(entry("deleted"));
        OwnerToken owner = OwnerToken.fresh();
        deleting.ack(owner, claim(owner, 10));
        OutboxMessageIdentifier done = outbox.enqueue(entry("done"));
        outbox.ack(owner, claim(owner, 10));
        OutboxMessageIdentifier cancelled = outbox.enqueue(entry("cancelled"));
        outbox.cancel(cancelled);

        assertThat(outbox.find(deleted)).isEmpty();
        assertThat(outbox.enqueue(entry("deleted"))).isEqualTo(deleted);
        assertThat(outbox.enqueue(entry("done"))).isEqualTo(done);
        assertThat(outbox.enqueue(entry("cancelled"))).isEqualTo(cancelled);
        assertThat(count("status = 0")).isZero();
    }

    @Test
    void aRollbackFreesTheKey() throws SQLException {
        OutboxMessageIdentifier undone;
        try (Connection connection = transaction()) {
            undone = outbox.enqueue(connection, entry("key"));
            assertThat(outbox.enqueue(connection, entry("key"))).isEqualTo(undone);
            connection.rollback();
        }
        OutboxMessageIdentifier next = outbox.enqueue(entry("key"));

        assertThat(next).isNotEqualTo(undone);
        assertThat(outbox.find(next)).isPresent();
    }

    @Test
    void whoComesSecondWaitsForTheFirstToCommitOrRollBack() throws Exception {
        for (boolean commits : List.of(true, false)) {
            String key = "key " + commits;
            try (Connection connection = transaction()) {
                OutboxMessageIdentifier first = outbox.enqueue(connection, entry(key));
                CompletableFuture<OutboxMessageIdentifier> second =
                        CompletableFuture.supplyAsync(() -> outbox.enqueue(entry(key)));
                CompletableFuture<List<OutboxMessageIdentifier>> batch =
                        CompletableFuture.supplyAsync(() -> outbox.enqueueAll(List.of(entry(key))));
                assertThat(second).isNotDone();
                if (commits) {
                    connection.commit();
                } else {
                    connection.rollback();
                }
                OutboxMessageIdentifier stands = second.get();
                assertThat(batch.get()).containsExactly(stands);
                assertThat(stands.equals(first)).isEqualTo(commits);
            }
        }
        assertThat(count("1 = 1")).isEqualTo(2);
    }

    @Test
    void inTheCallersTransactionADuplicateOfAnEarlierOneChangesNothing() throws SQLException {
        OutboxMessageIdentifier first = outbox.enqueue(entry("key"));
        try (Connection connection = transaction()) {
            assertThat(outbox.enqueue(connection, entry("key"))).isEqualTo(first);
            assertThat(outbox.enqueueAll(connection, List.of(entry("key"), entry("key"))))
                    .containsExactly(first, first);
            connection.commit();
        }
        assertThat(count("1 = 1")).isEqualTo(1);
    }

    @Test
    void aBatchReturnsTheIdsThatStandInTheOrderOfItsEntries() {
        OutboxMessageIdentifier earlier = outbox.enqueue(entry("earlier"));

        List<OutboxMessageIdentifier> ids = outbox.enqueueAll(List.of(
                OutboxEntry.of("topic", "plain 0"),
                entry("b"),
                entry("earlier"),
                entry("a"),
                OutboxEntry.of("topic", "plain 4"),
                entry("b"),
                OutboxEntry.of("other", "").withDeduplication("b", HOUR),
                entry("a")));

        assertThat(ids).hasSize(8);
        assertThat(ids.get(2)).isEqualTo(earlier);
        assertThat(ids.get(5)).isEqualTo(ids.get(1));
        assertThat(ids.get(7)).isEqualTo(ids.get(3));
        assertThat(ids.stream().distinct()).hasSize(6);
        assertThat(stored(workItem(ids.get(0))).payload()).isEqualTo("plain 0");
        assertThat(stored(workItem(ids.get(4))).payload()).isEqualTo("plain 4");
        assertThat(stored(workItem(ids.get(6))).topic()).isEqualTo("other");
        assertThat(count("1 = 1")).isEqualTo(6);
    }

    @Test
    void aBatchOfDuplicatesWritesNothing() {
        List<OutboxMessageIdentifier> first = outbox.enqueueAll(List.of(entry("a"), entry("b")));

        assertThat(outbox.enqueueAll(List.of(entry("b"), entry("a")))).containsExactly(first.get(1), first.get(0));
        assertThat(count("1 = 1")).isEqualTo(2);
    }

    @Test
    void aBatchTakesKeysWhoseWindowIsOver() {
        List<OutboxMessageIdentifier> first = outbox.enqueueAll(List.of(entry("a"), entry("b")));
        endWindow("a");

        List<OutboxMessageIdentifier> second = outbox.enqueueAll(List.of(entry("b"), entry("a"), entry("a")));

        assertThat(second.get(0)).isEqualTo(first.get(1));
        assertThat(second.get(1)).isEqualTo(second.get(2)).isNotIn(first);
        assertThat(count("1 = 1")).isEqualTo(3);
    }

    @Test
    void aDuplicateNeitherTakesASequenceNorBlocksItsOrderingKey() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxEntry entry = entry("once").withOrderingKey("key");
        OutboxWorkItemIdentifier first = workItem(outbox.enqueue(entry));
        long sequence = lastSequence();

        outbox.enqueue(entry);
        outbox.enqueueAll(List.of(entry, entry));
        assertThat(lastSequence()).isEqualTo(sequence);

        assertThat(claim(owner, 10)).containsExactly(first);
        outbox.ack(owner, List.of(first));
        outbox.enqueue(entry);
        outbox.enqueueAll(List.of(entry));
        OutboxWorkItemIdentifier next = workItem(outbox.enqueue(entry("another").withOrderingKey("key")));
        assertThat(claim(owner, 10)).containsExactly(next);
        outbox.ack(owner, List.of(next));
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_key"))
                .isZero();
    }

    @Test
    void aBatchWithDuplicatesKeepsTheOrderOfTheRest() {
        OwnerToken owner = OwnerToken.fresh();
        outbox.enqueueAll(IntStream.of(0, 1, 0, 2, 1, 3)
                .mapToObj(i -> OutboxEntry.of("topic", "" + i)
                        .withDeduplication("" + i, HOUR)
                        .withOrderingKey("key"))
                .toList());

        List<String> handled = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            List<OutboxMessage> next = outbox.claim(owner, LEASE, 10);
            next.forEach(message -> handled.add(message.payload()));
            outbox.ack(owner, ids(next));
        }
        assertThat(claim(owner, 10)).isEmpty();
        assertThat(handled).containsExactly("0", "1", "2", "3");
    }

    private long lastSequence() {
        return database().value(Long.class, "select last_sequence from %s.outbox_key");
    }

    @Test
    void ofManyAtOnceOneIsWrittenAndAllGetItsId() throws Exception {
        for (int round = 0; round < 20; round++) {
            String key = "round " + round;
            List<OutboxMessageIdentifier> ids = RaceConformance.race(() -> outbox.enqueue(entry(key)));

            assertThat(ids.stream().distinct()).hasSize(1);
            assertThat(outbox.find(ids.get(0))).isPresent();
        }
        assertThat(count("1 = 1")).isEqualTo(20);
    }

    @Test
    void ofManyAtOnceOneTakesOverAKeyWhoseWindowIsOver() throws Exception {
        for (int round = 0; round < 20; round++) {
            String key = "round " + round;
            outbox.enqueue(entry(key));
            endWindow(key);
            List<OutboxMessageIdentifier> ids =
                    RaceConformance.race(() -> ThreadLocalRandom.current().nextBoolean()
                            ? outbox.enqueue(entry(key))
                            : outbox.enqueueAll(List.of(entry(key))).get(0));

            assertThat(ids.stream().distinct()).hasSize(1);
        }
        assertThat(count("1 = 1")).isEqualTo(40);
    }

    /** The retries of the API would hide a deadlock, so the routine is called without them. */
    @Test
    void batchesWithTheSameKeysInOtherOrdersDoNotDeadlockAndAgree() throws Exception {
        OutboxStore store = store(HOUR);
        for (int round = 0; round < 15; round++) {
            String name = "round " + round + " ";
            List<OutboxEntry> entries =
                    IntStream.range(0, 60).mapToObj(i -> entry(name + i)).toList();
            RaceConformance.race(() -> {
                List<OutboxEntry> mine = new ArrayList<>(entries);
                Collections.shuffle(mine, ThreadLocalRandom.current());
                List<UUID> ids = IntStream.range(0, mine.size())
                        .mapToObj(i -> UUID.randomUUID())
                        .toList();
                return database().routines().once(connection -> store.enqueueAll(connection, ids, mine, false));
            });
        }
        assertThat(count("1 = 1")).isEqualTo(15 * 60);
        assertThat(keys()).isEqualTo(15 * 60);
    }

    @Test
    void keysThatAreCleanedWhileTheyAreWrittenNeverWriteTwoWithinAWindow() throws Exception {
        for (int round = 0; round < 20; round++) {
            String key = "round " + round;
            outbox.enqueue(entry(key));
            endWindow(key);
            List<OutboxMessageIdentifier> ids = RaceConformance.race(() -> {
                forget(10);
                return ThreadLocalRandom.current().nextBoolean()
                        ? outbox.enqueue(entry(key))
                        : outbox.enqueueAll(List.of(entry(key))).get(0);
            });
            assertThat(ids.stream().distinct()).hasSize(1);
        }
    }

    @Test
    void anAnswerThatWasLostIsFoundAgain() {
        LosingDataSource losing = new LosingDataSource(database());
        Outbox unlucky = database()
                .start(Windlass.on(losing).options(database().options().withBackgroundWorkers(false)))
                .outbox();
        OutboxMessageIdentifier earlier = outbox.enqueue(entry("earlier"));

        losing.loseAnswers(1);
        OutboxMessageIdentifier alone = unlucky.enqueue(entry("alone"));
        losing.loseAnswers(2);
        OutboxMessageIdentifier duplicate = unlucky.enqueue(entry("earlier"));
        losing.loseAnswers(1);
        List<OutboxMessageIdentifier> keyed =
                unlucky.enqueueAll(List.of(entry("a"), entry("earlier"), entry("b"), entry("a")));
        losing.loseAnswers(1);
        List<OutboxMessageIdentifier> mixed = unlucky.enqueueAll(
                List.of(entry("c"), OutboxEntry.of("topic", "plain"), entry("a"), entry("earlier"), entry("c")));

        assertThat(losing.left()).isZero();
        assertThat(outbox.find(alone)).isPresent();
        assertThat(duplicate).isEqualTo(earlier);
        assertThat(keyed.get(1)).isEqualTo(earlier);
        assertThat(keyed.get(3)).isEqualTo(keyed.get(0));
        assertThat(mixed.get(2)).isEqualTo(keyed.get(0));
        assertThat(mixed.get(3)).isEqualTo(earlier);
        assertThat(mixed.get(4)).isEqualTo(mixed.get(0));
        assertThat(mixed.get(1)).isNotIn(mixed.get(0), mixed.get(2), mixed.get(3));
        assertThat(List.of(keyed.get(0), keyed.get(2), mixed.get(0), mixed.get(1)))
                .allSatisfy(id -> assertThat(outbox.find(id)).isPresent());
        assertThat(count("1 = 1")).as("earlier, alone, a, b, c, plain").isEqualTo(6);
    }

    @Test
    void keysWhoseWindowIsOverAreForgottenAndNothingElse() throws SQLException {
        OutboxMessageIdentifier old = outbox.enqueue(entry("old"));
        OutboxMessageIdentifier young = outbox.enqueue(entry("young"));
        endWindow("old");

        assertThat(forget(10)).isEqualTo(1);

        assertThat(keys()).isEqualTo(1);
        assertThat(outbox.find(old)).isPresent();
        assertThat(outbox.enqueue(entry("young"))).isEqualTo(young);
        assertThat(outbox.enqueue(entry("old"))).isNotEqualTo(old);
    }

    @Test
    void keysAreForgottenInBatches() throws SQLException {
        outbox.enqueueAll(IntStream.range(0, 5).mapToObj(i -> entry("" + i)).toList());
        database().update("update %s.outbox_dedup set expires_at = '2020-01-01T00:00:00Z'");

        assertThat(forget(3)).isEqualTo(3);
        assertThat(forget(3)).isEqualTo(2);
        assertThat(forget(3)).isZero();
    }

    private int forget(int limit) throws SQLException {
        try (Connection connection = database().connect()) {
            return Objects.requireNonNull(store(HOUR).upkeep().get("forgetting deduplication keys"))
                    .run(connection, limit);
        }
    }

    private Connection transaction() throws SQLException {
        Connection connection = database().connect();
        connection.setAutoCommit(false);
        return connection;
    }
}
