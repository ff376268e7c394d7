package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Workers;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.lease.Leases;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a holder believes when its clocks jump; the database is right all the time. */
@OnEveryEngine
final class ClockConformance extends LeaseConformance {
    private final TestClocks clocks = new TestClocks();
    private Workers workers;
    private Node shared;
    private LeaseNode node;
    private Leases holder;

    @BeforeEach
    void startANodeWithOtherClocks() {
        workers = new Workers();
        shared = new Node(
                database().routines(), database().routines(), Node.Shared.none(workers), true, Duration.ofSeconds(30));
        node = new LeaseNode(
                database().routines(),
                shared,
                database().options().withNodeName("moved"),
                LeaseOptions.defaults(),
                clocks.monotonic(),
                clocks.wall());
        holder = node.leases();
    }

    @AfterEach
    void stopTheNode() {
        node.askToStop();
        Deadline soon = Deadline.in(MonotonicClock.system(), Duration.ofSeconds(5));
        node.finish(soon);
        shared.end(soon);
        workers.close();
    }

    @Test
    void afterAPauseLongerThanTheLeaseTheHolderKnowsAtItsNextLook() {
        Lease lease = holder.tryAcquire("a", LONG).orElseThrow();

        clocks.pass(LONG.minusSeconds(30));
        assertThat(lease.isLost()).isFalse();
        clocks.pass(Duration.ofSeconds(31));
        assertThat(lease.isLost()).isTrue();
        assertThat(lease.tryRenewNow()).isFalse();
    }

    @Test
    void aMachineThatWasSuspendedKnowsItByTheWallClock() {
        Lease lease = holder.tryAcquire("a", LONG).orElseThrow();

        clocks.suspend(LONG.plusSeconds(1));

        assertThat(lease.isLost()).isTrue();
    }

    @Test
    void whoeverDoesNotAskIsToldOfTheLoss() {
        CountDownLatch told = new CountDownLatch(1);
        Lease lease = holder.tryAcquire("a", LONG).orElseThrow();
        lease.onLost(told::countDown);

        clocks.suspend(LONG.plusSeconds(1));

        eventually().until(() -> told.getCount() == 0);
    }

    @Test
    void aLostLeaseStaysLostWhenTheClockIsSetBack() {
        Lease lease = holder.tryAcquire("a", LONG).orElseThrow();
        clocks.setWall(LONG.plusSeconds(1));
        assertThat(lease.isLost()).isTrue();

        clocks.setWall(LONG.multipliedBy(-2));

        assertThat(lease.isLost()).isTrue();
    }

    /** Set forward beyond the lease, the wall clock costs a lease that was still good: nobody gets it before its time. */
    @Test
    void aClockSetForwardLosesALeaseTooEarlyAndHandsItToNobody() {
        Lease lease = holder.tryAcquire("a", LONG).orElseThrow();

        clocks.setWall(Duration.ofDays(1));

        assertThat(lease.isLost()).isTrue();
        assertThat(others.tryAcquire("a", LONG)).isEmpty();
        lease.close();
        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }

    @Test
    void aClockSetForwardWithinTheLeaseCostsNothing() {
        Lease lease = holder.tryAcquire("a", LONG).orElseThrow();

        clocks.setWall(LONG.dividedBy(2));
        assertThat(lease.isLost()).isFalse();
        assertThat(lease.tryRenewNow()).isTrue();
        clocks.setWall(LONG.dividedBy(2).plusSeconds(5));

        assertThat(lease.isLost()).isFalse();
    }

    @Test
    void aClockSetBackNeitherLosesALeaseNorProlongsIt() {
        Lease lease = holder.tryAcquire("a", STEADY).orElseThrow();
        Instant first = lease.expiresAt();
        clocks.setWall(Duration.ofDays(-1));

        eventually().until(() -> lease.expiresAt().isAfter(first));
        assertThat(lease.isLost()).isFalse();

        clocks.pass(STEADY.plusMillis(1));
        assertThat(lease.isLost()).isTrue();
    }

    /** Nothing is renewed in between, so that the wall clock alone would have it held for another day. */
    @Test
    void aPauseIsNoticedByTheMonotonicClockWhenTheWallClockWasSetBack() {
        Lease lease = holder.tryAcquire("a", LONG).orElseThrow();
        clocks.setWall(Duration.ofDays(-1));

        clocks.pass(LONG.plusMillis(1));

        assertThat(lease.isLost()).isTrue();
    }

    @Test
    void aLeaseIsTakenForAWholeDurationHoweverWrongTheClockIs() {
        clocks.setWall(Duration.ofDays(-36_500));
        Lease early = holder.tryAcquire("a", LONG).orElseThrow();
        clocks.setWall(Duration.ofDays(73_000));
        Lease late = holder.tryAcquire("b", LONG).orElseThrow();

        assertThat(early.isLost()).isTrue();
        assertThat(late.isLost()).isFalse();
        assertThat(others.tryAcquire("b", LONG)).isEmpty();
    }
}
