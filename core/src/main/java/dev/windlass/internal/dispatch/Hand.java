package dev.windlass.internal.dispatch;

import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.Ranking;
import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Everything this node holds: claimed messages from the moment of their claim until their outcome has been written.
 *
 * <p>Thread-safe; one lock, held for moments and never while calling out.
 *
 * <p>What may be claimed is decided by the {@link Room} there is, what starts by {@link Turns}.
 *
 * <p>A lane <em>rests</em> while its {@link Breaker} says so, or its topic is paused: nothing is claimed for it, and what waits
 * there is given back.
 *
 * <p>A lane is <em>stuck</em> when messages wait in it and nothing has moved for half a lease: its handlers hang, or they take
 * much longer than those before. What waits there is given back, and no more is taken until something moves.
 */
final class Hand<M> {
    /** More is never in hand; sums of such numbers overflow nothing. */
    private static final int UNLIMITED = 1_000_000;

    private final int concurrency;
    private final int batchSize;
    private final long stuckNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, TopicLane<M>> lanes = new LinkedHashMap<>();
    private final List<TopicLane<M>> rotation;
    private final Set<Attempt<M>> inHand = new LinkedHashSet<>();
    private final IntConsumer changes;
    private final Room<M> room;
    private final Turns<M> turns;
    private int workers;
    private int detached;
    private int nextLane;
    private boolean closed;

    Hand(Map<String, Handling<M>> handlings, int mostAtOnce, int mostInBatch, Duration lease, long maxBytes) {
        this(handlings, mostAtOnce, mostInBatch, lease, maxBytes, Ranking.NONE, change -> {});
    }

    /**
     * @param changes told how many more, or less, are in hand; called under the lock
     */
    Hand(
            Map<String, Handling<M>> handlings,
            int mostAtOnce,
            int mostInBatch,
            Duration lease,
            long maxBytes,
            Ranking ranking,
            IntConsumer changes) {
        this.changes = changes;
        this.concurrency = Math.min(mostAtOnce, UNLIMITED);
        this.batchSize = Math.min(mostInBatch, UNLIMITED);
        handlings.forEach(
                (topic, handling) -> lanes.put(topic, new TopicLane<>(topic, handling, concurrency, ranking)));
        this.rotation = List.copyOf(lanes.values());
        this.stuckNanos = lease.toNanos() / 2;
        this.room = new Room<>(rotation, concurrency, batchSize, lease, maxBytes);
        this.turns = new Turns<>(rotation, concurrency);
    }

    Set<String> topics() {
        return lanes.keySet();
    }

    boolean handles(String topic) {
        return lanes.containsKey(topic);
    }

    /** What {@link #take} made of claimed messages: how many workers to start, and what to give back. */
    record Taken<M>(int workers, List<Attempt<M>> back) {}

    /** What to claim next, another topic first each time; empty when there is no room. */
    List<WorkStore.Demand> demands(boolean sweep) {
        lock.lock();
        try {
            if (closed) {
                return List.of();
            }
            long now = System.nanoTime();
            List<WorkStore.Demand> demands = new ArrayList<>(rotation.size());
            for (int i = 0; i < rotation.size(); i++) {
                TopicLane<M> lane = rotation.get((nextLane + i) % rotation.size());
                int places = isStuck(lane, now) ? 0 : room.places(lane, now);
                lane.drained &= places > 0; // what is not asked for may be ready
                if (places > 0) {
                    WorkStore.Demand demand = new WorkStore.Demand(lane.topic, places, lane.after());
                    demands.add(sweep ? demand.fromStart() : demand);
                }
            }
            nextLane = rotation.isEmpty() ? 0 : (nextLane + 1) % rotation.size();
            return demands;
        } finally {
            lock.unlock();
        }
    }

    /** Stops and starts lanes. What waits in those that are stopped is handed back. */
    List<Attempt<M>> decide(WorkStore.Decided decided) {
        lock.lock();
        try {
            rotation.forEach(lane -> {
                lane.paused = decided.paused().contains(lane.topic);
                lane.limited = decided.limited().contains(lane.topic);
            });
            return recall(System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    boolean isPaused() {
        lock.lock();
        try {
            return rotation.stream().anyMatch(lane -> lane.paused);
        } finally {
            lock.unlock();
        }
    }

    /** When the first lane that rests now may be looked at again, by the monotonic clock. */
    OptionalLong restEnds() {
        lock.lock();
        try {
            long now = System.nanoTime();
            OptionalLong left = rotation.stream()
                    .mapToLong(lane -> lane.breaker.restLeft(now))
                    .filter(nanos -> nanos > 0)
                    .min();
            return left.isPresent() ? OptionalLong.of(now + left.getAsLong()) : left;
        } finally {
            lock.unlock();
        }
    }

    private boolean isStuck(TopicLane<M> lane, long now) {
        return !turns.hasPlace(lane, now)
                && (lane.running > 0
                        ? lane.isStill(stuckNanos)
                        : rotation.stream().allMatch(each -> each.isStill(stuckNanos)));
    }

    /** How many messages a claim may take over all topics. */
    int limit(List<WorkStore.Demand> demands) {
        lock.lock();
        try {
            int wanted = demands.stream().mapToInt(WorkStore.Demand::places).sum();
            int limit = room.limit(demands.stream().map(demand -> lane(demand.topic())));
            return Math.max(1, Math.min(wanted, limit));
        } finally {
            lock.unlock();
        }
    }

    /** About how much payload a claim may take. */
    long bytesLeft() {
        lock.lock();
        try {
            return Math.max(1, room.bytesLeft());
        } finally {
            lock.unlock();
        }
    }

    /** Whether a claim may have left messages of some topic because it had no more room for it. */
    boolean isFull(List<WorkStore.Demand> demands, List<Claimed<M>> claimed) {
        if (demands.size() < rotation.size() && lacksRoom(demands)) {
            return true;
        }
        if (demands.stream().anyMatch(demand -> lane(demand.topic()).limited)) {
            return true;
        }
        Map<String, Integer> counts = new HashMap<>();
        claimed.forEach(each -> counts.merge(each.topic(), 1, Integer::sum));
        return demands.stream().anyMatch(demand -> counts.getOrDefault(demand.topic(), 0) >= demand.places());
    }

    /** Whether a lane was not asked for although it does not rest. */
    private boolean lacksRoom(List<WorkStore.Demand> demands) {
        Set<String> asked = demands.stream().map(WorkStore.Demand::topic).collect(Collectors.toSet());
        lock.lock();
        try {
            long now = System.nanoTime();
            return rotation.stream().anyMatch(lane -> !asked.contains(lane.topic) && !lane.rests(now));
        } finally {
            lock.unlock();
        }
    }

    /**
     * The topics of which this many may be taken without a claim, in the place of as many that end: nothing else of them was
     * ready at the last claim, or the next of a key would overtake what has waited for longer. As long as there is room for a
     * claim besides, so that the claimer can find out when that changes.
     */
    Set<String> takes(int count) {
        lock.lock();
        try {
            if (closed || room.left() < batchSize) {
                return Set.of();
            }
            long now = System.nanoTime();
            return rotation.stream()
                    .filter(lane -> lane.drained && !isStuck(lane, now) && room.mayReplace(lane, count, now))
                    .map(lane -> lane.topic)
                    .collect(Collectors.toUnmodifiableSet());
        } finally {
            lock.unlock();
        }
    }

    /** Whether a message of this topic would be started at once. */
    boolean hasPlace(String topic) {
        lock.lock();
        try {
            TopicLane<M> lane = lanes.get(topic);
            return lane != null
                    && !closed
                    && lane.isFree()
                    && turns.hasPlace(lane, System.nanoTime())
                    && !room.lacksBytes(lane);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes note of how far a claim has come; called by the claimer only.
     *
     * @param cut whether it ended because it had taken as much as it might, over all topics
     */
    void advanceBounds(List<WorkStore.Demand> demands, List<Claimed<M>> claimed, boolean cut) {
        Map<String, List<Claimed<M>>> byTopic = new HashMap<>();
        claimed.forEach(each -> byTopic.computeIfAbsent(each.topic(), topic -> new ArrayList<>())
                .add(each));
        for (WorkStore.Demand demand : demands) {
            List<Claimed<M>> mine = byTopic.getOrDefault(demand.topic(), List.of());
            TopicLane<M> lane = lane(demand.topic());
            lane.drained = !cut && mine.size() < demand.places();
            lane.advance(mine, lane.drained);
        }
    }

    /** Forgets how far claims have come, as after a failover that may have lost transactions. */
    void resetBounds() {
        lanes.values().forEach(TopicLane::resetBounds);
    }

    private TopicLane<M> lane(String topic) {
        TopicLane<M> lane = lanes.get(topic);
        if (lane == null) {
            throw new IllegalStateException("claimed a message of topic " + topic + ", which was not asked for");
        }
        return lane;
    }

    Attempt<M> attempt(Claimed<M> claimed, long leaseUntil) {
        return new Attempt<>(claimed, lane(claimed.topic()), leaseUntil);
    }

    /**
     * Takes claimed messages in hand. What may not start is to be given back: all, when nothing is taken any more, and those
     * of a topic that has begun to rest since they were asked for.
     *
     * @param all what has been claimed
     * @param toStart what of it is to be handled; the outcome of the rest is already known
     */
    Taken<M> take(Collection<Attempt<M>> all, Collection<Attempt<M>> toStart) {
        lock.lock();
        try {
            inHand.addAll(all);
            changes.accept(all.size());
            all.forEach(attempt -> attempt.lane.holds(1));
            if (closed) {
                return new Taken<>(0, List.copyOf(toStart));
            }
            toStart.forEach(attempt -> attempt.lane.enlist(attempt));
            long now = System.nanoTime();
            List<Attempt<M>> back = recall(now);
            return new Taken<>(hire(now), back);
        } finally {
            lock.unlock();
        }
    }

    /** Hands back what waits in lanes that rest. */
    List<Attempt<M>> recall() {
        lock.lock();
        try {
            return recall(System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    private List<Attempt<M>> recall(long now) {
        List<Attempt<M>> back = new ArrayList<>();
        rotation.forEach(lane -> lane.recall(now, back));
        return back;
    }

    /** Workers that are on their way take a message each; only for what is left more are needed. */
    private int hire(long now) {
        int onTheirWay = workers - turns.running();
        int hired = Math.max(0, turns.startable(now) - onTheirWay);
        workers += hired;
        return hired;
    }

    /** That many workers could not be started. */
    void dismiss(int count) {
        lock.lock();
        try {
            workers -= count;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The next message for a worker; none means that the worker ends. */
    @Nullable
    Attempt<M> next() {
        lock.lock();
        try {
            Attempt<M> attempt = turns.start(System.nanoTime());
            if (attempt == null) {
                workers--;
                changed.signalAll();
            }
            return attempt;
        } finally {
            lock.unlock();
        }
    }

    /** A handler has returned. Returns nothing if it had been given up: its outcome does not count, and its worker ends. */
    Optional<Breaker.Effect> ended(Attempt<M> attempt, long tookNanos, Result result) {
        lock.lock();
        try {
            if (attempt.isDetached()) {
                detached--;
                return Optional.empty();
            }
            if (!(result instanceof Result.Stopped)) {
                attempt.lane.took(tookNanos);
            }
            return Optional.of(turns.ended(attempt, result, System.nanoTime()));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Gives up a handler that does not return, so that another can take its place. Only as many as can run at once: beyond
     * that, a node whose handlers all hang stops taking work instead of collecting threads. Returns nothing if it stays.
     */
    Optional<Breaker.Effect> detach(Attempt<M> attempt, Result result) {
        lock.lock();
        try {
            boolean tooMany = detached >= concurrency && !closed;
            if (attempt.isDetached() || !attempt.isRunning() || tooMany) {
                return Optional.empty();
            }
            attempt.detach();
            detached++;
            workers--;
            changed.signalAll();
            return Optional.of(turns.ended(attempt, result, System.nanoTime()));
        } finally {
            lock.unlock();
        }
    }

    /** Hands back what waits in lanes that are stuck, and suspects that wait as long: another node may be free. */
    List<Attempt<M>> giveBack() {
        lock.lock();
        try {
            List<Attempt<M>> back = new ArrayList<>();
            rotation.forEach(lane -> lane.giveBackAfter(stuckNanos, back));
            return back;
        } finally {
            lock.unlock();
        }
    }

    /** The outcomes of these have been written, or do not matter any more. Returns how many workers to start. */
    int settle(Collection<Attempt<M>> attempts) {
        lock.lock();
        try {
            attempts.forEach(this::settle);
            return hire(System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    private void settle(Attempt<M> attempt) {
        if (inHand.remove(attempt)) {
            attempt.lane.holds(-1);
            changes.accept(-1);
        }
        turns.settled(attempt);
    }

    /** Nothing of what is left matters to others any more: the node has ended. */
    void abandon() {
        lock.lock();
        try {
            changes.accept(-inHand.size());
            inHand.clear();
        } finally {
            lock.unlock();
        }
    }

    /** All that is in hand, for whoever renews and watches. */
    List<Attempt<M>> all() {
        lock.lock();
        try {
            return new ArrayList<>(inHand);
        } finally {
            lock.unlock();
        }
    }

    /** How many threads are at work. */
    int running() {
        lock.lock();
        try {
            return workers;
        } finally {
            lock.unlock();
        }
    }

    boolean isEmpty() {
        lock.lock();
        try {
            return inHand.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Takes nothing more, and hands back what has not been started. */
    List<Attempt<M>> close() {
        lock.lock();
        try {
            closed = true;
            List<Attempt<M>> unstarted = new ArrayList<>();
            rotation.forEach(lane -> lane.giveBack(unstarted));
            return unstarted;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until every worker has passed on its last outcome and ended; that no handler runs would be too early. Returns
     * whether that came true in time.
     */
    boolean awaitQuiet(Duration patience) throws InterruptedException {
        lock.lock();
        try {
            long left = patience.toNanos();
            while (workers > 0 && left > 0) {
                left = changed.awaitNanos(left);
            }
            return workers == 0;
        } finally {
            lock.unlock();
        }
    }
}
