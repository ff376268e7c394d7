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
    private final int concurrency;
    private final BatchSize batch;
    private final Duration lease;
    private final long maxBytes;
    private int asked;
    private long askedBytes;

    /**
     * @param maxBytes about how much payload is in hand at most
     */
    Room(List<TopicLane<M>> lanes, int concurrency, BatchSize batch, Duration lease, long maxBytes) {
        this.lanes = lanes;
        this.concurrency = concurrency;
        this.batch = batch;
        this.lease = lease;
        this.maxBytes = maxBytes;
    }

    /** How many more of this lane may be claimed. */
    int places(TopicLane<M> lane, long now) {
        return lacksBytes(lane) ? 0 : Math.min(Math.max(left(), little(lane)), lane.places(batch, lease, now));
    }

    /** Whether this many of a lane may come in the place of as many that end. */
    boolean mayReplace(TopicLane<M> lane, int count, long now) {
        return !lacksBytes(lane) && lane.places(batch, lease, now) >= count;
    }

    /** Whether more of this lane comes than could start soon. */
    boolean isOverfull(TopicLane<M> lane, long now) {
        return lane.allowed(lane.left(batch, lease), now) < 0;
    }

    /** How many a claim for these lanes may take. Never more than a batch of each is in hand beyond what there is room for. */
    int limit(Stream<TopicLane<M>> claimed) {
        return Math.min(
                batch.now(), Math.max(left(), claimed.mapToInt(this::little).sum()));
    }

    /** How much payload a claim may take: half of all there is room for, at most, or nothing would be left for another beside it. */
    long bytes() {
        return Math.min(bytesLeft(), maxBytes / 2);
    }

    /** A claim for so much is made, or has been answered. */
    void asked(int messages, long bytes) {
        asked += messages;
        askedBytes += bytes;
    }

    /** Room for so many messages is left: for what runs, and a batch each in two claims, waiting, being written. */
    int left() {
        return concurrency + 4 * batch.now() - asked - inHand();
    }

    int inHand() {
        int inHand = 0;
        for (TopicLane<M> lane : lanes) {
            inHand += lane.inHand();
        }
        return inHand;
    }

    /** One message, or as many of a batch as a single worker can handle in this lane's part of a quarter of a lease. */
    private int little(TopicLane<M> lane) {
        double nanos = lease.toNanos() / 4.0 / lanes.size();
        return Math.max(0, Math.max(1, Math.min(batch.now(), lane.handledIn(nanos))) - lane.inHand() - lane.asked);
    }

    boolean lacksBytes(TopicLane<M> lane) {
        long left = bytesLeft();
        return left <= 0 || (lane.bytes() >= maxBytes / lanes.size() && left < maxBytes / 2);
    }

    /** Whether a message of this size may come without a claim, beside those that do already. A large one goes another way. */
    boolean hasBytes(TopicLane<M> lane, long coming, int size) {
        return !lacksBytes(lane) && size <= maxBytes / 16 && coming + size <= Math.min(bytesLeft(), maxBytes / 4);
    }

    long bytesLeft() {
        long left = maxBytes - askedBytes;
        for (TopicLane<M> lane : lanes) {
            left -= lane.bytes();
        }
        return left;
    }
}
