package dev.windlass.runtime;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;

/** One topic on this node: its handler, what waits for it, what runs, and up to where it has been claimed. */
final class Lane<M> {
    final String topic;
    final Handling<M> handling;
    final Bound bound = new Bound();
    final Breaker breaker;
    final ArrayDeque<Attempt<M>> waiting = new ArrayDeque<>();
    int running;
    boolean paused;
    volatile boolean drained;
    private long movedAt = System.nanoTime();
    private double averageNanos = Double.POSITIVE_INFINITY;

    private final int concurrency;

    /**
     * @param nodeConcurrency how many handlers of all topics the node runs at once
     */
    Lane(String topic, Handling<M> handling, int nodeConcurrency) {
        this.topic = topic;
        this.handling = handling;
        this.breaker = new Breaker(handling.options().circuit());
        this.concurrency = Math.min(nodeConcurrency, handling.options().concurrency());
    }

    int concurrency() {
        return concurrency;
    }

    /** A handler has started or ended, or the first message has begun to wait. */
    void moved() {
        movedAt = System.nanoTime();
    }

    /** Whether nothing has moved for this long. */
    boolean isStill(long nanos) {
        return System.nanoTime() - movedAt > nanos;
    }

    /** How many of those that wait can start. */
    int startable(long now) {
        return Math.min(Math.min(waiting.size(), concurrency - running), allowance(now));
    }

    /** How many more may start, if there is room: none while the topic is paused, few while its circuit is open. */
    int allowance(long now) {
        return paused ? 0 : breaker.allowance(now);
    }

    boolean isFree() {
        return waiting.isEmpty() && running < concurrency && breaker.isClosed() && !paused;
    }

    /** Whether it wants nothing, however much room there is. */
    boolean rests(long now) {
        return paused || breaker.restLeft(now) > 0;
    }

    /** Hands back what waits and may not start; the first stay. */
    void recall(long now, List<Attempt<M>> back) {
        while (waiting.size() > allowance(now)) {
            back.add(waiting.removeLast());
        }
    }

    /** Moving average: the last few attempts decide. */
    void took(long nanos) {
        averageNanos = averageNanos == Double.POSITIVE_INFINITY ? nanos : averageNanos + (nanos - averageNanos) / 8;
    }

    /**
     * How many more to claim: as many as can start within a quarter of the lease, judging by how long handlers have taken,
     * and none while enough are waiting and the claim would be small. Never more than may start.
     */
    int places(int batchSize, Duration lease, long now) {
        double startable = concurrency() * (lease.toNanos() / 4.0) / Math.max(1, averageNanos);
        int ahead = (int) Math.min(3.0 * batchSize, startable);
        int places = concurrency() + ahead - running - waiting.size();
        int allowed = Math.min(places, allowance(now) - waiting.size());
        return waiting.size() >= concurrency() && places < batchSize ? 0 : allowed;
    }
}
