package dev.windlass.internal.join;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.join.FollowUp;
import dev.windlass.join.Join;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.Joins;
import dev.windlass.operator.Attempts;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls that wait for each other's messages and joins do so in one order: messages first, then inner joins before outer ones. */
@Timeout(60)
final class PostgresJoinLockTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private Outbox outbox;
    private Joins joins;

    @BeforeEach
    void start() {
        Windlass windlass = database.passive();
        outbox = windlass.outbox();
        joins = windlass.joins();
    }

    private static void untilWaiting(int callers) {
        eventually()
                .until(() -> database.value(
                                Long.class,
                                "select count(*) from pg_stat_activity where usename = 'windlass_runtime'"
                                        + " and wait_event_type = 'Lock'")
                        == callers);
    }

    /** One that has been written before under a deduplication key is waited for with no join in hand. */
    @Test
    void whoeverWritesStepsLocksMessagesBeforeJoins() throws Exception {
        OutboxEntry once = OutboxEntry.of("step", "").withDeduplication("key", Duration.ofDays(1));
        OutboxMessageIdentifier first = outbox.enqueue(once);
        OutboxMessageIdentifier other = outbox.enqueue(OutboxEntry.of("step", ""));
        JoinIdentifier join = joins.start(JoinEntry.of(2));

        try (Connection holder = database.transaction()) {
            database.lock(holder, "outbox", "id = ?", first.value());
            CompletableFuture<?> writer = CompletableFuture.supplyAsync(
                    () -> outbox.enqueueAll(List.of(once.withJoin(join), once.withJoin(join))));
            untilWaiting(1);

            assertThat(outbox.attach(join, List.of(other))).isEqualTo(1);

            holder.rollback();
            writer.get();
        }
        assertThat(joins.find(join)).map(Join::members).contains(2);
    }

    @Test
    void theEndOfAnInnerJoinAndARequeueInBothDoNotDeadlock() throws Exception {
        JoinIdentifier outer = joins.start(JoinEntry.of(2));
        JoinIdentifier inner = joins.start(JoinEntry.of(2).withFollowUp(FollowUp.stepOf(outer)));
        OutboxMessageIdentifier failed =
                outbox.enqueue(OutboxEntry.of("step", "").withJoin(outer));
        outbox.attach(inner, List.of(failed));
        OwnerToken owner = OwnerToken.fresh();
        outbox.claim(owner, Duration.ofMinutes(5), 1);
        outbox.fail(owner, List.of(JoinsConformance.item(failed)), "no");

        try (Logs logs = Logs.collect(Level.DEBUG);
                Connection holder = database.transaction()) {
            database.lock(holder, "windlass_join", "id = ?", outer.value());
            CompletableFuture<Integer> requeue = CompletableFuture.supplyAsync(
                    () -> outbox.operator("anna").requeue(List.of(failed), Attempts.RESET));
            untilWaiting(1);
            CompletableFuture<Boolean> report =
                    CompletableFuture.supplyAsync(() -> joins.reportCompleted(inner, UUID.randomUUID()));
            untilWaiting(2);
            holder.rollback();
            assertThat(requeue.get()).isEqualTo(1);
            assertThat(report.get()).isTrue();
            assertThat(logs.count(Level.DEBUG, "deadlock detected")).isZero();
        }
    }
}
