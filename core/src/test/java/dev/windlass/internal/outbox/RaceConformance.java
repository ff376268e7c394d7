package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.queue.WorkStore;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Many connections at once. */
@OnEveryEngine
final class RaceConformance extends OutboxConformance {
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

    /** Every racer claims, then acks, fails, abandons, renews or forgets, while leases run out and are reaped. */
    @Test
    @Shows({"OBX-100", "OBX-101", "OBX-051"})
    void nothingIsLostOrEndsTwiceWhenEverythingHappensAtOnce() throws Exception {
        List<OutboxMessageIdentifier> all = enqueue("a", 400);
        Map<OutboxWorkItemIdentifier, List<String>> ends = new ConcurrentHashMap<>();

        race(() -> {
            Random random = ThreadLocalRandom.current();
            while (ends.size() < all.size()) {
                OwnerToken owner = OwnerToken.fresh();
                List<OutboxWorkItemIdentifier> ids =
                        ids(outbox.claim(owner, Duration.ofMillis(1 + random.nextInt(40)), 10));
                switch (random.nextInt(5)) {
                    case 0 -> outbox.abandon(owner, ids, Duration.ZERO, "again");
                    case 1 -> outbox.reapExpired();
                    case 2 -> ids.forEach(id -> end(ends, id, "fail", outbox.fail(owner, List.of(id), "no")));
                    case 3 -> {
                        outbox.heartbeat(owner, ids, Duration.ofMillis(1 + random.nextInt(40)));
                        ids.forEach(id -> end(ends, id, "ack", outbox.ack(owner, List.of(id))));
                    }
                    default -> ids.forEach(id -> end(ends, id, "ack", outbox.ack(owner, List.of(id))));
                }
            }
            return true;
        });

        assertThat(ends.keySet()).containsExactlyInAnyOrderElementsOf(workItems(all));
        assertThat(ends.values()).allSatisfy(each -> assertThat(each).hasSize(1));
        assertThat(count("status = 2")).isEqualTo(ended(ends, "ack"));
        assertThat(count("status = 3")).isEqualTo(ended(ends, "fail"));
        assertThat(failures("no")).isEqualTo(ended(ends, "fail"));
    }

    private static void end(
            Map<OutboxWorkItemIdentifier, List<String>> ends, OutboxWorkItemIdentifier id, String verb, int changed) {
        for (int i = 0; i < changed; i++) {
            ends.computeIfAbsent(id, unused -> new CopyOnWriteArrayList<>()).add(verb);
        }
    }

    private static long ended(Map<OutboxWorkItemIdentifier, List<String>> ends, String verb) {
        return ends.values().stream().filter(List.of(verb)::equals).count();
    }

    private long failures(String error) {
        return database().value(Long.class, "select count(*) from %s.outbox_failure where error = ?", error);
    }

    /**
     * The retries of the API would hide a deadlock, so the routines are called without them. Whatever is returned is claimed again,
     * for the same owner: all verbs meet on the same rows, in every round.
     */
    @Test
    @Shows({"OBX-099", "OBX-100"})
    void batchesInOppositeOrderNeverDeadlock() throws Exception {
        OwnerToken owner = OwnerToken.fresh();
        enqueue("a", 300);
        List<OutboxWorkItemIdentifier> ids = claim(owner, 300);
        AtomicInteger rounds = new AtomicInteger();

        race(() -> {
            Random random = ThreadLocalRandom.current();
            while (rounds.incrementAndGet() <= 400) {
                List<OutboxWorkItemIdentifier> mine = new ArrayList<>(ids);
                Collections.shuffle(mine, random);
                database().routines().once(connection -> anyVerb(connection, owner, held(owner, mine), random));
            }
            return true;
        });

        assertThat(count("1 = 1")).isEqualTo(300);
        assertThat(count("status in (0, 1, 2, 3)")).isEqualTo(300);
        assertThat(count("status = 2")).isPositive();
        assertThat(count("lease_expiries > 0"))
                .as("leases ran out among the heartbeats")
                .isPositive();
        assertThat(failures("no")).isPositive().isEqualTo(count("status = 3"));
    }

    private Object anyVerb(Connection connection, OwnerToken owner, List<WorkStore.Held> held, Random random)
            throws SQLException {
        OutboxStore store = store(Duration.ofDays(1));
        List<WorkStore.Held> some = held.subList(0, 50);
        return switch (random.nextInt(9)) {
            case 0 -> store.ack(connection, held.subList(0, 2));
            case 1 ->
                store.fail(
                        connection,
                        held.subList(0, 2).stream()
                                .map(each -> new WorkStore.Ending(each, "topic", "no"))
                                .toList());
            case 2 -> store.release(connection, some);
            case 3 ->
                store.abandon(
                        connection,
                        some.stream()
                                .map(each -> new WorkStore.Failure(each, Duration.ZERO, "again"))
                                .toList());
            case 4 -> store.reap(connection, Duration.ofMillis(10), 100, false);
            case 5 -> store.claimAny(connection, null, owner.value(), LEASE, 300, false);
            case 6 -> store.heartbeat(connection, some, Duration.ofMillis(1));
            default -> store.heartbeat(connection, held, LEASE);
        };
    }

    /** The owner's verbs, in whatever state its lease is, the reaper, and somebody who cancels what is ready again. */
    @Test
    @Shows({"OBX-045", "OBX-100"})
    void ofAllWhoEndAnAttemptAtOnceOneWins() throws Exception {
        Set<String> winners = new HashSet<>();
        for (int round = 0; round < 80; round++) {
            OwnerToken owner = OwnerToken.fresh();
            List<OutboxWorkItemIdentifier> ids = List.of(claimed(owner));
            OutboxMessageIdentifier message =
                    new OutboxMessageIdentifier(ids.get(0).value());
            if (round % 2 == 0) {
                runOutLease(ids);
            }

            Map<String, Integer> changed = raceEach(Map.of(
                    "ack", () -> outbox.ack(owner, ids),
                    "fail", () -> outbox.fail(owner, ids, "no"),
                    "abandon", () -> outbox.abandon(owner, ids, Duration.ZERO, "again"),
                    "release", () -> outbox.release(owner, ids),
                    "reap", outbox::reapExpired,
                    "heartbeat", () -> outbox.heartbeat(owner, ids, LEASE),
                    "cancel", () -> outbox.cancel(message) ? 1 : 0));

            String winner = onlyWinner(changed);
            winners.add(winner);
            assertEnd(stored(ids.get(0)), winner, of("cancel", changed) == 1);
            assertThat(outbox.failures(message))
                    .hasSize(Set.of("fail", "abandon", "reap").contains(winner) ? 1 : 0);
            outbox.cancel(message);
        }
        assertThat(winners).as("whoever wins, it is not always the same").hasSizeGreaterThan(2);
    }

    private static int of(String verb, Map<String, Integer> changed) {
        return Objects.requireNonNull(changed.get(verb));
    }

    private static String onlyWinner(Map<String, Integer> changed) {
        List<String> winners = Stream.of("ack", "fail", "abandon", "release", "reap")
                .filter(verb -> of(verb, changed) > 0)
                .toList();
        assertThat(winners).as("winners of %s", changed).hasSize(1);
        return winners.get(0);
    }

    private static void assertEnd(OutboxMessage message, String winner, boolean cancelled) {
        assertThat(message.status())
                .as("after %s", winner)
                .isEqualTo(
                        switch (winner) {
                            case "ack" -> WorkStatus.DONE;
                            case "fail" -> WorkStatus.FAILED;
                            default -> cancelled ? WorkStatus.CANCELLED : WorkStatus.READY;
                        });
        assertThat(cancelled && message.status() != WorkStatus.CANCELLED).isFalse();
        assertThat(message.retryCount()).isEqualTo(winner.equals("abandon") ? 1 : 0);
        assertThat(message.leaseExpiries()).isEqualTo(winner.equals("reap") ? 1 : 0);
    }

    /**
     * It comes in time or it does not, message by message: both have to be seen, and never both of one message. The heartbeat is
     * slow to commit, so that the lease it has renewed runs out in the eyes of the reaper.
     */
    @Test
    @Shows({"OBX-051", "OBX-100"})
    void aHeartbeatInTheLastMomentRenewsALeaseOrTheReaperTakesIt() throws Exception {
        long renewed = 0;
        long taken = 0;
        try (Connection connection = database().transaction()) {
            for (int round = 0; round < 40 || (round < 400 && (renewed == 0 || taken == 0)); round++) {
                int kept = renewOrReap(connection);
                renewed += kept;
                taken += 50 - kept;
                database().update("delete from %s.outbox");
            }
        }
        assertThat(renewed).isPositive();
        assertThat(taken).isPositive();
    }

    /** Returns how many of fifty were renewed. */
    private int renewOrReap(Connection connection) throws Exception {
        OutboxStore store = store(Duration.ofDays(1));
        OwnerToken owner = OwnerToken.fresh();
        enqueue("topic", 50);
        long before = System.nanoTime();
        List<OutboxWorkItemIdentifier> ids = ids(outbox.claim(owner, Duration.ofMillis(20), 50));
        long ends = ThreadLocalRandom.current().nextLong(before, System.nanoTime()) + 20_000_000;

        Map<String, Integer> changed = raceEach(Map.of(
                "heartbeat",
                () -> at(ends - 2_000_000, () -> {
                    int kept =
                            store.heartbeat(connection, held(owner, ids), LEASE).changed();
                    return at(ends + 4_000_000, () -> {
                        connection.commit();
                        return kept;
                    });
                }),
                "reap",
                () -> at(ends, () -> outbox.reapExpired() + at(ends + 3_000_000, outbox::reapExpired))));

        int kept = of("heartbeat", changed);
        assertThat(of("reap", changed) + outbox.reapExpired())
                .as("beside %s renewed", kept)
                .isEqualTo(50 - kept);
        assertThat(count("status = 1 and lease_expiries = 0")).isEqualTo(kept);
        assertThat(count("status = 0 and lease_expiries = 1")).isEqualTo(50 - kept);
        assertThat(outbox.ack(owner, ids)).isEqualTo(kept);
        return kept;
    }

    private static List<WorkStore.Held> held(OwnerToken owner, List<OutboxWorkItemIdentifier> ids) {
        return ids.stream()
                .map(id -> new WorkStore.Held(id.value(), owner.value(), false))
                .toList();
    }

    private static int at(long nanoTime, Callable<Integer> work) throws Exception {
        while (System.nanoTime() < nanoTime) {
            Thread.onSpinWait();
        }
        return work.call();
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
        return start(Collections.nCopies(RACERS, work));
    }

    /** Runs each of these on a racer of its own, all starting together, and returns what each returned. */
    private static <T> Map<String, T> raceEach(Map<String, Callable<T>> works) throws Exception {
        List<String> names = new ArrayList<>(works.keySet());
        Collections.shuffle(names, ThreadLocalRandom.current());
        List<T> results = start(names.stream().map(works::get).toList());
        return IntStream.range(0, names.size()).boxed().collect(Collectors.toMap(names::get, results::get));
    }

    private static <T> List<T> start(List<Callable<T>> works) throws Exception {
        ExecutorService racers = Executors.newFixedThreadPool(works.size());
        try {
            CyclicBarrier start = new CyclicBarrier(works.size());
            List<Callable<T>> tasks = works.stream()
                    .<Callable<T>>map(work -> () -> {
                        start.await();
                        return work.call();
                    })
                    .toList();
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
