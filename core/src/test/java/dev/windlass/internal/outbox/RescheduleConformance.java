package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** A message that nobody has claimed gets another due time. */
@OnEveryEngine
final class RescheduleConformance extends OutboxConformance {
    private static final Instant FAR = Instant.parse("2125-01-01T00:00:00Z");

    private final OwnerToken owner = OwnerToken.fresh();

    @Test
    void laterPostponesAndEarlierBringsForward() {
        OutboxMessageIdentifier id = enqueue("topic");

        assertThat(outbox.reschedule(id, FAR)).isTrue();
        assertThat(claim(owner, 10)).isEmpty();
        assertThat(stored(workItem(id)).dueTime()).contains(FAR);

        assertThat(outbox.reschedule(id, Instant.EPOCH)).isTrue();
        assertThat(claim(owner, 10)).containsExactly(workItem(id));
    }

    /** A claimer may know that nothing earlier is left. */
    @Test
    void aDueTimeInThePastMeansNow() {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("topic", "").withDueTime(FAR));
        Instant before = database().now();

        outbox.reschedule(id, Instant.EPOCH);

        assertThat(time("next_attempt_at", workItem(id)))
                .isBetween(before, database().now());
        assertThat(stored(workItem(id)).dueTime()).contains(Instant.EPOCH);
    }

    @Test
    void oneThatWaitsForItsTurnIsRescheduledAndStaysInItsPlace() {
        OutboxEntry ordered = OutboxEntry.of("topic", "").withOrderingKey("key");
        OutboxMessageIdentifier first = outbox.enqueue(ordered);
        OutboxMessageIdentifier second = outbox.enqueue(ordered);

        assertThat(outbox.reschedule(second, FAR)).isTrue();
        assertThat(stored(workItem(second)).status()).isEqualTo(WorkStatus.WAITING);
        claim(owner, 10);
        outbox.ack(owner, List.of(workItem(first)));
        assertThat(claim(owner, 10)).isEmpty();

        outbox.reschedule(second, database().now());
        assertThat(claim(owner, 10)).containsExactly(workItem(second));
    }

    @Test
    void whatIsUnknownInProgressOrEndedStaysAsItIs() {
        OutboxMessageIdentifier failed = failed("topic", "broken");
        OutboxWorkItemIdentifier done = claimed(owner);
        outbox.ack(owner, List.of(done));
        OutboxMessageIdentifier cancelled = enqueue("topic");
        outbox.cancel(cancelled);
        OutboxWorkItemIdentifier held = claimed(owner);

        for (OutboxMessageIdentifier id : List.of(
                new OutboxMessageIdentifier(UUID.randomUUID()),
                failed,
                stored(done).messageId(),
                cancelled,
                stored(held).messageId())) {
            assertThat(outbox.reschedule(id, FAR)).isFalse();
        }
        assertThat(count("due_at is not null")).isZero();
        assertThat(outbox.ack(owner, List.of(held))).isEqualTo(1);
    }

    @Test
    void inTheCallersTransactionItHoldsWhenThatCommitsAndNobodyClaimsTheMessageMeanwhile() throws SQLException {
        OutboxMessageIdentifier id = enqueue("topic");
        OutboxMessageIdentifier other = enqueue("topic");
        try (Connection connection = database().connect()) {
            connection.setAutoCommit(false);
            assertThat(outbox.reschedule(connection, id, FAR)).isTrue();
            assertThat(claim(owner, 10)).containsExactly(workItem(other));
            connection.rollback();
            assertThat(stored(workItem(id)).dueTime()).isEmpty();

            outbox.reschedule(connection, id, FAR);
            connection.commit();
        }
        assertThat(claim(owner, 10)).isEmpty();
    }

    /** The node looks by itself every ten minutes only. */
    @Test
    void anEarlierTimeWakesASleepingNode() throws SQLException {
        Duration tenMinutes = Duration.ofMinutes(10);
        Set<UUID> handled = ConcurrentHashMap.newKeySet();
        Outbox own = database()
                .start(database()
                        .windlass()
                        .options(database().options().withMaxPollingInterval(tenMinutes))
                        .outbox(OutboxOptions.defaults().withPollingInterval(tenMinutes))
                        .outboxHandler(
                                "topic", message -> handled.add(message.id().value())))
                .outbox();
        List<OutboxMessageIdentifier> ids = List.of(far(own), far(outbox), far(outbox), far(outbox));

        own.reschedule(ids.get(0), Instant.EPOCH);
        eventually().until(() -> handled.contains(ids.get(0).value()));
        outbox.reschedule(ids.get(1), Instant.EPOCH);
        eventually().until(() -> handled.contains(ids.get(1).value()));
        outbox.reschedule(ids.get(2), database().now().plusMillis(500));
        eventually().until(() -> handled.contains(ids.get(2).value()));
        try (Connection connection = database().connect()) {
            connection.setAutoCommit(false);
            outbox.reschedule(connection, ids.get(3), Instant.EPOCH);
            connection.commit();
        }
        eventually().until(() -> handled.contains(ids.get(3).value()));
    }

    private static OutboxMessageIdentifier far(Outbox outbox) {
        return outbox.enqueue(OutboxEntry.of("topic", "").withDueTime(FAR));
    }
}
