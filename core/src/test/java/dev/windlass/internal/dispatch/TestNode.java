package dev.windlass.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.internal.database.Proof;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.Ranking;
import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/** What a node may take and what it has in hand, without a database, and claims for it. */
final class TestNode {
    static final Duration LEASE = Duration.ofMinutes(1);

    final Capacity<String> capacity;
    final InHand<String> inHand;

    private TestNode(
            Map<String, Handling<String>> handlings, int concurrency, int batchSize, Duration lease, long maxBytes) {
        Lanes<String> lanes = new Lanes<>(handlings, concurrency, lease, Ranking.NONE);
        this.capacity = new Capacity<>(lanes, batchSize, lease, maxBytes);
        this.inHand = new InHand<>(lanes, change -> {});
    }

    /** What it would ask for, if it claimed now. */
    Capacity.Ask ask() {
        Capacity.Ask ask = capacity.ask(Integer.MAX_VALUE);
        capacity.answered(ask);
        return ask;
    }

    /**
     * Batches of ten.
     *
     * @param topics how many of each may run at once
     */
    static TestNode node(int concurrency, Map<String, Integer> topics) {
        return node(concurrency, topics, LEASE, Long.MAX_VALUE);
    }

    static TestNode node(int concurrency, Map<String, Integer> topics, Duration lease, long maxBytes) {
        return node(concurrency, 10, topics, lease, maxBytes);
    }

    static TestNode node(int concurrency, int batchSize, Map<String, Integer> topics, Duration lease, long maxBytes) {
        Map<String, Handling<String>> handlings = new LinkedHashMap<>();
        topics.forEach((topic, limit) -> handlings.put(
                topic,
                new Handling<>(
                        (message, cancellation) -> {}, HandlerOptions.defaults().withConcurrency(limit))));
        return new TestNode(handlings, concurrency, batchSize, lease, maxBytes);
    }

    /** Topic a rests after one failure, topic b never does. */
    static TestNode resting(Duration rest) {
        Handling.Handler<String> handler = (message, cancellation) -> {};
        Map<String, Handling<String>> handlings = new LinkedHashMap<>();
        handlings.put("a", new Handling<>(handler, HandlerOptions.defaults().withCircuit(new Circuit(1, rest))));
        handlings.put("b", new Handling<>(handler, HandlerOptions.defaults()));
        return new TestNode(handlings, 16, 10, LEASE, Long.MAX_VALUE);
    }

    List<Attempt<String>> claimed(String topic, int count) {
        return claimed(topic, count, 0, 1);
    }

    List<Attempt<String>> suspects(String topic, int count) {
        return claimed(topic, count, 1, 1);
    }

    List<Attempt<String>> claimed(String topic, int count, int crashes, int size) {
        List<Attempt<String>> attempts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            attempts.add(
                    inHand.attempt(message(topic, i, 2 * crashes, crashes, size), System.nanoTime() + LEASE.toNanos()));
        }
        return attempts;
    }

    /**
     * A claimed message.
     *
     * @param second when it became ready, in seconds
     */
    static Claimed<String> message(String topic, int second, int leaseExpiries, int crashes, int size) {
        return new Claimed<>(
                UUID.randomUUID(),
                UUID.randomUUID(),
                topic,
                0,
                leaseExpiries,
                crashes,
                0,
                false,
                false,
                false,
                4,
                false,
                size,
                0,
                new Position(Instant.ofEpochSecond(second), UUID.randomUUID()),
                Proof.NONE,
                "x",
                null);
    }

    List<Attempt<String>> take(List<Attempt<String>> attempts) {
        inHand.take(attempts, attempts);
        return attempts;
    }

    Attempt<String> start() {
        Attempt<String> attempt = Objects.requireNonNull(inHand.next());
        attempt.begin();
        return attempt;
    }

    List<Attempt<String>> start(int count) {
        List<Attempt<String>> started = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            started.add(start());
        }
        return started;
    }

    /** Returns whether its outcome counts. */
    boolean finish(Attempt<String> attempt) {
        return inHand.ended(attempt, attempt.end(), new Result.Done()).isPresent();
    }

    /** The same, and its outcome is written. Returns how many workers that takes. */
    int complete(Attempt<String> attempt) {
        assertThat(finish(attempt)).isTrue();
        return inHand.settle(List.of(attempt));
    }

    /** A handler starts and fails, and its outcome is written. */
    void fail() {
        Attempt<String> attempt = start();
        fail(attempt);
        inHand.settle(List.of(attempt));
    }

    void fail(Attempt<String> attempt) {
        assertThat(inHand.ended(attempt, attempt.end(), new Result.Failed(new IllegalStateException())))
                .isPresent();
    }

    List<String> demanded() {
        return ask().demands().stream().map(WorkStore.Demand::topic).toList();
    }

    static List<String> topics(List<Attempt<String>> attempts) {
        return attempts.stream().map(attempt -> attempt.lane.topic).toList();
    }
}
