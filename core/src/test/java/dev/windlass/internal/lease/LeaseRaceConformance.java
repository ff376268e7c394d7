package dev.windlass.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseSemaphore;
import dev.windlass.lease.LeaseState;
import dev.windlass.lease.Leases;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many connections at once. */
@Timeout(120)
@OnEveryEngine
final class LeaseRaceConformance extends LeaseConformance {
    private static final int RACERS = 8;

    @RepeatedTest(5)
    void oneOfManyGetsANewLease() throws Exception {
        assertThat(race(() -> leases.tryAcquire("new", LONG)))
                .filteredOn(Optional::isPresent)
                .hasSize(1);
    }

    @RepeatedTest(5)
    void oneOfManyGetsALeaseThatRanOut() throws Exception {
        acquired("old");
        runOut("old");

        assertThat(race(() -> others.tryAcquire("old", LONG)))
                .filteredOn(Optional::isPresent)
                .hasSize(1);
    }

    @RepeatedTest(5)
    void exactlyTheNumberOfPermitsIsGiven() throws Exception {
        LeaseSemaphore semaphore = leases.semaphore("s", 3);

        assertThat(race(() -> semaphore.tryAcquire(LONG)))
                .filteredOn(Optional::isPresent)
                .hasSize(3);
    }

    @Test
    void thereAreNeverTwoHoldersAndTheTokenGrows() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicLong last = new AtomicLong();
        AtomicInteger rounds = new AtomicInteger();

        race(() -> {
            while (rounds.get() < 400) {
                try (Lease lease = leases.tryAcquire("a", LONG).orElse(null)) {
                    if (lease != null) {
                        assertThat(inside.incrementAndGet()).isEqualTo(1);
                        assertThat(last.getAndSet(lease.fencingToken())).isLessThan(lease.fencingToken());
                        rounds.incrementAndGet();
                        inside.decrementAndGet();
                    }
                }
            }
            return true;
        });

        assertThat(leases.find("a").orElseThrow().fencingToken()).isEqualTo(last.get());
    }

    /** Nobody gives anything back: by the database's clock, each holder begins after the end of the one before. */
    @Test
    void leasesThatRunOutNeverOverlap() throws Exception {
        Queue<AcquireAnswer> granted = new ConcurrentLinkedQueue<>();

        race(() -> {
            Random random = ThreadLocalRandom.current();
            while (granted.size() < 300) {
                LeaseClaim claim = LeaseClaim.of("a", 0, "racer", Duration.ofMillis(1 + random.nextInt(5)));
                AcquireAnswer answer =
                        database().routines().once(connection -> store().acquire(connection, claim, null));
                if (answer.acquired()) {
                    granted.add(answer);
                }
            }
            return true;
        });

        List<AcquireAnswer> inOrder = granted.stream()
                .sorted(Comparator.comparing(AcquireAnswer::fencingToken))
                .toList();
        for (int i = 1; i < inOrder.size(); i++) {
            assertThat(inOrder.get(i).serverTime())
                    .isAfterOrEqualTo(inOrder.get(i - 1).expiresAt());
        }
    }

    @Test
    void thereAreNeverMoreHoldersThanPermits() throws Exception {
        LeaseSemaphore semaphore = leases.semaphore("s", 3);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger rounds = new AtomicInteger();

        race(() -> {
            while (rounds.get() < 400) {
                try (Lease permit = semaphore.tryAcquire(LONG).orElse(null)) {
                    if (permit != null) {
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        rounds.incrementAndGet();
                        inside.decrementAndGet();
                    }
                }
            }
            return true;
        });

        assertThat(most.get()).isBetween(1, 3);
        assertThat(leases.list()).noneMatch(LeaseState::held);
    }

    /** Nobody is forgotten: all of them get it, one after another, whichever node gives it back. */
    @Test
    void everybodyWhoWaitsGetsItInTheEnd() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger number = new AtomicInteger();

        List<Boolean> served = race(() -> {
            Leases node = number.getAndIncrement() % 2 == 0 ? leases : others;
            for (int i = 0; i < 10; i++) {
                try (Lease lease =
                        node.tryAcquire("a", LONG, Duration.ofMinutes(1)).orElseThrow()) {
                    assertThat(inside.incrementAndGet()).isEqualTo(1);
                    lease.throwIfLost();
                    inside.decrementAndGet();
                }
            }
            return true;
        });

        assertThat(served).hasSize(RACERS).containsOnly(true);
    }

    /** Runs the same on every racer, all starting together, and returns what each returned. */
    static <T> List<T> race(Callable<T> work) throws Exception {
        ExecutorService racers = Executors.newFixedThreadPool(RACERS);
        try {
            CyclicBarrier start = new CyclicBarrier(RACERS);
            List<Callable<T>> tasks = Collections.nCopies(RACERS, () -> {
                start.await();
                return work.call();
            });
            List<T> results = new ArrayList<>();
            for (Future<T> result : racers.invokeAll(tasks)) {
                results.add(result.get());
            }
            return results;
        } finally {
            racers.shutdownNow();
        }
    }
}
