package dev.windlass.internal.dispatch;

import dev.windlass.internal.queue.ClaimBound;
import dev.windlass.internal.queue.WorkStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Tells when to look for a topic's work from the start again, instead of from its {@link ClaimBound}. Thread-safe.
 *
 * <p>That a sweep was tried counts, not that it succeeded: one that takes too long would else be repeated for ever, and nothing
 * but sweeps be done. The longer it took, the later comes the next.
 */
final class Sweeps {
    private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** So that sweeps take a sixth of the time at most. */
    private static final int PAUSE_FACTOR = 5;

    private final Map<String, Long> notBefore = new HashMap<>();
    private int timesMadeDue;

    /** The same demands, those from the start whose topic is due for it. A topic that has no room now stays due. */
    synchronized List<WorkStore.Demand> in(List<WorkStore.Demand> demands, long now) {
        List<WorkStore.Demand> swept = new ArrayList<>(demands.size());
        for (WorkStore.Demand demand : demands) {
            swept.add(isDue(demand.topic(), now) ? demand.fromStart() : demand);
        }
        return swept;
    }

    private boolean isDue(String topic, long now) {
        Long next = notBefore.get(topic);
        return next == null || now - next >= 0;
    }

    /** How often any have become due before their time. */
    synchronized int timesMadeDue() {
        return timesMadeDue;
    }

    /**
     * A claim has ended well.
     *
     * @param timesMadeDue as it was when the claim began: if any have become due since, it may have missed why
     */
    synchronized void done(List<WorkStore.Demand> demands, int timesMadeDue, long began, long now) {
        if (timesMadeDue == this.timesMadeDue) {
            tried(demands, began, now);
        }
    }

    /**
     * A claim has failed. What it had locked, another beside it has skipped: it is behind the bound now, and comes next.
     *
     * @param began before it was sent
     */
    synchronized void failed(List<WorkStore.Demand> demands, long began, long now) {
        tried(demands, began, now);
        for (WorkStore.Demand demand : demands) {
            if (!demand.isFromStart() && notBefore.remove(demand.topic()) != null) {
                timesMadeDue++;
            }
        }
    }

    private void tried(List<WorkStore.Demand> demands, long began, long now) {
        long pause = Math.max(EVERY_NANOS, PAUSE_FACTOR * (now - began));
        for (WorkStore.Demand demand : demands) {
            if (demand.isFromStart() && isDue(demand.topic(), began)) {
                notBefore.put(demand.topic(), now + pause);
            }
        }
    }

    /** After a failover that may have lost transactions, something may be ready again anywhere. */
    synchronized void allDue() {
        notBefore.clear();
        timesMadeDue++;
    }
}
