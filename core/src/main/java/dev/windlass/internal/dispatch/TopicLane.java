package dev.windlass.internal.dispatch;

import dev.windlass.internal.queue.Ranking;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * One topic on this node: its handler, what waits for it, what runs, and up to where it has been claimed. Used under the lock of
 * the {@link Lanes}.
 */
final class TopicLane<M> {
    /** Handler time counts for about this long. */
    private static final double MEMORY_NANOS = 1e9;

    private static final double RANKED_LOOK_AHEAD_NANOS = 250e6;
    private static final double LIMITED_LOOK_AHEAD_NANOS = 5e6;

    /** More than the first batches only if it starts within this time: what waits here, another node could do. */
    private static final double GROWN_LOOK_AHEAD_NANOS = 100e6;

    final String topic;
    final Handling<M> handling;
    final ClaimProgress<M> progress;
    final Breaker breaker;
    int running;
    /** How many are being claimed. */
    int asked;
    /** How many places are kept for messages that are being written. */
    int kept;

    boolean paused;
    volatile boolean limited;
    private final ArrayDeque<Attempt<M>> waiting = new ArrayDeque<>();
    private final ArrayDeque<Attempt<M>> suspects = new ArrayDeque<>();
    private int held;
    private long bytes;
    private long movedAt = System.nanoTime();
    private double averageNanos = Double.POSITIVE_INFINITY;
    private double usedNanos;
    private long usedAt = System.nanoTime();
    private final int concurrency;
    private final Ranking ranking;

    /**
     * @param nodeConcurrency how many handlers of all topics the node runs at once
     */
    TopicLane(String topic, Handling<M> handling, int nodeConcurrency, Ranking ranking) {
        this.topic = topic;
        this.ranking = ranking;
        this.progress = new ClaimProgress<>(ranking);
        this.handling = handling;
        this.breaker = new Breaker(handling.options().circuit());
        this.concurrency = Math.min(nodeConcurrency, handling.options().concurrency());
    }

    int concurrency() {
        return concurrency;
    }

    /** So many more are in the node's hand, or less. */
    void holds(int more) {
        held += more;
    }

    /** How many are in the node's hand, without suspects that wait. */
    int inHand() {
        return held - suspects.size();
    }

    /** How much payload waits or is being handled. */
    long bytes() {
        return bytes;
    }

    /** From now on it waits for its turn. */
    void enlist(Attempt<M> attempt) {
        bytes += attempt.claimed.size();
        if (attempt.isSuspect()) {
            suspects.add(attempt);
            return;
        }
        if (waiting.isEmpty()) {
            moved();
        }
        enqueue(attempt);
    }

    /** Behind those of its priority; without priorities, behind those that were ready before it. */
    private void enqueue(Attempt<M> attempt) {
        ArrayDeque<Attempt<M>> behind = new ArrayDeque<>(0);
        for (Attempt<M> last; (last = waiting.peekLast()) != null && isBehind(last, attempt); ) {
            behind.push(waiting.removeLast());
        }
        waiting.add(attempt);
        waiting.addAll(behind);
    }

    private boolean isBehind(Attempt<M> last, Attempt<M> attempt) {
        return ranking.isRanked()
                ? last.priority() < attempt.priority()
                : last.claimed.position().compareTo(attempt.claimed.position()) > 0;
    }

    /** The next one starts: the oldest, or the oldest that is no suspect. */
    Attempt<M> start(boolean suspectMayRun, long now) {
        charge(now);
        Attempt<M> attempt = suspectMayRun && suspectIsNext() ? suspects.remove() : waiting.remove();
        attempt.began = breaker.started();
        running++;
        moved();
        return attempt;
    }

    /** Lets those at the front that wait be handled with one that has started, up to so many in all. */
    void gather(Attempt<M> first, int most) {
        if (most == 1 || !first.isSociable() || !breaker.isClosed() || paused) {
            return;
        }
        List<Attempt<M>> joining = new ArrayList<>();
        for (Attempt<M> next; joining.size() < most - 1 && (next = waiting.peek()) != null && next.isSociable(); ) {
            joining.add(next);
            waiting.remove();
        }
        first.companions = joining;
    }

    /** Those that were handled with this one have ended with it. */
    List<Attempt<M>> endTogether(Attempt<M> first) {
        List<Attempt<M>> ended = first.companions;
        first.companions = List.of();
        ended.forEach(each -> bytes -= each.claimed.size());
        return ended;
    }

    /** Those that were to be handled with this one wait again, each for a call of its own. */
    void part(Attempt<M> first) {
        List<Attempt<M>> parted = first.companions;
        first.companions = List.of();
        first.alone = true;
        for (int i = parted.size() - 1; i >= 0; i--) {
            parted.get(i).alone = true;
            waiting.addFirst(parted.get(i));
        }
    }

    private boolean suspectIsNext() {
        Attempt<M> suspect = suspects.peek();
        Attempt<M> other = waiting.peek();
        return suspect != null && (other == null || suspect.claimed.position().compareTo(other.claimed.position()) < 0);
    }

    /** Its handler runs no more, as far as this lane is concerned. */
    Breaker.Effect ended(Attempt<M> attempt, Result result, long now) {
        charge(now);
        bytes -= attempt.claimed.size();
        running--;
        moved();
        return breaker.ended(attempt.began, result, now);
    }

    /** A handler has started or ended, or the first message has begun to wait. */
    private void moved() {
        movedAt = System.nanoTime();
    }

    /** Whether nothing has moved for this long. */
    boolean isStill(long nanos) {
        return System.nanoTime() - movedAt > nanos;
    }

    /** How much time its handlers have had lately, all together, also those that still run. */
    double used(long now) {
        charge(now);
        return usedNanos;
    }

    /** Old time fades, so that nobody saves up a right to the whole node by resting. */
    private void charge(long now) {
        double passed = now - usedAt;
        usedNanos = (usedNanos + running * passed) / (1 + passed / MEMORY_NANOS);
        usedAt = now;
    }

    /** How many of those that wait can start, if the node has room. */
    int startable(boolean suspectMayRun, long now) {
        int ready = waiting.size() + (suspectMayRun && !suspects.isEmpty() ? 1 : 0);
        return Math.min(Math.min(ready, concurrency - running), allowance(now));
    }

    /** How many more may start, if there is room: none while the topic is paused, few while its circuit is open. */
    private int allowance(long now) {
        return paused ? 0 : breaker.allowance(now);
    }

    boolean isFree() {
        return waiting.isEmpty() && running < concurrency && breaker.isClosed() && !paused && !limited;
    }

    /** Whether it wants nothing, however much room there is. */
    boolean rests(long now) {
        return paused || breaker.restLeft(now) > 0;
    }

    /** Hands back what waits and may not start; the first stay. */
    void recall(long now, List<Attempt<M>> back) {
        while (waiting.size() + suspects.size() > allowance(now)) {
            giveBack(suspects.isEmpty() ? waiting.removeLast() : suspects.removeLast(), back);
        }
    }

    /** Hands back what waits if nothing has moved for this long, and suspects that have waited as long. */
    void giveBackAfter(long nanos, List<Attempt<M>> back) {
        while (!waiting.isEmpty() && isStill(nanos)) {
            giveBack(waiting.remove(), back);
        }
        for (Attempt<M> first; (first = suspects.peek()) != null && first.heldFor() > nanos; ) {
            giveBack(suspects.remove(), back);
        }
    }

    /** Hands back all that waits. */
    void giveBack(List<Attempt<M>> back) {
        while (!waiting.isEmpty()) {
            giveBack(waiting.remove(), back);
        }
        while (!suspects.isEmpty()) {
            giveBack(suspects.remove(), back);
        }
    }

    private void giveBack(Attempt<M> attempt, List<Attempt<M>> back) {
        bytes -= attempt.claimed.size();
        back.add(attempt);
    }

    /** Moving average: the last few attempts decide. */
    void took(long nanos) {
        averageNanos = averageNanos == Double.POSITIVE_INFINITY ? nanos : averageNanos + (nanos - averageNanos) / 8;
    }

    /** How many messages one worker handles in this time, judging by how long handlers have taken. */
    int handledIn(double nanos) {
        return (int) (nanos / Math.max(1, averageNanos));
    }

    /**
     * How many more to claim: as many as can start soon, judging by how long handlers have taken, and none while enough are waiting
     * and the claim would be small. Never more than may start. Suspects do not count, unless they are so many that a topic consists of
     * them.
     */
    int places(BatchSize batch, Duration lease, long now) {
        int left = left(batch, lease);
        boolean enough = waiting.size() >= concurrency() && left < Math.min(batch.now(), ahead(batch, lease));
        return enough || suspects.size() >= concurrency() + 3 * batch.first() ? 0 : allowed(left, now);
    }

    /** How many more could start soon; less than none if there are more than that already. */
    int left(BatchSize batch, Duration lease) {
        return concurrency() + ahead(batch, lease) - running - waiting.size() - asked;
    }

    /** How many of so many may start at all. */
    int allowed(int left, long now) {
        return Math.min(left, allowance(now) - waiting.size() - suspects.size() - asked);
    }

    private int ahead(BatchSize batch, Duration lease) {
        return Math.min(mostAhead(batch), handledIn(concurrency() * lookAheadNanos(lease)));
    }

    private int mostAhead(BatchSize batch) {
        int grown = Math.min(3 * batch.now(), handledIn(concurrency() * GROWN_LOOK_AHEAD_NANOS));
        return Math.max(3 * batch.first(), grown);
    }

    /**
     * Within this time what is claimed should have started. What waits here cannot be overtaken by a higher priority on another node;
     * and of a topic that is limited over all nodes it would take the place of what could run elsewhere.
     */
    private double lookAheadNanos(Duration lease) {
        double quarter = lease.toNanos() / 4.0;
        if (limited) {
            return Math.min(quarter, LIMITED_LOOK_AHEAD_NANOS);
        }
        return ranking.isRanked() ? Math.min(quarter, RANKED_LOOK_AHEAD_NANOS) : quarter;
    }
}
