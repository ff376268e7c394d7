package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.Cancellation;
import dev.windlass.base.CancelledException;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseRequest;
import dev.windlass.lease.LeaseState;
import dev.windlass.lease.LostLeaseException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Leases that are renewed, and those that are lost. */
@OnEveryEngine
final class RenewalConformance extends LeaseConformance {

    @Test
    void aLeaseIsRenewedAgainAndAgainWithTheSameToken() {
        Lease lease = leases.tryAcquire("a", STEADY).orElseThrow();
        Instant first = lease.expiresAt();

        eventually().until(() -> database().now().isAfter(first.plus(STEADY.dividedBy(2))));

        assertThat(lease.isLost()).isFalse();
        assertThat(lease.expiresAt()).isAfter(first);
        assertThat(others.tryAcquire("a", LONG)).isEmpty();
        assertThat(leases.find("a").orElseThrow().fencingToken()).isEqualTo(lease.fencingToken());
    }

    @Test
    void anAcquisitionCanSayWhenItIsRenewed() {
        Lease usual = acquired("usual");
        Instant acquired = usual.serverTime();
        Lease early = leases.tryAcquire(
                        LeaseRequest.of("early", Duration.ofSeconds(20)).withRenewAt(0.1))
                .orElseThrow();
        Instant first = early.serverTime();

        eventually().until(() -> early.serverTime().isAfter(first));

        assertThat(usual.serverTime()).isEqualTo(acquired);
        assertThat(early.expiresAt()).isEqualTo(early.serverTime().plusSeconds(20));
    }

    @Test
    void manyLeasesAreRenewedTogether() {
        List<Lease> many = IntStream.range(0, 50)
                .mapToObj(i -> leases.tryAcquire("a" + i, STEADY).orElseThrow())
                .toList();
        Instant end = many.get(49).expiresAt().plus(SHORT);

        eventually().until(() -> database().now().isAfter(end));

        assertThat(many).noneMatch(Lease::isLost);
        assertThat(leases.list()).allMatch(LeaseState::held);
    }

    @Test
    void aLeaseCanBeRenewedAtOnce() {
        Lease lease = acquired("a");
        Instant first = lease.expiresAt();

        assertThat(lease.tryRenewNow()).isTrue();

        assertThat(lease.expiresAt()).isAfter(first);
        assertThat(leases.find("a").orElseThrow().expiresAt()).isEqualTo(lease.expiresAt());
    }

    @Test
    void aLeaseThatRanOutIsNotRenewedAlsoIfNobodyTookIt() {
        Lease lease = acquired("a");
        runOut("a");

        assertThat(lease.tryRenewNow()).isFalse();
        assertThat(lease.isLost()).isTrue();
    }

    @Test
    void whoeverIsRefusedARenewalHasLostTheLease() {
        Lease lease = acquired("a");
        Cancellation cancellation = lease.cancellation();
        assertThat(cancellation.isCancelled()).isFalse();
        lease.throwIfLost();
        runOut("a");
        Lease next = others.tryAcquire("a", LONG).orElseThrow();

        assertThat(lease.tryRenewNow()).isFalse();

        assertThat(lease.isLost()).isTrue();
        assertThat(cancellation.isCancelled()).isTrue();
        assertThatThrownBy(lease::throwIfLost)
                .isInstanceOf(LostLeaseException.class)
                .hasMessageContaining("lease a (fencing token " + lease.fencingToken() + ")")
                .hasMessageContaining("refused to renew");
        assertThatThrownBy(cancellation::throwIfCancelled)
                .isInstanceOf(CancelledException.class)
                .hasMessageContaining("lease a (fencing token " + lease.fencingToken() + ") is not held any more");
        assertThat(next.isLost()).isFalse();
    }

    @Test
    void theAutomaticRenewalNoticesTheLossAndTellsOnce() {
        AtomicInteger told = new AtomicInteger();
        CountDownLatch tolds = new CountDownLatch(2);
        Lease lease = leases.tryAcquire("a", SHORT).orElseThrow();
        lease.onLost(told::incrementAndGet);
        lease.onLost(tolds::countDown);
        database().update("update %s.lease set owner = 'nobody', holder = null where name = ?", "a");

        eventually().until(() -> tolds.getCount() == 1);
        assertThat(lease.isLost()).isTrue();
        lease.onLost(tolds::countDown);
        eventually().until(() -> tolds.getCount() == 0);
        lease.close();
        assertThat(told).hasValue(1);
    }

    @Test
    void whoeverClosesALeaseIsNotToldThatItIsLost() {
        AtomicInteger told = new AtomicInteger();
        Lease lease = leases.tryAcquire("a", SHORT).orElseThrow();
        lease.onLost(told::incrementAndGet);
        Instant end = lease.expiresAt().plus(SHORT);
        lease.close();
        lease.onLost(told::incrementAndGet);

        eventually().until(() -> database().now().isAfter(end));
        assertThat(told).hasValue(0);
        assertThat(lease.isLost()).isTrue();
        assertThat(lease.tryRenewNow()).isFalse();
        assertThatThrownBy(lease::throwIfLost)
                .isInstanceOf(LostLeaseException.class)
                .hasMessageContaining("it was closed");
    }

    @Test
    void aCallbackThatThrowsHarmsNobody() {
        CountDownLatch told = new CountDownLatch(1);
        Lease lease = acquired("a");
        lease.onLost(() -> {
            throw new IllegalStateException("no");
        });
        lease.onLost(told::countDown);
        runOut("a");

        assertThat(lease.tryRenewNow()).isFalse();

        eventually().until(() -> told.getCount() == 0);
    }

    /** It runs out by itself; the server ends the other transaction only after much longer. */
    @Test
    void closingDoesNotWaitForATransactionThatStaysOpen() throws Exception {
        Lease lease = acquired("a");
        try (var connection = database().connect()) {
            connection.setAutoCommit(false);
            assertThat(database().lock(connection, "lease", "name = 'a'")).isEqualTo(1);
            CompletableFuture<Void> closing = CompletableFuture.runAsync(lease::close);
            eventually().until(closing::isDone);
            connection.rollback();
        }
        assertThat(lease.isLost()).isTrue();
    }

    /** A row that somebody has locked is neither renewed nor lost; the next try decides. */
    @Test
    void aRowThatIsLockedIsAskedForAgain() throws Exception {
        Lease lease = leases.tryAcquire("a", SHORT.multipliedBy(10)).orElseThrow();
        try (var connection = database().connect()) {
            connection.setAutoCommit(false);
            assertThat(database().lock(connection, "lease", "name = 'a'")).isEqualTo(1);
            assertThat(lease.tryRenewNow()).isFalse();
            assertThat(lease.isLost()).isFalse();
            connection.rollback();
        }
        assertThat(lease.tryRenewNow()).isTrue();
    }
}
