package dev.windlass.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.HandlerOptions;
import dev.windlass.internal.database.Proof;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/** Hands without a database, and claims for them. */
final class Hands {
    static final Duration LEASE = Duration.ofMinutes(1);

    private Hands() {}

    /**
     * Batches of ten.
     *
     * @param topics how many of each may run at once
     */
    static Hand<String> hand(int concurrency, Map<String, Integer> topics) {
        return hand(concurrency, topics, LEASE, Long.MAX_VALUE);
    }

    static Hand<String> hand(int concurrency, Map<String, Integer> topics, Duration lease, long maxBytes) {
        return hand(concurrency, 10, topics, lease, maxBytes);
    }

    static Hand<String> hand(
            int concurrency, int batchSize, Map<String, Integer> topics, Duration lease, long maxBytes) {
        Map<String, Handling<String>> handlings = new LinkedHashMap<>();
        topics.forEach((topic, limit) -> handlings.put(
                topic,
                new Handling<>(
                        (message, cancellation) -> {}, HandlerOptions.defaults().withConcurrency(limit))));
        return new Hand<>(handlings, concurrency, batchSize, lease, maxBytes);
    }

    static List<Attempt<String>> claimed(Hand<String> hand, String topic, int count) {
        return claimed(hand, topic, count, 0, 1);
    }

    static List<Attempt<String>> suspects(Hand<String> hand, String topic, int count) {
        return claimed(hand, topic, count, 1, 1);
    }

    static List<Attempt<String>> claimed(Hand<String> hand, String topic, int count, int crashes, int size) {
        List<Attempt<String>> attempts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            attempts.add(
                    hand.attempt(message(topic, i, 2 * crashes, crashes, size), System.nanoTime() + LEASE.toNanos()));
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
                4,
                false,
                size,
                new Position(Instant.ofEpochSecond(second), UUID.randomUUID()),
                Proof.NONE,
                "x",
                null);
    }

    static List<Attempt<String>> take(Hand<String> hand, List<Attempt<String>> attempts) {
        hand.take(attempts, attempts);
        return attempts;
    }

    static Attempt<String> start(Hand<String> hand) {
        Attempt<String> attempt = Objects.requireNonNull(hand.next());
        attempt.begin();
        return attempt;
    }

    static List<Attempt<String>> start(Hand<String> hand, int count) {
        List<Attempt<String>> started = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            started.add(start(hand));
        }
        return started;
    }

    /** Returns whether its outcome counts. */
    static boolean finish(Hand<String> hand, Attempt<String> attempt) {
        return hand.ended(attempt, attempt.end(), new Result.Done()).isPresent();
    }

    /** The same, and its outcome is written. Returns how many workers that takes. */
    static int complete(Hand<String> hand, Attempt<String> attempt) {
        assertThat(finish(hand, attempt)).isTrue();
        return hand.settle(List.of(attempt));
    }

    static List<String> demanded(Hand<String> hand) {
        return hand.demands(false).stream().map(WorkStore.Demand::topic).toList();
    }

    static List<String> topics(List<Attempt<String>> attempts) {
        return attempts.stream().map(attempt -> attempt.lane.topic).toList();
    }
}
