package dev.windlass.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OwnerToken;
import dev.windlass.Shows;
import dev.windlass.runtime.WorkStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many connections at once. */
abstract class RaceConformance extends OutboxConformance {
    static final int RACERS = 8;

    @Test
    @Shows({"OBX-017", "OBX-098", "OBX-100", "OBX-101"})
    void noMessageIsEverClaimedByTwo() throws Exception {
        enqueue("a", 700);
        enqueue("b", 700);
        Map<OutboxWorkItemIdentifier, OwnerToken> owners = new ConcurrentHashMap<>();

        race(() -> {
            List<OutboxMessage> claimed;
            do {
                OwnerToken owner = OwnerToken.fresh();
                claimed = outbox.claim(
                        owner, LEASE, 1 + ThreadLocalRandom.current().nextInt(15));
                for (OutboxMessage message : claimed) {
                    assertThat(owners.put(message.id(), owner)).isNull();
                }
            } while (!claimed.isEmpty());
            return true;
        });

        // A racer may see nothing while others hold the last row locks; what is left is ready, and nobody's.
        ids(outbox.claim(OwnerToken.fresh(), LEASE, 2000))
                .forEach(id -> assertThat(owners.put(id, OwnerToken.fresh())).isNull());
        assertThat(owners).hasSize(1400);
    }

    /** Every racer claims, then acks, abandons, fails or forgets, while leases run out and are reaped. */
    @Test
    @Shows({"OBX-100", "OBX-101", "OBX-051"})
    void nothingIsLostOrDoneTwiceWhenEverythingHappensAtOnce() throws Exception {
        List<OutboxMessageIdentifier> all = enqueue("a", 400);
        Map<OutboxWorkItemIdentifier, AtomicInteger> acked = new ConcurrentHashMap<>();

        race(() -> {
            Random random = ThreadLocalRandom.current();
            while (acked.size() < all.size()) {
                OwnerToken owner = OwnerToken.fresh();
                List<OutboxWorkItemIdentifier> ids =
                        ids(outbox.claim(owner, Duration.ofMillis(1 + random.nextInt(40)), 10));
                switch (random.nextInt(4)) {
                    case 0 -> outbox.abandon(owner, ids, Duration.ZERO, "again");
                    case 1 -> outbox.reapExpired();
                    default ->
                        ids.forEach(id -> {
                            if (outbox.ack(owner, List.of(id)) == 1) {
                                acked.computeIfAbsent(id, unused -> new AtomicInteger())
                                        .incrementAndGet();
                            }
                        });
                }
            }
            return true;
        });

        assertThat(count("status = 2")).isEqualTo(400);
        assertThat(acked.keySet()).containsExactlyInAnyOrderElementsOf(workItems(all));
        assertThat(acked.values()).allSatisfy(times -> assertThat(times).hasValue(1));
    }

    /** The retries of the API would hide a deadlock, so the routines are called without them. */
    @Test
    @Shows({"OBX-099", "OBX-100"})
    void batchesInOppositeOrderNeverDeadlock() throws Exception {
        OwnerToken owner = OwnerToken.fresh();
        enqueue("a", 300);
        List<OutboxWorkItemIdentifier> ids = claim(owner, 300);
        OutboxStore store = store(Duration.ofDays(1));
        AtomicInteger rounds = new AtomicInteger();

        race(() -> {
            Random random = ThreadLocalRandom.current();
            while (rounds.incrementAndGet() <= 400) {
                List<OutboxWorkItemIdentifier> mine = new ArrayList<>(ids);
                Collections.shuffle(mine, random);
                List<WorkStore.Held> held = mine.stream()
                        .map(id -> new WorkStore.Held(id.value(), owner.value(), false))
                        .toList();
                boolean last = rounds.get() > 380;
                database().routines().once(connection -> switch (last ? random.nextInt(3) : 3) {
                    case 0 -> store.ack(connection, held.subList(0, 20));
                    case 1 -> store.release(connection, held.subList(0, 20));
                    case 2 ->
                        store.abandon(
                                connection,
                                held.subList(0, 20).stream()
                                        .map(each -> new WorkStore.Failure(each, Duration.ZERO, "again"))
                                        .toList());
                    default -> store.heartbeat(connection, held, LEASE);
                });
            }
            return true;
        });

        assertThat(count("1 = 1")).isEqualTo(300);
    }

    @Test
    void manyAcksOfOneOwnerEndItsMessageOnce() throws Exception {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);

        assertThat(race(() -> outbox.ack(owner, List.of(id)))).containsOnly(1);
        assertThat(race(() -> outbox.ack(OwnerToken.fresh(), List.of(id)))).containsOnly(0);
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
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        } finally {
            racers.shutdownNow();
        }
    }
}
