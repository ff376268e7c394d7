package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.lease.LeaseState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Transactions that commit long after their statement, as those of a process that stood still in between. Each runs for a lease
 * (no permits) and for a semaphore.
 */
@Timeout(60)
@OnEveryEngine
final class LateCommitConformance extends LeaseConformance {
    /** Long enough for the statements of a test on a busy machine, and waited for to the end. */
    private static final Duration BRIEF = Duration.ofSeconds(1);

    private static LeaseClaim claim(int permits, Duration duration) {
        return LeaseClaim.of("a", permits, "owner", duration);
    }

    /** The same holder with another duration. */
    private static LeaseClaim longer(LeaseClaim claim) {
        return new LeaseClaim(claim.name(), claim.permits(), claim.owner(), LONG, claim.holder());
    }

    private AcquireAnswer ask(LeaseClaim claim) throws SQLException {
        return database().routines().once(connection -> store().acquire(connection, claim, null));
    }

    private Map<UUID, LeaseStore.Renewal> renew(LeaseClaim claim) throws SQLException {
        return database().routines().once(connection -> store().renew(connection, List.of(claim)));
    }

    private boolean renewed(LeaseClaim claim) throws SQLException {
        return renew(claim).values().iterator().next().renewed();
    }

    private boolean renewed(Connection connection, LeaseClaim claim) throws SQLException {
        return store().renew(connection, List.of(claim))
                .values()
                .iterator()
                .next()
                .renewed();
    }

    private void eventuallyAfter(Instant expiry) {
        eventually().until(() -> database().now().isAfter(expiry));
    }

    private long held() {
        return leases.list().stream().filter(LeaseState::held).count();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void whatIsBeingRenewedIsNotFreeWhenItsTimeIsOver(int permits) throws SQLException {
        LeaseClaim first = claim(permits, BRIEF);
        try (Connection open = database().transaction()) {
            Instant expiry = ask(first).expiresAt();
            assertThat(renewed(open, longer(first))).isTrue();
            eventuallyAfter(expiry);

            assertThat(ask(claim(permits, LONG)).acquired()).isFalse();
            open.commit();
        }
        assertThat(ask(claim(permits, LONG)).acquired()).isFalse();
        assertThat(held()).isEqualTo(1);
        assertThat(renewed(longer(first))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aRenewalThatIsRolledBackKeepsNobodyOut(int permits) throws SQLException {
        LeaseClaim first = claim(permits, BRIEF);
        try (Connection open = database().transaction()) {
            Instant expiry = ask(first).expiresAt();
            assertThat(renewed(open, longer(first))).isTrue();
            eventuallyAfter(expiry);
            open.rollback();
        }

        assertThat(ask(claim(permits, LONG)).acquired()).isTrue();
        assertThat(renewed(longer(first))).isFalse();
    }

    /** Who took it first has the row, and whoever renews finds no more than that. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aLateRenewalNeverBringsBackWhatSomebodyElseIsTaking(int permits) throws SQLException {
        LeaseClaim first = claim(permits, BRIEF);
        LeaseClaim second = claim(permits, LONG);
        try (Connection open = database().transaction()) {
            eventuallyAfter(ask(first).expiresAt());
            assertThat(store().acquire(open, second, null).acquired()).isTrue();

            assertThat(renew(longer(first))).isEmpty();
            open.commit();
        }
        assertThat(renewed(longer(first))).isFalse();
        assertThat(renewed(second)).isTrue();
        assertThat(held()).isEqualTo(1);
    }

    /** It is over when it is committed, and nobody had it in the meantime. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void anAcquisitionThatCommitsAfterItsEndIsOver(int permits) throws SQLException {
        LeaseClaim first = claim(permits, Duration.ofMillis(1));
        try (Connection open = database().transaction()) {
            AcquireAnswer answer = store().acquire(open, first, null);
            assertThat(answer.acquired()).isTrue();
            eventuallyAfter(answer.expiresAt());

            assertThat(ask(claim(permits, LONG)).acquired()).isFalse();
            open.commit();
        }
        assertThat(ask(claim(permits, LONG)).acquired()).isTrue();
        assertThat(held()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void whatIsBeingReleasedIsFreeAtTheCommitAndNotBefore(int permits) throws SQLException {
        LeaseClaim first = new LeaseClaim("a", permits, "owner", LONG, UUID.randomUUID());
        ask(first);
        try (Connection open = database().transaction()) {
            store().release(open, first);

            assertThat(ask(claim(permits, LONG)).acquired()).isFalse();
            open.commit();
        }
        assertThat(ask(claim(permits, LONG)).acquired()).isTrue();
    }
}
