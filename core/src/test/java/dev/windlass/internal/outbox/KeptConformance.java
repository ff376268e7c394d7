package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.EngineDatabase;
import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.WindlassException;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinStatus;
import dev.windlass.operator.TopicLimit;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A node that writes a message and has a place for it keeps it: it is in progress from its commit on, without a claim. */
@OnEveryEngine
final class KeptConformance {
    private static final OutboxOptions OPTIONS = OutboxOptions.defaults().withConcurrency(2);

    private final Queue<String> handled = new ConcurrentLinkedQueue<>();

    private EngineDatabase database;

    private static final class Undo extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @BeforeEach
    void use(EngineDatabase database) {
        this.database = database;
    }

    private Windlass node(OutboxOptions options) {
        return node(database.windlass(), options);
    }

    private Windlass node(WindlassBuilder builder, OutboxOptions options) {
        Windlass windlass =
                database.start(builder.outbox(options).outboxHandler("a", message -> handled.add(message.payload())));
        // It keeps nothing before a claim has told that nothing else is ready.
        eventually().until(() -> keeps(windlass));
        eventually().until(() -> count("status = 1") == 0);
        handled.clear();
        return windlass;
    }

    private boolean keeps(Windlass windlass) {
        return windlass.inTransaction(connection -> isKept(connection, write(windlass, connection, "probe")));
    }

    private static OutboxMessageIdentifier write(Windlass windlass, Connection connection, String payload) {
        return windlass.outbox().enqueue(connection, OutboxEntry.of("a", payload));
    }

    private boolean isKept(Connection connection, OutboxMessageIdentifier id) {
        try {
            return database.lock(connection, "outbox", "id = ? and status = 1", id.value()) == 1;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private long count(String where) {
        return database.value(Long.class, "select count(*) from %s.outbox where " + where);
    }

    private void awaitHandled(String... payloads) {
        eventually().untilAsserted(() -> assertThat(handled).containsExactlyInAnyOrder(payloads));
        eventually().until(() -> count("status <> 2") == 0);
        assertThat(count("retry_count + lease_expiries > 0")).isZero();
    }

    @Test
    void whatIsWrittenInATransactionOfWindlassIsKeptAndHandledOnce() throws Exception {
        Windlass windlass = node(OPTIONS);

        List<Boolean> kept = windlass.inTransaction(connection -> List.of(
                isKept(connection, write(windlass, connection, "1")),
                isKept(connection, windlass.outbox().enqueue(OutboxEntry.of("a", "2")))));

        assertThat(kept).containsExactly(true, true);
        awaitHandled("1", "2");
    }

    @Test
    void whatIsWrittenAloneIsHandledOnce() {
        Windlass windlass = node(OPTIONS);

        IntStream.range(0, 20).forEach(i -> windlass.outbox().enqueue(OutboxEntry.of("a", "" + i)));

        awaitHandled(IntStream.range(0, 20).mapToObj(i -> "" + i).toArray(String[]::new));
    }

    @Test
    void noMoreIsKeptThanThereArePlaces() throws Exception {
        Windlass windlass = node(OPTIONS);

        List<Boolean> kept = windlass.inTransaction(connection -> {
            List<Boolean> all = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                all.add(isKept(connection, write(windlass, connection, "" + i)));
            }
            return all;
        });

        assertThat(kept.stream().filter(each -> each).count()).isBetween(1L, 2L);
        awaitHandled(IntStream.range(0, 10).mapToObj(i -> "" + i).toArray(String[]::new));
    }

    @Test
    void whatATransactionHasTakenBackIsNotHandled() throws Exception {
        Windlass windlass = node(OPTIONS);

        windlass.inTransaction(connection -> {
            Savepoint before = connection.setSavepoint();
            assertThat(isKept(connection, write(windlass, connection, "taken back")))
                    .isTrue();
            connection.rollback(before);
            return true;
        });
        windlass.inTransaction(connection -> {
            assertThatThrownBy(() -> windlass.inTransaction(part -> {
                        write(windlass, part, "taken back, too");
                        throw new Undo();
                    }))
                    .isInstanceOf(Undo.class);
            return write(windlass, connection, "stays");
        });

        awaitHandled("stays");
    }

    @Test
    void aTransactionThatIsRolledBackLeavesNothingAndKeepsNoPlace() {
        Windlass windlass = node(OPTIONS);

        for (int i = 0; i < 20; i++) {
            List<Boolean> kept = new ArrayList<>();
            assertThatThrownBy(() -> windlass.inTransaction(connection -> {
                        kept.add(isKept(connection, write(windlass, connection, "never")));
                        throw new Undo();
                    }))
                    .isInstanceOf(Undo.class);
            assertThat(kept).containsExactly(true);
        }

        windlass.outbox().enqueue(OutboxEntry.of("a", "after"));
        awaitHandled("after");
    }

    @Test
    void aTransactionOfTheCallersOwnIsNotHeardOfAndKeepsNothing() throws Exception {
        Windlass windlass = node(OPTIONS);

        try (Connection connection = database.transaction()) {
            assertThat(isKept(connection, write(windlass, connection, "1"))).isFalse();
            connection.commit();
        }

        awaitHandled("1");
    }

    @Test
    void whatHasToWaitIsNotKept() throws Exception {
        Windlass windlass = node(OPTIONS);
        OutboxEntry plain = OutboxEntry.of("a", "x");

        List<Boolean> kept = windlass.inTransaction(connection -> {
            List<Boolean> all = new ArrayList<>();
            for (OutboxEntry entry : List.of(
                    plain.withDelay(Duration.ofDays(1)),
                    plain.withDueTime(Instant.now().plus(Duration.ofDays(1))),
                    plain.withExpiresAt(Instant.now().plus(Duration.ofDays(1))),
                    plain.withOrderingKey("key"),
                    OutboxEntry.of("unknown", "x"))) {
                all.add(isKept(connection, windlass.outbox().enqueue(connection, entry)));
            }
            return all;
        });

        assertThat(kept).containsOnly(false);
    }

    @Test
    void ofATopicThatWasPausedBehindTheBackOfTheNodeNothingIsKept() throws Exception {
        Windlass windlass = node(OPTIONS);
        database.update(
                "insert into %s.windlass_topic (queue, topic, paused_at, paused_by) values ('outbox', 'a', ?, 'op')",
                Instant.now());

        boolean kept = windlass.inTransaction(connection -> isKept(connection, write(windlass, connection, "1")));
        assertThat(kept).isFalse();
        assertThat(count("status = 0")).isOne();

        windlass.outbox().operator("op").resume("a");
        awaitHandled("1");
    }

    @Test
    void whatIsPausedBetweenTheWriteAndTheCommitIsGivenBack() throws Exception {
        Windlass windlass = node(OPTIONS);

        windlass.inTransaction(connection -> {
            assertThat(isKept(connection, write(windlass, connection, "1"))).isTrue();
            return database.update(
                    "insert into %s.windlass_topic (queue, topic, paused_at, paused_by) values ('outbox', 'a', ?, 'op')",
                    Instant.now());
        });

        eventually().until(() -> count("status = 0") == 1);
        assertThat(handled).isEmpty();
        windlass.outbox().operator("op").resume("a");
        awaitHandled("1");
    }

    @Test
    void whoeverWroteItMayStillCancelAndRescheduleItInTheSameTransaction() throws Exception {
        Windlass windlass = node(OPTIONS);

        windlass.inTransaction(connection -> {
            OutboxMessageIdentifier cancelled = write(windlass, connection, "cancelled");
            OutboxMessageIdentifier later = write(windlass, connection, "later");
            assertThat(isKept(connection, cancelled)).isTrue();
            assertThat(windlass.outbox().cancel(connection, cancelled)).isTrue();
            assertThat(windlass.outbox().reschedule(later, Instant.now().plus(Duration.ofDays(1))))
                    .isTrue();
            return true;
        });

        windlass.outbox().enqueue(OutboxEntry.of("a", "after"));
        eventually().untilAsserted(() -> assertThat(handled).containsExactly("after"));
        eventually().until(() -> count("status = 1") == 0);
        assertThat(count("status = 5")).isOne();
        assertThat(count("status = 0")).isOne();
    }

    @Test
    void aTransactionThatTakesMostOfTheLeaseIsNotHeldAgainstTheMessage() throws Exception {
        Windlass windlass = node(OPTIONS.withLease(Duration.ofSeconds(4)));

        boolean kept = windlass.inTransaction(connection -> {
            boolean so = isKept(connection, write(windlass, connection, "1"));
            Thread.sleep(2100); // more than half of the lease
            return so;
        });

        assertThat(kept).isTrue();
        eventually().untilAsserted(() -> assertThat(handled).containsExactly("1"));
        eventually().until(() -> count("status <> 2") == 0);
        assertThat(count("retry_count > 0 or crashes > 0")).isZero();
    }

    @Test
    void aMemberOfAJoinIsKeptAndCounts() throws Exception {
        Windlass windlass = node(OPTIONS);
        JoinIdentifier join = windlass.joins().start(JoinEntry.of(1));

        boolean kept = windlass.inTransaction(connection -> isKept(
                connection,
                windlass.outbox()
                        .enqueue(connection, OutboxEntry.of("a", "step").withJoin(join))));

        assertThat(kept).isTrue();
        eventually()
                .untilAsserted(() -> assertThat(
                                windlass.joins().find(join).orElseThrow().status())
                        .isEqualTo(JoinStatus.COMPLETED));
    }

    @Test
    void aNodeThatEndsGivesBackWhatItHasKept() throws Exception {
        CountDownLatch written = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        Windlass windlass = node(OPTIONS);
        CompletableFuture<Boolean> writer = CompletableFuture.supplyAsync(() -> windlass.inTransaction(connection -> {
            write(windlass, connection, "late");
            written.countDown();
            return awaited(closed);
        }));
        written.await();
        windlass.close();
        closed.countDown();
        assertThat(writer.get()).isTrue();

        assertThat(handled).isEmpty();
        assertThat(count("status = 0")).isOne();
    }

    @Test
    void aMessageWhoseCommitIsNotKnownIsGivenBackLongBeforeItsLeaseEnds() throws Exception {
        LosingDataSource losing = new LosingDataSource(database);
        Windlass windlass =
                node(Windlass.on(losing).options(database.options()), OPTIONS.withLease(Duration.ofMinutes(10)));

        assertThatThrownBy(() -> windlass.inTransaction(connection -> {
                    assertThat(isKept(connection, write(windlass, connection, "1")))
                            .isTrue();
                    losing.loseCommit();
                    return true;
                }))
                .isInstanceOf(WindlassException.class);
        awaitHandled("1");

        losing.loseAnswers(1);
        windlass.outbox().enqueue(OutboxEntry.of("a", "2"));
        awaitHandled("1", "2");
    }

    @Test
    void aMessageThatCannotBeReadBackIsGivenBackLongBeforeItsLeaseEnds() throws Exception {
        LosingDataSource losing = new LosingDataSource(database);
        Windlass windlass =
                node(Windlass.on(losing).options(database.options()), OPTIONS.withLease(Duration.ofMinutes(10)));

        windlass.inTransaction(connection -> {
            assertThat(isKept(connection, write(windlass, connection, "1"))).isTrue();
            losing.loseAnswers(1);
            return true;
        });

        awaitHandled("1");
        assertThat(losing.left()).isZero();
    }

    @Test
    void aTopicOfWhichNothingIsDecidedAnyMoreIsKeptAgain() {
        Windlass windlass = node(OPTIONS);
        OutboxOperator operator = windlass.outbox().operator("ada");

        operator.pause("a", "for a while");
        operator.resume("a");
        operator.limit("a", TopicLimit.none().withRunning(1));
        operator.limit("a", TopicLimit.none());

        eventually().until(() -> keeps(windlass));
        assertThat(database.value(Long.class, "select count(*) from %s.windlass_topic"))
                .isZero();
    }

    /** To give it back would put it behind all others of its transaction. A busy machine may be too late; it has to be seen once. */
    @Test
    void whatALongTransactionHasKeptIsHandledWithoutAnotherClaim() {
        Duration lease = Duration.ofSeconds(3);
        Windlass windlass = node(OPTIONS.withLease(lease));

        eventually().until(() -> {
            Deadline old =
                    Deadline.in(MonotonicClock.system(), lease.dividedBy(3).plusMillis(100));
            UUID id = windlass.inTransaction(connection -> {
                OutboxMessageIdentifier written = write(windlass, connection, "1");
                eventually().until(old::hasPassed);
                return written.value();
            });
            eventually().until(() -> count("status <> 2") == 0);
            return database.value(
                            Long.class, "select count(*) from %s.outbox where id = ? and claimed_at = created_at", id)
                    == 1;
        });
    }

    /** Many who write, take back, roll back; nodes that write and nodes that only handle. */
    @Test
    void whatIsCommittedIsHandledExactlyOnceAndNothingElseIs() throws Exception {
        Windlass first = node(OutboxOptions.defaults());
        Windlass second = node(OutboxOptions.defaults());
        Set<String> committed = ConcurrentHashMap.newKeySet();
        List<Thread> writers = IntStream.range(0, 6)
                .mapToObj(writer -> new Thread(() -> {
                    for (int i = 0; i < 60; i++) {
                        writeOrNot(writer % 2 == 0 ? first : second, writer + "-" + i, committed);
                    }
                }))
                .toList();
        writers.forEach(Thread::start);
        for (Thread writer : writers) {
            writer.join();
        }

        eventually().until(() -> count("status <> 2") == 0);
        assertThat(handled).hasSameSizeAs(committed).containsExactlyInAnyOrderElementsOf(committed);
    }

    private static boolean awaited(CountDownLatch latch) {
        try {
            return latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void writeOrNot(Windlass windlass, String name, Set<String> committed) {
        int kind = ThreadLocalRandom.current().nextInt(4);
        try {
            windlass.inTransaction(connection -> {
                Savepoint before = connection.setSavepoint();
                write(windlass, connection, name);
                if (kind == 1) {
                    connection.rollback(before);
                    write(windlass, connection, name + " again");
                } else if (kind == 2) {
                    throw new Undo();
                } else if (kind == 3) {
                    windlass.outbox().enqueueAll(connection, List.of(OutboxEntry.of("a", name + " more")));
                }
                return true;
            });
        } catch (Undo e) {
            return;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        if (kind != 1) {
            committed.add(name);
        }
        if (kind == 1 || kind == 3) {
            committed.add(name + (kind == 1 ? " again" : " more"));
        }
    }
}
