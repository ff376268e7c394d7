package dev.windlass.internal.dispatch;

import dev.windlass.internal.queue.Ranking;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The topics of this node, a lane each, and the one lock that guards what is known of them.
 *
 * <p>{@link InHand} moves messages through the lanes, {@link Capacity} reads them and says what to claim. Both hold the same lock,
 * for moments, and never while calling out. It is one because every decision weighs all lanes against each other: a place is kept
 * for a topic in which nothing runs, and room that one topic has is room that another has not. With a lock for
 * each lane, or for each of the two, a message that is just moving on could be counted twice or not at all, and would take several
 * of them.
 *
 * <p>A lane <em>rests</em> while its {@link Breaker} says so, or its topic is paused: nothing is claimed for it, and what waits
 * there is given back.
 *
 * <p>A lane is <em>stuck</em> when messages wait in it and nothing has moved for half a lease: its handlers hang, or they take
 * much longer than those before. What waits there is given back, and no more is taken until something moves.
 */
final class Lanes<M> {
    /** More is never in hand; sums of such numbers overflow nothing. */
    static final int UNLIMITED = 1_000_000;

    /** Whoever looks into a lane or changes one holds it. Which lanes there are does not change, and needs no lock. */
    final ReentrantLock lock = new ReentrantLock();

    final List<TopicLane<M>> all;
    final Turns<M> turns;
    final int concurrency;
    private final Map<String, TopicLane<M>> byTopic = new LinkedHashMap<>();
    private final long stuckNanos;
    private boolean closed;

    /**
     * @param mostAtOnce how many handlers of all topics run at once
     */
    Lanes(Map<String, Handling<M>> handlings, int mostAtOnce, Duration lease, Ranking ranking) {
        this.concurrency = Math.min(mostAtOnce, UNLIMITED);
        handlings.forEach(
                (topic, handling) -> byTopic.put(topic, new TopicLane<>(topic, handling, concurrency, ranking)));
        this.all = List.copyOf(byTopic.values());
        this.turns = new Turns<>(all, concurrency);
        this.stuckNanos = lease.toNanos() / 2;
    }

    Set<String> topics() {
        return byTopic.keySet();
    }

    boolean handles(String topic) {
        return byTopic.containsKey(topic);
    }

    @Nullable
    TopicLane<M> find(String topic) {
        return byTopic.get(topic);
    }

    /** The lane of a topic that was asked for. */
    TopicLane<M> lane(String topic) {
        TopicLane<M> lane = byTopic.get(topic);
        if (lane == null) {
            throw new IllegalStateException("claimed a message of topic " + topic + ", which was not asked for");
        }
        return lane;
    }

    boolean isStuck(TopicLane<M> lane, long now) {
        return !turns.hasPlace(lane, now)
                && (lane.running > 0
                        ? lane.isStill(stuckNanos)
                        : all.stream().allMatch(each -> each.isStill(stuckNanos)));
    }

    /** Hands back what waits in lanes that rest. */
    List<Attempt<M>> recall(long now) {
        List<Attempt<M>> back = new ArrayList<>();
        all.forEach(lane -> lane.recall(now, back));
        return back;
    }

    /** Hands back what waits in lanes that are stuck, and suspects that wait as long. */
    List<Attempt<M>> giveBack() {
        List<Attempt<M>> back = new ArrayList<>();
        all.forEach(lane -> lane.giveBackAfter(stuckNanos, back));
        return back;
    }

    /** Nothing is claimed or started any more. Hands back all that waits. */
    List<Attempt<M>> close() {
        closed = true;
        List<Attempt<M>> back = new ArrayList<>();
        all.forEach(lane -> lane.giveBack(back));
        return back;
    }

    boolean areClosed() {
        return closed;
    }
}
