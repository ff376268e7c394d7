package dev.windlass.internal.dispatch;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * How much more may be claimed, in messages and in payload. Used under the lock of the {@link Lanes}.
 *
 * <p>A slow topic may take all the room there is, as long as nobody else wants it. So beyond that each lane may have a few
 * messages that take little time, and one that has its share of the payload leaves half of the budget to others.
 */
final class Room<M> {
    private final List<TopicLane<M>> lanes;
    private final int most;
    private final int batchSize;
    private final Duration lease;
    private final long maxBytes;

    /**
     * @param maxBytes about how much payload is in hand at most
     */
    Room(List<TopicLane<M>> lanes, int concurrency, int batchSize, Duration lease, long maxBytes) {
        this.lanes = lanes;
        this.most = concurrency + 3 * batchSize; // what runs, and a batch each in the claim, waiting, being written
        this.batchSize = batchSize;
        this.lease = lease;
        this.maxBytes = maxBytes;
    }

    /** How many more of this lane may be claimed. */
    int places(TopicLane<M> lane, long now) {
        return lacksBytes(lane) ? 0 : Math.min(Math.max(left(), little(lane)), lane.places(batchSize, lease, now));
    }

    /** Whether this many of a lane may come in the place of as many that end. */
    boolean mayReplace(TopicLane<M> lane, int count, long now) {
        return !lacksBytes(lane) && lane.places(batchSize, lease, now) >= count;
    }

    /** How many a claim for these lanes may take. Never more than a batch of each is in hand beyond what there is room for. */
    int limit(Stream<TopicLane<M>> asked) {
        return Math.min(batchSize, Math.max(left(), asked.mapToInt(this::little).sum()));
    }

    /** Room for so many messages is left. */
    int left() {
        int left = most;
        for (TopicLane<M> lane : lanes) {
            left -= lane.inHand();
        }
        return left;
    }

    /** One message, or as many of a batch as a single worker can handle in this lane's part of a quarter of a lease. */
    private int little(TopicLane<M> lane) {
        double nanos = lease.toNanos() / 4.0 / lanes.size();
        return Math.max(0, Math.max(1, Math.min(batchSize, lane.handledIn(nanos))) - lane.inHand());
    }

    boolean lacksBytes(TopicLane<M> lane) {
        long left = bytesLeft();
        return left <= 0 || (lane.bytes() >= maxBytes / lanes.size() && left < maxBytes / 2);
    }

    long bytesLeft() {
        long left = maxBytes;
        for (TopicLane<M> lane : lanes) {
            left -= lane.bytes();
        }
        return left;
    }
}
