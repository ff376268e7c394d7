package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassException;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LostLeaseException;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work that runs under a lease, and the end of the node. */
@Timeout(60)
@OnEveryEngine
final class RunConformance extends LeaseConformance {

    @Test
    void workRunsUnderTheLeaseWhichIsGivenBackAfterwards() throws Exception {
        AtomicInteger runs = new AtomicInteger();

        boolean ran = leases.runIfAcquired("a", LONG, lease -> {
            runs.incrementAndGet();
            assertThat(others.runIfAcquired("a", LONG, second -> runs.incrementAndGet()))
                    .isFalse();
        });

        assertThat(ran).isTrue();
        assertThat(runs).hasValue(1);
        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }

    @Test
    void whatTheWorkThrowsIsThrownAndTheLeaseIsGivenBack() {
        assertThatThrownBy(() -> leases.runIfAcquired("a", LONG, lease -> {
                    throw new IOException("broken");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("broken");
        assertThatThrownBy(() -> leases.runIfAcquired("a", LONG, lease -> {
                    throw new AssertionError("wrong");
                }))
                .isInstanceOf(AssertionError.class);
        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }

    @Test
    void workThatLosesItsLeaseIsInterruptedAndItsEndIsNoSuccess() {
        assertThatThrownBy(() -> leases.runIfAcquired("a", SHORT, lease -> {
                    runOut("a");
                    new CountDownLatch(1).await();
                }))
                .isInstanceOf(LostLeaseException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();

        assertThatThrownBy(() -> leases.runIfAcquired("b", LONG, lease -> {
                    runOut("b");
                    assertThat(lease.tryRenewNow()).isFalse();
                }))
                .isInstanceOf(LostLeaseException.class)
                .hasNoCause();
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void workMayCloseItsLeaseItself() throws Exception {
        assertThat(leases.runIfAcquired("a", LONG, Lease::close)).isTrue();
    }

    @Test
    void closingTheNodeReleasesWhatItHoldsAndTellsTheHolders() {
        Windlass node = node("closing");
        CountDownLatch told = new CountDownLatch(1);
        Lease lease = node.leases().tryAcquire("a", LONG).orElseThrow();
        lease.onLost(told::countDown);

        node.close();

        assertThat(lease.isLost()).isTrue();
        assertThat(lease.cancellation().isCancelled()).isTrue();
        eventually().until(() -> told.getCount() == 0);
        assertThat(others.tryAcquire("a", LONG)).isPresent();
        lease.close();
        assertThatThrownBy(() -> node.leases().tryAcquire("b", LONG)).isInstanceOf(WindlassException.class);
        assertThat(others.find("b")).isEmpty();
    }

    @Test
    void closingTheNodeAsksTheWorkToStopAndKeepsItsLeaseUntilItDoes() throws Exception {
        Windlass node = node("closing");
        CountDownLatch running = new CountDownLatch(1);
        AtomicReference<Boolean> keptMeanwhile = new AtomicReference<>();
        Thread work = new Thread(() -> {
            try {
                node.leases().runIfAcquired("a", LONG, lease -> {
                    running.countDown();
                    while (!lease.cancellation().isCancelled()) {
                        LockSupport.parkNanos(1_000_000);
                    }
                    keptMeanwhile.set(
                            !lease.isLost() && others.tryAcquire("a", LONG).isEmpty());
                });
            } catch (Exception e) {
                keptMeanwhile.set(false);
            }
        });
        work.start();
        running.await();

        node.close();

        work.join();
        assertThat(keptMeanwhile).hasValue(true);
        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }

    @Test
    void workMayCloseItsOwnNode() throws Exception {
        Windlass node = node("closing");

        assertThat(node.leases().runIfAcquired("a", LONG, lease -> {
                    node.close();
                    assertThat(lease.cancellation().isCancelled()).isTrue();
                    assertThat(lease.isLost()).isFalse();
                }))
                .isTrue();

        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }

    @Test
    void workThatDoesNotStopKeepsItsLeaseUntilThatRunsOut() throws Exception {
        Windlass node = node("closing");
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread work = new Thread(() -> {
            try {
                node.leases().runIfAcquired("a", LONG, lease -> {
                    running.countDown();
                    while (goOn.getCount() > 0) {
                        LockSupport.parkNanos(1_000_000);
                        Thread.interrupted();
                    }
                });
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        work.start();
        running.await();

        node.close();

        assertThat(others.tryAcquire("a", LONG)).isEmpty();
        goOn.countDown();
        work.join();
        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }
}
