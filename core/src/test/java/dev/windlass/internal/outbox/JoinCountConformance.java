package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** How the end of a message counts in the joins it is a member of. */
@OnEveryEngine
final class JoinCountConformance extends OutboxConformance {

    @Test
    @Shows({"OBX-033", "OBX-089"})
    void anAckCountsInEveryJoinOfTheMessage() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        UUID first = join(List.of(id));
        UUID second = join(List.of(id));

        outbox.ack(owner, List.of(id));

        assertThat(steps("completed_steps", first)).isEqualTo(1);
        assertThat(steps("completed_steps", second)).isEqualTo(1);
        assertThat(steps("failed_steps", first)).isZero();
    }

    @Test
    @Shows("OBX-033")
    void aBatchOfMembersCountsEachMemberOnce() {
        OwnerToken owner = OwnerToken.fresh();
        enqueue("topic", 5);
        List<OutboxWorkItemIdentifier> ids = claim(owner, 10);
        UUID all = join(ids);
        UUID two = join(ids.subList(0, 2));

        outbox.ack(owner, ids);
        outbox.ack(owner, ids);

        assertThat(steps("completed_steps", all)).isEqualTo(5);
        assertThat(steps("completed_steps", two)).isEqualTo(2);
    }

    @Test
    @Shows("OBX-033")
    void anAckThatDeletesCountsToo() {
        Outbox deleting = outbox(OPTIONS.withRetention(Duration.ZERO));
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        UUID join = join(List.of(id));

        deleting.ack(owner, List.of(id));

        assertThat(steps("completed_steps", join)).isEqualTo(1);
    }

    @Test
    @Shows({"OBX-046", "OBX-089"})
    void aFailureCountsInEveryJoinOfTheMessage() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        UUID first = join(List.of(id));
        UUID second = join(List.of(id));

        outbox.fail(owner, List.of(id), "no");

        assertThat(steps("failed_steps", first)).isEqualTo(1);
        assertThat(steps("failed_steps", second)).isEqualTo(1);
        assertThat(steps("completed_steps", first)).isZero();
    }

    @Test
    void anExpiryCountsAsFailed() throws SQLException {
        OutboxWorkItemIdentifier id = workItem(outbox.enqueue(
                OutboxEntry.of("topic", "").withExpiresAt(database().now())));
        UUID join = join(List.of(id));

        try (Connection connection = database().connect()) {
            assertThat(store(Duration.ofDays(1)).expire(connection, 10)).isEqualTo(1);
        }
        assertThat(steps("failed_steps", join)).isEqualTo(1);
    }

    @Test
    void whatDoesNotEndAMessageCountsNothing() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        UUID join = join(List.of(id));

        outbox.ack(OwnerToken.fresh(), List.of(id));
        outbox.fail(OwnerToken.fresh(), List.of(id), "no");
        outbox.heartbeat(owner, List.of(id), LEASE);
        outbox.abandon(owner, List.of(id));

        assertThat(steps("completed_steps + failed_steps", join)).isZero();
    }

    @Test
    @Shows({"OBX-034", "OBX-097"})
    void anAckIsUndoneWhenItsJoinCannotBeCounted() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        UUID join = join(List.of(id));

        whileJoinsCannotBeCounted(() -> assertThatThrownBy(() -> outbox.ack(owner, List.of(id)))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("could not ack 1 messages"));

        assertThat(stored(id).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(outbox.ack(owner, List.of(id))).isEqualTo(1);
        assertThat(steps("completed_steps", join)).isEqualTo(1);
    }

    @Test
    @Shows({"OBX-047", "OBX-097"})
    void aFailureIsUndoneWhenItsJoinCannotBeCounted() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        UUID join = join(List.of(id));

        whileJoinsCannotBeCounted(() ->
                assertThatThrownBy(() -> outbox.fail(owner, List.of(id), "no")).isInstanceOf(WindlassException.class));

        assertThat(stored(id).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(outbox.fail(owner, List.of(id), "no")).isEqualTo(1);
        assertThat(steps("failed_steps", join)).isEqualTo(1);
    }

    private void whileJoinsCannotBeCounted(Runnable test) {
        database()
                .update(
                        "alter table %s.windlass_join add constraint broken check (completed_steps + failed_steps = 0)");
        try {
            test.run();
        } finally {
            database().update("alter table %s.windlass_join drop constraint broken");
        }
    }
}
