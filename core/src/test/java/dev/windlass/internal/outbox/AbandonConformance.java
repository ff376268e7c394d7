package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Abandon. */
@OnEveryEngine
final class AbandonConformance extends OutboxConformance {

    @Test
    @Shows({"OBX-035", "OBX-036"})
    void anAbandonedMessageIsReadyWithoutOwnerAndWithOneMoreRetry() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);

        assertThat(outbox.abandon(owner, List.of(id))).isEqualTo(1);

        assertThat(stored(id).status()).isEqualTo(WorkStatus.READY);
        assertThat(stored(id).retryCount()).isEqualTo(1);
        assertThat(stored(id).leaseExpiries()).isZero();
        assertThat(count("owner_token is null and locked_until is null")).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 2", "2, 4", "5, 32", "6, 60", "9, 60", "1000000, 60"})
    @Shows({"OBX-037", "OBX-061", "OBX-062"})
    void thePauseDoublesWithEveryRetryUpToAMinute(int retries, int seconds) {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        database().update("update %s.outbox set retry_count = ? where id = ?", retries, id.value());
        Instant before = database().now();

        outbox.abandon(owner, List.of(id));

        assertThat(time("next_attempt_at", id))
                .isBetween(before.plusSeconds(seconds), database().now().plusSeconds(seconds));
    }

    @Test
    void aGivenPauseIsTakenInsteadOfTheUsualOne() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        Instant before = database().now();

        outbox.abandon(owner, List.of(id), Duration.ofHours(3), "busy");

        assertThat(time("next_attempt_at", id))
                .isBetween(before.plus(Duration.ofHours(3)), database().now().plus(Duration.ofHours(3)));
    }

    @Test
    @Shows("OBX-040")
    void anAbandonedMessageIsClaimedAgainWhenItsPauseIsOver() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        outbox.abandon(owner, List.of(id));

        assertThat(claim(OwnerToken.fresh(), 10)).isEmpty();
        endPause(id);
        OwnerToken next = OwnerToken.fresh();
        assertThat(claim(next, 10)).containsExactly(id);

        outbox.abandon(next, List.of(id), Duration.ZERO, "again");
        assertThat(claim(OwnerToken.fresh(), 10)).containsExactly(id);
        assertThat(stored(id).retryCount()).isEqualTo(2);
    }

    @Test
    void theDueTimeStaysAsItWasWritten() {
        Instant due = Instant.parse("2020-02-29T12:00:00.123456Z");
        outbox.enqueue(OutboxEntry.of("topic", "").withDueTime(due));
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxWorkItemIdentifier> ids = claim(owner, 10);

        outbox.abandon(owner, ids);

        assertThat(stored(ids.get(0)).dueTime()).contains(due);
    }

    @Test
    @Shows("OBX-038")
    void nobodyElseCanAbandon() {
        OutboxWorkItemIdentifier id = claimed(OwnerToken.fresh());

        assertThat(outbox.abandon(OwnerToken.fresh(), List.of(id))).isZero();
        assertThat(outbox.abandon(OwnerToken.fresh(), List.of(id), Duration.ZERO, "no"))
                .isZero();
        assertThat(stored(id).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(stored(id).retryCount()).isZero();
    }

    @Test
    @Shows("OBX-039")
    void idsThatDoNotMatchAreIgnoredAndNotCounted() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier mine = claimed(owner);
        OutboxWorkItemIdentifier others = claimed(OwnerToken.fresh());
        OutboxWorkItemIdentifier unknown = new OutboxWorkItemIdentifier(UUID.randomUUID());

        assertThat(outbox.abandon(owner, List.of(others, unknown, mine, mine))).isEqualTo(1);
        assertThat(outbox.abandon(owner, List.of(mine))).isZero();
        assertThat(outbox.abandon(owner, List.of())).isZero();
        assertThat(stored(mine).retryCount()).isEqualTo(1);
    }

    @Test
    @Shows("OBX-041")
    void theErrorIsRememberedUntilThereIsANewerOne() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        outbox.abandon(owner, List.of(id), Duration.ZERO, "first");
        assertThat(stored(id).lastError()).contains("first");

        OwnerToken second = OwnerToken.fresh();
        assertThat(outbox.claim(second, LEASE, 1))
                .extracting(OutboxMessage::lastError)
                .containsExactly(Optional.of("first"));
        outbox.abandon(second, List.of(id));

        assertThat(stored(id).lastError()).contains("first");
    }

    @Test
    void aLongErrorIsCutButNotWithinACharacter() {
        OwnerToken owner = OwnerToken.fresh();
        enqueue("topic", 2);
        List<OutboxWorkItemIdentifier> ids = claim(owner, 10);

        outbox.abandon(owner, ids.subList(0, 1), Duration.ZERO, "x".repeat(3000));
        outbox.fail(owner, ids.subList(1, 2), "x".repeat(2047) + "\uD83D\uDE00 and more");

        assertThat(stored(ids.get(0)).lastError()).contains("x".repeat(2048));
        assertThat(stored(ids.get(1)).lastError()).contains("x".repeat(2047));
    }
}
