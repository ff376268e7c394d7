package dev.windlass.internal.dispatch;

import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What this node may take: of which topics, how many messages, how much payload. What it has already is {@link InHand}.
 *
 * <p>Thread-safe, under the lock of the {@link Lanes}. How much there is room for is decided by {@link Room}.
 */
final class Capacity<M> {
    private final Lanes<M> lanes;
    private final ReentrantLock lock;
    private final BatchSize batch;
    private final Room<M> room;
    private final Set<Kept> kept = new LinkedHashSet<>();
    private long keptBytes;
    private int nextLane;

    /**
     * @param batchSize how many messages a claim takes at first
     * @param maxBytes about how much payload is in hand at most
     */
    Capacity(Lanes<M> lanes, int batchSize, Duration lease, long maxBytes) {
        this.lanes = lanes;
        this.lock = lanes.lock;
        this.batch = new BatchSize(batchSize);
        this.room = new Room<>(lanes.all, lanes.concurrency, batch, lease, maxBytes);
    }

    /**
     * What a claim asks for. Room is kept for it until it is {@link #answered}.
     *
     * @param demands of which topics how many; empty when there is no room
     * @param limit how many over all topics
     * @param bytes about how much payload
     * @param batchSize how many a claim would take for which there is room
     */
    record Ask(List<WorkStore.Demand> demands, int limit, long bytes, int batchSize) {
        static final Ask NOTHING = new Ask(List.of(), 0, 0, 0);

        boolean isNothing() {
            return demands.isEmpty();
        }

        Ask withDemands(List<WorkStore.Demand> same) {
            return new Ask(same, limit, bytes, batchSize);
        }

        /** Whether it has been cut short by what it might take, so that more may be ready. */
        boolean isCut(List<? extends Claimed<?>> claimed) {
            if (claimed.size() >= limit) {
                return true;
            }
            long size = 0;
            for (Claimed<?> each : claimed) {
                size += each.size();
            }
            return size >= bytes;
        }
    }

    /**
     * What to claim next, another topic first each time.
     *
     * @param most no more messages than this, however much room there is
     */
    Ask ask(int most) {
        lock.lock();
        try {
            List<WorkStore.Demand> demands = lanes.areClosed() ? List.of() : demands();
            if (demands.isEmpty()) {
                return Ask.NOTHING;
            }
            int wanted = 0;
            for (WorkStore.Demand demand : demands) {
                wanted += demand.places();
            }
            int limit = room.limit(demands.stream().map(demand -> lanes.lane(demand.topic())));
            Ask ask = new Ask(
                    demands,
                    Math.max(1, Math.min(most, Math.min(wanted, limit))),
                    Math.max(1, room.bytes()),
                    batch.now());
            note(ask, 1);
            return ask;
        } finally {
            lock.unlock();
        }
    }

    private List<WorkStore.Demand> demands() {
        long now = System.nanoTime();
        int count = lanes.all.size();
        List<WorkStore.Demand> demands = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            TopicLane<M> lane = lanes.all.get((nextLane + i) % count);
            int places = lanes.isStuck(lane, now) ? 0 : room.places(lane, now);
            if (places > 0) {
                demands.add(new WorkStore.Demand(lane.topic, Math.min(places, batch.now()), lane.progress.after()));
            } else {
                lane.progress.notAsked();
            }
        }
        nextLane = count == 0 ? 0 : (nextLane + 1) % count;
        return demands;
    }

    private void note(Ask ask, int sign) {
        for (WorkStore.Demand demand : ask.demands) {
            lanes.lane(demand.topic()).asked += sign * demand.places();
        }
        room.asked(sign * ask.limit, sign * ask.bytes);
    }

    /** What a claim took is in hand, or it has failed. Its room is not kept any more. */
    void answered(Ask ask) {
        lock.lock();
        try {
            note(ask, -1);
        } finally {
            lock.unlock();
        }
    }

    /** How many messages a claim takes now, where there is room for them. Takes no lock: whoever asks may hold one of its own. */
    int batchSize() {
        return batch.now();
    }

    /** About how much payload may be taken besides claims. */
    long bytesLeft() {
        lock.lock();
        try {
            return Math.max(1, room.bytesLeft());
        } finally {
            lock.unlock();
        }
    }

    /** Takes note of how far a claim has come. */
    void claimed(Ask ask, List<Claimed<M>> claimed) {
        boolean cut = ask.isCut(claimed);
        Map<String, List<Claimed<M>>> byTopic = new HashMap<>();
        if (ask.demands.size() > 1) {
            claimed.forEach(each -> byTopic.computeIfAbsent(each.topic(), topic -> new ArrayList<>())
                    .add(each));
        }
        lock.lock();
        try {
            batch.took(claimed.size());
            if (!cut && ask.limit >= batch.now()) {
                batch.hasOnly(claimed.size() + room.inHand());
            }
            for (WorkStore.Demand demand : ask.demands) {
                List<Claimed<M>> mine =
                        ask.demands.size() == 1 ? claimed : byTopic.getOrDefault(demand.topic(), List.of());
                TopicLane<M> lane = lanes.lane(demand.topic());
                lane.progress.advance(mine, !cut && mine.size() < demand.places(), lane.limited);
            }
        } finally {
            lock.unlock();
        }
    }

    /** So many were taken without a claim, in the place of others that ended. */
    void taken(int count) {
        lock.lock();
        try {
            batch.took(count);
        } finally {
            lock.unlock();
        }
    }

    /** Whether a claim may have left messages of some topic because it had no more room for it. */
    boolean isFull(List<WorkStore.Demand> demands, List<Claimed<M>> claimed) {
        if (demands.size() < lanes.all.size() && lacksRoom(demands)) {
            return true;
        }
        if (demands.stream().anyMatch(demand -> lanes.lane(demand.topic()).limited)) {
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
            return lanes.all.stream().anyMatch(lane -> !asked.contains(lane.topic) && !lane.rests(now));
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
            if (lanes.areClosed() || room.left() < batch.now()) {
                return Set.of();
            }
            long now = System.nanoTime();
            return lanes.all.stream()
                    .filter(lane ->
                            lane.progress.isDrained() && !lanes.isStuck(lane, now) && room.mayReplace(lane, count, now))
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
            TopicLane<M> lane = lanes.find(topic);
            return lane != null
                    && !lanes.areClosed()
                    && lane.isFree()
                    && lanes.turns.hasPlace(lane, System.nanoTime())
                    && !room.lacksBytes(lane);
        } finally {
            lock.unlock();
        }
    }

    /** A place for a message that is being written. */
    static final class Kept {
        private final TopicLane<?> lane;
        private final int size;
        private final long until;
        private boolean written;
        private boolean over;

        private Kept(TopicLane<?> lane, int size, long until) {
            this.lane = lane;
            this.size = size;
            this.until = until;
        }
    }

    /**
     * Keeps a place for a message of this topic that is about to be written, if it would be started at once, and nothing else of
     * its topic was ready at the last claim. Null if there is none.
     *
     * @param size of its payload
     * @param now by the monotonic clock
     * @param until when it is kept no longer if nobody {@link #free frees} it
     */
    @Nullable
    Kept keep(String topic, int size, long now, long until) {
        lock.lock();
        try {
            forget(now);
            TopicLane<M> lane = lanes.find(topic);
            if (lane == null
                    || lanes.areClosed()
                    || !lane.isFree()
                    || !lane.progress.isDrained()
                    || !lanes.turns.canKeep(lane, now)
                    || !room.hasBytes(lane, keptBytes, size)) {
                return null;
            }
            Kept place = new Kept(lane, size, until);
            kept.add(place);
            lane.kept++;
            keptBytes += size;
            return place;
        } finally {
            lock.unlock();
        }
    }

    /** Nobody has freed them in time. */
    private void forget(long now) {
        while (!kept.isEmpty()) {
            Kept oldest = kept.iterator().next();
            if (now - oldest.until < 0) {
                return;
            }
            end(oldest);
        }
    }

    /** It has been committed, and is about to come: claims leave it its place, as they do to what another claim asks for. */
    void written(Kept place) {
        lock.lock();
        try {
            if (!place.over && !place.written) {
                place.written = true;
                place.lane.asked++;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether it can start soon: while its transaction was open, others may have taken its place. */
    boolean fits(Kept place) {
        lock.lock();
        try {
            return !room.isOverfull(lanes.lane(place.lane.topic), System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    /** It is not kept any more. */
    void free(Kept place) {
        lock.lock();
        try {
            end(place);
        } finally {
            lock.unlock();
        }
    }

    private void end(Kept place) {
        if (!place.over) {
            place.over = true;
            kept.remove(place);
            place.lane.kept--;
            place.lane.asked -= place.written ? 1 : 0;
            keptBytes -= place.size;
        }
    }

    /** Something of this topic may be ready that no claim has seen yet: it comes first. */
    void isNotDrained(String topic) {
        lock.lock();
        try {
            lanes.lane(topic).progress.notAsked();
        } finally {
            lock.unlock();
        }
    }

    /** Stops and starts lanes. What waits in those that are stopped is handed back. */
    List<Attempt<M>> decide(WorkStore.Decided decided) {
        lock.lock();
        try {
            lanes.all.forEach(lane -> {
                lane.paused = decided.paused().contains(lane.topic);
                lane.limited = decided.limited().contains(lane.topic);
            });
            return lanes.recall(System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    /** When the first lane that rests now may be looked at again, by the monotonic clock. */
    OptionalLong restEnds() {
        lock.lock();
        try {
            long now = System.nanoTime();
            OptionalLong left = lanes.all.stream()
                    .mapToLong(lane -> lane.breaker.restLeft(now))
                    .filter(nanos -> nanos > 0)
                    .min();
            return left.isPresent() ? OptionalLong.of(now + left.getAsLong()) : left;
        } finally {
            lock.unlock();
        }
    }
}
