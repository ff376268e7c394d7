package dev.windlass.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
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
abstract class LeaseRaceConformance extends LeaseConformance {
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

    /** Holders come and go: by release, and by leases that are made to run out. Those released never overlap. */
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

    /** A resource that keeps the greatest token refuses all that come late, while leases run out under their holders. */
    @Test
    void withTheTokenCheckedNoWriteOfAFormerHolderIsEverTaken() throws Exception {
        database().update("create table %s.resource (token bigint not null, writes integer not null)");
        database().update("insert into %s.resource values (0, 0)");
        AtomicInteger rounds = new AtomicInteger();
        AtomicInteger taken = new AtomicInteger();
        try {
            race(() -> {
                Random random = ThreadLocalRandom.current();
                while (rounds.incrementAndGet() < 600) {
                    Optional<Lease> lease = leases.tryAcquire("a", Duration.ofMillis(1 + random.nextInt(20)));
                    if (lease.isPresent()) {
                        long token = lease.get().fencingToken();
                        int before = database().value(Integer.class, "select writes from %s.resource");
                        taken.addAndGet(database()
                                .update(
                                        "update %s.resource set token = ?, writes = ? where token <= ?",
                                        token, before + 1, token));
                        if (random.nextBoolean()) {
                            lease.get().close();
                        }
                    }
                }
                return true;
            });
            // A read followed by a write loses updates as soon as two holders interleave; the token refuses the older
            // one.
            assertThat(database().value(Integer.class, "select writes from %s.resource"))
                    .isLessThanOrEqualTo(taken.get());
            assertThat(database().value(Long.class, "select token from %s.resource"))
                    .isLessThanOrEqualTo(leases.find("a").orElseThrow().fencingToken());
        } finally {
            database().update("drop table %s.resource");
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
