package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore.Demand;
import dev.windlass.internal.queue.WorkStore.Held;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of an ordering key while somebody's transaction is open: nobody but those who write to the key waits for it. */
@Timeout(30)
@OnEveryEngine
final class OrderingLockConformance extends OutboxConformance {
    private static final OwnerToken OWNER = OwnerToken.fresh();
    private static final List<Demand> ALL = List.of(new Demand("topic", 10, Position.START));

    private static OutboxEntry entry() {
        return OutboxEntry.of("topic", "{}").withOrderingKey("key");
    }

    private OutboxWorkItemIdentifier write() {
        return workItem(outbox.enqueue(entry()));
    }

    private Connection open() throws SQLException {
        Connection connection = database().connect();
        connection.setAutoCommit(false);
        return connection;
    }

    private Optional<Duration> nextDue() throws SQLException {
        return database().routines().once(connection -> store(LEASE).nextDue(connection, ALL));
    }

    private void nothingIsLeftOfTheKey() {
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_key"))
                .isZero();
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_key_freed"))
                .isZero();
    }

    /** The row of such a key is hardly ever free; whoever needed it to go on would starve. */
    @Test
    void aKeyGoesOnWhileSomebodyIsAlwaysWritingToIt() throws SQLException {
        OutboxWorkItemIdentifier first = write();
        claim(OWNER, 10);
        try (Connection one = open();
                Connection other = open()) {
            OutboxWorkItemIdentifier second = workItem(outbox.enqueue(one, entry()));
            outbox.ack(OWNER, List.of(first));
            one.commit();
            OutboxWorkItemIdentifier third = workItem(outbox.enqueue(other, entry()));

            assertThat(claim(OWNER, 10)).containsExactly(second);
            outbox.ack(OWNER, List.of(second));
            assertThat(claim(OWNER, 10)).isEmpty();
            other.commit();
            assertThat(claim(OWNER, 10)).containsExactly(third);
            outbox.ack(OWNER, List.of(third));
        }
        nothingIsLeftOfTheKey();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anEndDoesNotWaitForSomebodyWhoCancelsTheNextAndTheOrderHoldsWhateverHeDecides(boolean commits)
            throws SQLException {
        OutboxWorkItemIdentifier first = write();
        OutboxWorkItemIdentifier second = write();
        OutboxWorkItemIdentifier third = write();
        claim(OWNER, 10);
        try (Connection undecided = open()) {
            assertThat(outbox.cancel(undecided, stored(second).messageId())).isTrue();

            assertThat(outbox.ack(OWNER, List.of(first))).isEqualTo(1);
            assertThat(claim(OWNER, 10)).as("nor does a claim").isEmpty();
            if (commits) {
                undecided.commit();
            } else {
                undecided.rollback();
                assertThat(claim(OWNER, 10)).containsExactly(second);
                outbox.ack(OWNER, List.of(second));
            }
        }
        assertThat(claim(OWNER, 10)).containsExactly(third);
        outbox.ack(OWNER, List.of(third));
        nothingIsLeftOfTheKey();
    }

    @Test
    void aKeyWhoseLastMessageIsCancelledWhileTheOneBeforeItEndsIsForgotten() throws SQLException {
        OutboxWorkItemIdentifier first = write();
        OutboxWorkItemIdentifier second = write();
        claim(OWNER, 10);
        try (Connection undecided = open()) {
            outbox.cancel(undecided, stored(second).messageId());
            outbox.ack(OWNER, List.of(first));
            undecided.commit();
        }
        assertThat(claim(OWNER, 10)).isEmpty();
        nothingIsLeftOfTheKey();
    }

    /** A rollback tells nobody. */
    @Test
    void whoeverAsksWhenToLookAgainIsToldToComeSoonWhileAKeyIsLeftOver() throws SQLException {
        OutboxWorkItemIdentifier first = write();
        claim(OWNER, 10);
        assertThat(nextDue()).isEmpty();
        try (Connection writer = open()) {
            outbox.enqueue(writer, entry());
            outbox.ack(OWNER, List.of(first));
            writer.rollback();
        }

        assertThat(nextDue()).hasValueSatisfying(pause -> assertThat(pause).isLessThan(Duration.ofSeconds(1)));
        claim(OWNER, 10);
        assertThat(nextDue()).isEmpty();
    }

    /** A program may write again what it does not know to have been written and, by now, deleted. */
    @Test
    void anIdThatIsWrittenAgainAfterItIsGoneWaitsLikeAnyOther() throws SQLException {
        OutboxStore store = store(Duration.ZERO);
        UUID id = UUID.randomUUID();
        database().routines().once(connection -> store.enqueue(connection, id, entry(), false));
        OutboxWorkItemIdentifier second = write();
        claim(OWNER, 10);
        database().routines().once(connection -> store.ack(connection, List.of(new Held(id, OWNER.value(), true))));

        database().routines().once(connection -> store.enqueue(connection, id, entry(), false));

        assertThat(claim(OWNER, 10)).containsExactly(second);
        outbox.ack(OWNER, List.of(second));
        assertThat(claim(OWNER, 10)).containsExactly(new OutboxWorkItemIdentifier(id));
    }

    /** The proof beside the claim routine needs a clock that was read before the claim had its number. */
    @Test
    void aClaimThatPromotesReportsNoPositionThatItCannotProve() throws SQLException {
        OutboxWorkItemIdentifier first = write();
        claim(OWNER, 10);
        try (Connection writer = open()) {
            outbox.enqueue(writer, entry());
            outbox.ack(OWNER, List.of(first));
            writer.commit();
        }

        List<Claimed<OutboxMessage>> claimed = database()
                .routines()
                .once(connection -> store(LEASE).claim(connection, OWNER.value(), LEASE, 10, Long.MAX_VALUE, ALL));

        assertThat(claimed).singleElement().satisfies(each -> {
            assertThat(each.position().at())
                    .as("read before the claim had its number, which it got when it promoted")
                    .isBefore(time("claimed_at", each.readable().id()));
        });
    }
}
