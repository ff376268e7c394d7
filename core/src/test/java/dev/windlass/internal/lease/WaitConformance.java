package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassException;
import dev.windlass.lease.Lease;
import dev.windlass.lease.Leases;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waiting for a lease that somebody else holds. */
@Timeout(60)
@OnEveryEngine
final class WaitConformance extends LeaseConformance {
    private static final Duration PATIENT = Duration.ofMinutes(1);

    private interface Waiting {
        Optional<Lease> run() throws Exception;
    }

    private static CompletableFuture<Optional<Lease>> inBackground(Waiting waiting) {
        CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(waiting.run());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    private void eventuallyAwaited(String name) {
        eventually()
                .until(() -> database()
                                .value(
                                        Long.class,
                                        "select count(*) from %s.lease where name = ? and awaited_until is not null",
                                        name)
                        == 1);
    }

    @Test
    void aLeaseThatIsFreeIsTakenWithoutWaiting() throws Exception {
        assertThat(leases.tryAcquire("a", LONG, Duration.ZERO)).isPresent();
    }

    /** Long leases and long polling intervals: without the notification, the test would time out. */
    @Test
    void aReleaseOnAnotherNodeWakesWhoeverWaits() throws Exception {
        Leases waiting = database()
                .start(builder("waiting")
                        .options(database()
                                .options()
                                .withBackgroundWorkers(false)
                                .withMaxPollingInterval(Duration.ofMinutes(10))))
                .leases();
        // The first one looks often while it does not listen yet.
        acquired("first");
        assertThat(waiting.tryAcquire("first", LONG, Duration.ofSeconds(2))).isEmpty();
        Lease lease = acquired("a");
        CompletableFuture<Optional<Lease>> next = inBackground(() -> waiting.tryAcquire("a", LONG, PATIENT));
        eventuallyAwaited("a");

        lease.close();

        assertThat(next.get()).isPresent();
    }

    @Test
    void aReleaseOnTheSameNodeWakesWhoeverWaits() throws Exception {
        Leases deaf = database()
                .start(builder("deaf")
                        .options(database()
                                .options()
                                .withBackgroundWorkers(false)
                                .withWakeUp(false)))
                .leases();
        Lease lease = deaf.tryAcquire("a", LONG).orElseThrow();
        CompletableFuture<Optional<Lease>> next = inBackground(() -> deaf.tryAcquire("a", LONG, PATIENT));
        eventuallyAwaited("a");

        lease.close();

        assertThat(next.get()).isPresent();
    }

    @Test
    void withoutNotificationsAReleaseIsFoundByLooking() throws Exception {
        Leases deaf = database()
                .start(builder("deaf")
                        .options(database()
                                .options()
                                .withBackgroundWorkers(false)
                                .withWakeUp(false)))
                .leases();
        Lease lease = acquired("a");
        CompletableFuture<Optional<Lease>> next = inBackground(() -> deaf.tryAcquire("a", LONG, PATIENT));
        eventuallyAwaited("a");

        lease.close();

        assertThat(next.get()).isPresent();
    }

    @Test
    void aHolderThatDiesIsWaitedForUntilItsLeaseRunsOut() throws Exception {
        LeaseClaim dead = new LeaseClaim("a", 0, "dead", SHORT, UUID.randomUUID());
        database().routines().once(connection -> store().acquire(connection, dead, null));

        assertThat(leases.tryAcquire("a", LONG, PATIENT)).isPresent();
    }

    @Test
    void waitingEndsAtItsBound() throws Exception {
        Lease lease = acquired("a");

        assertThat(others.tryAcquire("a", LONG, Duration.ofMillis(50))).isEmpty();
        assertThat(others.tryAcquire("a", LONG, Duration.ZERO)).isEmpty();
        assertThat(lease.isLost()).isFalse();
    }

    @Test
    void whoeverIsInterruptedStopsWaitingAndHoldsNobodyUp() throws Exception {
        Lease lease = acquired("a");
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        CompletableFuture<Optional<Lease>> interrupted = inBackground(() -> {
            waiter.complete(Thread.currentThread());
            return others.tryAcquire("a", LONG, PATIENT);
        });
        eventuallyAwaited("a");
        waiter.get().interrupt();

        assertThatThrownBy(interrupted::get)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        lease.close();
        assertThat(others.tryAcquire("a", LONG, PATIENT)).isPresent();
    }

    /** Ten in line in one process: each has its turn, in the order in which they came. */
    @Test
    void thoseWhoWaitInOneProcessAreServedInOrder() throws Exception {
        Lease lease = acquired("a");
        List<Integer> served = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Optional<Lease>>> line = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int number = i;
            Thread[] thread = new Thread[1];
            line.add(inBackground(() -> {
                thread[0] = Thread.currentThread();
                Optional<Lease> mine = others.tryAcquire("a", LONG, PATIENT);
                served.add(number);
                mine.orElseThrow().close();
                return mine;
            }));
            eventually().until(() -> thread[0] != null && thread[0].getState() == Thread.State.TIMED_WAITING);
        }

        lease.close();

        for (CompletableFuture<Optional<Lease>> each : line) {
            assertThat(each.get()).isPresent();
        }
        assertThat(served).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }

    @Test
    void closingTheNodeEndsTheWaiting() {
        acquired("a");
        Windlass node = node("closing");
        CompletableFuture<Optional<Lease>> waiting =
                inBackground(() -> node.leases().tryAcquire("a", LONG, PATIENT));
        eventuallyAwaited("a");

        node.close();

        assertThatThrownBy(waiting::get)
                .hasCauseInstanceOf(WindlassException.class)
                .hasMessageContaining("expected an open Windlass");
    }

    @Test
    void nobodyIsNotifiedOfAReleaseForWhichNobodyWaits() throws SQLException {
        acquired("a").close();
        assertThat(database().value(Long.class, "select count(*) from %s.lease where awaited_until is not null"))
                .isZero();
    }

    @Test
    void waitingForAPermitEndsWithARelease() throws Exception {
        Lease first = leases.semaphore("s", 1).tryAcquire(LONG).orElseThrow();
        CompletableFuture<Optional<Lease>> next =
                inBackground(() -> others.semaphore("s", 1).tryAcquire(LONG, PATIENT));
        eventually()
                .until(() -> database()
                                .value(
                                        Long.class,
                                        "select count(*) from %s.lease_semaphore where awaited_until is not null")
                        == 1);

        first.close();

        assertThat(next.get()).isPresent();
    }
}
