package dev.windlass.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.windlass.OnEveryEngine;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseRequest;
import dev.windlass.lease.LeaseState;
import dev.windlass.lease.Leases;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Taking a lease and giving it back. */
@Timeout(60)
@OnEveryEngine
final class AcquireConformance extends LeaseConformance {

    @Test
    void aLeaseThatIsHeldIsRefusedToOthersAndToItsOwnNode() {
        Lease lease = acquired("a");

        assertThat(others.tryAcquire("a", LONG)).isEmpty();
        assertThat(leases.tryAcquire("a", LONG)).isEmpty();
        assertThat(lease.isLost()).isFalse();
    }

    @Test
    void differentNamesDoNotExcludeEachOther() {
        acquired("a");

        assertThat(others.tryAcquire("b", LONG)).isPresent();
        assertThat(others.tryAcquire("A", LONG)).isPresent();
    }

    @Test
    void aLeaseTellsWhoHoldsItAndUntilWhenByTheClockOfTheDatabase() {
        Instant before = database().now();
        Lease lease = acquired("a");
        Instant after = database().now();

        assertThat(lease.name()).isEqualTo("a");
        assertThat(lease.owner()).isEqualTo("node-1");
        assertThat(lease.fencingToken()).isPositive();
        assertThat(lease.expiresAt()).isBetween(before.plus(LONG), after.plus(LONG));
        assertThat(lease.serverTime()).isBetween(before, after);
    }

    @Test
    void aRefusalTellsWhoStandsInTheWay() throws SQLException {
        Lease lease = leases.tryAcquire(LeaseRequest.of("a", LONG).withOwner("the importer"))
                .orElseThrow();

        AcquireAnswer answer = ask("a", UUID.randomUUID());

        assertThat(answer.acquired()).isFalse();
        assertThat(answer.owner()).isEqualTo("the importer");
        assertThat(answer.fencingToken()).isEqualTo(lease.fencingToken());
        assertThat(answer.expiresAt()).isEqualTo(lease.expiresAt());
        assertThat(answer.untilExpiry()).isBetween(LONG.dividedBy(2), LONG);
    }

    @Test
    void aLeaseThatIsClosedIsFreeAtOnce() {
        acquired("a").close();

        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }

    @Test
    void aLeaseThatRanOutIsFree() {
        acquired("a");
        runOut("a");

        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }

    @Test
    void theTokenGrowsWithEveryHolderOverReleasesExpiriesAndCleaning() throws SQLException {
        long released = tokenOf(leases);
        long expired = acquired("a").fencingToken();
        runOut("a");
        long cleaned = tokenOf(others);
        database().update("update %s.lease set expires_at = '2020-01-01T00:00:00Z'");
        assertThat(clean()).isEqualTo(1);
        long afterwards = tokenOf(leases);

        assertThat(new long[] {released, expired, cleaned, afterwards})
                .isSorted()
                .doesNotHaveDuplicates();
    }

    private static long tokenOf(Leases node) {
        try (Lease lease = node.tryAcquire("a", LONG).orElseThrow()) {
            return lease.fencingToken();
        }
    }

    private int clean() throws SQLException {
        return database().routines().once(connection -> store().clean(connection, Duration.ofDays(1), 10));
    }

    @Test
    void closingTwiceReleasesNothingThatSomebodyElseHas() {
        Lease lease = acquired("a");
        lease.close();
        Lease next = others.tryAcquire("a", LONG).orElseThrow();
        lease.close();

        assertThat(leases.tryAcquire("a", LONG)).isEmpty();
        assertThat(next.tryRenewNow()).isTrue();
    }

    @Test
    void aFormerHolderNeitherReleasesNorRenewsTheLeaseOfTheNext() {
        Lease former = acquired("a");
        runOut("a");
        Lease next = others.tryAcquire("a", LONG).orElseThrow();

        assertThat(former.tryRenewNow()).isFalse();
        former.close();

        assertThat(leases.find("a").orElseThrow().owner()).isEqualTo("node-2");
        assertThat(leases.find("a").orElseThrow().held()).isTrue();
        assertThat(next.tryRenewNow()).isTrue();
    }

    @Test
    void toAskAgainAfterALostAnswerGivesTheSameLease() throws SQLException {
        UUID holder = UUID.randomUUID();

        AcquireAnswer first = ask("a", holder);
        AcquireAnswer second = ask("a", holder);

        assertThat(first.acquired()).isTrue();
        assertThat(second.acquired()).isTrue();
        assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
    }

    private AcquireAnswer ask(String name, UUID holder) throws SQLException {
        return database()
                .routines()
                .once(connection -> store().acquire(connection, new LeaseClaim(name, 0, "me", LONG, holder), null));
    }

    /** A connection that writes and does not commit keeps nobody waiting: neither for a new name nor for a known one. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nobodyWaitsForSomebodyElsesTransaction(boolean known) throws SQLException {
        if (known) {
            acquired("a").close();
        }
        try (Connection open = database().connect()) {
            open.setAutoCommit(false);
            LeaseClaim claim = new LeaseClaim("a", 0, "slow", LONG, UUID.randomUUID());
            assertThat(store().acquire(open, claim, null).acquired()).isTrue();

            // In another thread: nobody can interrupt one that waits for a database.
            assertThat(assertTimeoutPreemptively(Duration.ofSeconds(30), () -> others.tryAcquire("a", LONG)))
                    .isEmpty();

            open.rollback();
        }
        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'; drop table lease; --",
                "\"quoted\"",
                "a\\b",
                "%s",
                "{lease}",
                "ümläut 🙂",
                " leading",
                "\u00a0",
                "a\n"
            })
    void anyTextCanBeAName(String name) {
        try (Lease lease = acquired(name)) {
            assertThat(others.tryAcquire(name, LONG)).isEmpty();
            assertThat(leases.find(name).orElseThrow().name()).isEqualTo(name);
            assertThat(lease.tryRenewNow()).isTrue();
        }
        assertThat(others.tryAcquire(name, LONG)).isPresent();
    }

    @Test
    void theLongestNameAndOwnerCanBeStored() {
        String longest = "🙂".repeat(127) + "x";

        assertThat(leases.tryAcquire(LeaseRequest.of(longest, LONG).withOwner(longest)))
                .isPresent();
        assertThat(leases.find(longest).map(LeaseState::owner)).contains(longest);
    }

    @Test
    void findTellsOfHoldersFormerHoldersAndUnknownNames() {
        Lease lease = acquired("a");

        LeaseState held = leases.find("a").orElseThrow();
        assertThat(held.held()).isTrue();
        assertThat(held.owner()).isEqualTo("node-1");
        assertThat(held.permit()).isZero();
        assertThat(held.fencingToken()).isEqualTo(lease.fencingToken());
        assertThat(held.expiresAt()).isEqualTo(lease.expiresAt());
        assertThat(held.acquiredAt()).isEqualTo(lease.expiresAt().minus(LONG));

        lease.close();
        LeaseState free = leases.find("a").orElseThrow();
        assertThat(free.held()).isFalse();
        assertThat(free.owner()).isEqualTo("node-1");
        assertThat(free.expiresAt()).isBefore(held.expiresAt());
        assertThat(leases.find("b")).isEqualTo(Optional.empty());
    }

    @Test
    void listIsInTheOrderOfTheNames() {
        acquired("b");
        acquired("C");
        acquired("a").close();
        leases.semaphore("a", 2).tryAcquire(LONG);

        assertThat(leases.list()).extracting(LeaseState::name).containsExactly("C", "a", "a", "b");
        assertThat(leases.list()).extracting(LeaseState::permit).containsExactly(0, 0, 1, 0);
        assertThat(leases.list()).extracting(LeaseState::held).containsExactly(true, false, true, true);
    }

    @Test
    void cleaningTakesOnlyWhatHasBeenFreeForLong() throws SQLException {
        acquired("held");
        acquired("released").close();
        acquired("old").close();
        runOut("old");
        database().update("update %s.lease set expires_at = '2020-01-01T00:00:00Z' where name = ?", "old");
        Lease permit = leases.semaphore("s", 1).tryAcquire(LONG).orElseThrow();
        permit.close();
        database().update("update %s.lease set expires_at = '2020-01-01T00:00:00Z' where name = ?", "s");
        database().update("update %s.lease_semaphore set used_at = '2020-01-01T00:00:00Z'");

        assertThat(clean()).isEqualTo(2);
        assertThat(leases.list()).extracting(LeaseState::name).containsExactly("held", "released");
        assertThat(database().value(Long.class, "select count(*) from %s.lease_semaphore"))
                .isZero();
        assertThat(clean()).isZero();
    }
}
