package dev.windlass.internal.dispatch;

import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassEvent.Ending;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.queue.Claimed;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;

/** What happens in one queue, told to whoever listens. */
final class QueueEvents {
    private final Events events;
    private final String store;
    private final QueueKind queue;
    private final LongAdder claimed = new LongAdder();
    private final LongAdder settled = new LongAdder();

    QueueEvents(Database database, QueueKind queue) {
        this.events = database.events();
        this.store = database.store();
        this.queue = queue;
    }

    QueueKind queue() {
        return queue;
    }

    /** How many messages this node has claimed so far. */
    long claimed() {
        return claimed.sum();
    }

    /** How many outcomes it has written so far. */
    long settled() {
        return settled.sum();
    }

    void claimed(int messages) {
        claimed.add(messages);
        if (events.areHeard()) {
            events.tell(new WindlassEvent.Claimed(store, queue, messages));
        }
    }

    /**
     * For each message: nothing is made of it if nobody listens.
     *
     * @param heldNanos how long it was in hand before its handler began
     */
    void handled(Claimed<?> claimed, Outcome outcome, long heldNanos, long tookNanos) {
        if (events.areHeard()) {
            events.tell(new WindlassEvent.Handled(
                    store,
                    queue,
                    claimed.topic(),
                    claimed.id(),
                    claimed.retryCount() + 1,
                    ending(outcome),
                    Duration.ofNanos(claimed.waited() + heldNanos),
                    Duration.ofNanos(tookNanos)));
        }
    }

    private static Ending ending(Outcome outcome) {
        if (outcome instanceof Outcome.Done) {
            return Ending.DONE;
        }
        if (outcome instanceof Outcome.Retry) {
            return Ending.RETRY;
        }
        return outcome instanceof Outcome.Fail ? Ending.FAILED : Ending.STOPPED;
    }

    /**
     * Outcomes have been written, all of one kind.
     *
     * @param count how many, of those that ended
     * @param lost those that had gone to somebody else, or may have been written before
     */
    <M> void settled(Iterable<Ended<M>> ended, int count, Set<UUID> locked, Set<UUID> lost) {
        settled.add(count);
        if (count == 0 || !events.areHeard()) {
            return;
        }
        events.tell(new WindlassEvent.Settled(store, queue, count));
        for (Ended<M> each : ended) {
            UUID id = each.attempt.claimed.id();
            if (!locked.contains(id) && !lost.contains(id)) {
                settled(each.attempt.claimed, each.outcome);
            }
        }
    }

    private void settled(Claimed<?> claimed, Outcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            events.tell(new WindlassEvent.Retried(
                    store,
                    queue,
                    claimed.topic(),
                    claimed.id(),
                    claimed.retryCount() + 1,
                    retry.delay(),
                    retry.counted(),
                    retry.error()));
        } else if (outcome instanceof Outcome.Fail fail) {
            events.tell(new WindlassEvent.DeadLettered(
                    store, queue, claimed.topic(), claimed.id(), claimed.retryCount() + 1, fail.error()));
        }
        if (claimed.jobRun() && (outcome instanceof Outcome.Done || outcome instanceof Outcome.Fail)) {
            events.tell(new WindlassEvent.JobRunEnded(
                    store, claimed.topic(), claimed.id(), outcome instanceof Outcome.Done));
        }
    }

    void lost(int messages) {
        events.tell(new WindlassEvent.ClaimsLost(store, queue, messages));
    }

    void reaped(int messages) {
        events.tell(new WindlassEvent.Reaped(store, queue, messages));
    }

    void expired(int messages) {
        events.tell(new WindlassEvent.Expired(store, queue, messages));
    }

    void cleaned(int messages) {
        events.tell(new WindlassEvent.Cleaned(store, queue, messages));
    }

    void circuit(String topic, boolean open) {
        events.tell(new WindlassEvent.CircuitChanged(store, queue, topic, open));
    }

    void unhandled(String topic) {
        events.tell(new WindlassEvent.TopicUnhandled(store, queue, topic));
    }
}
