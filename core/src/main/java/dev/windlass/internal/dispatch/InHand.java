package dev.windlass.internal.dispatch;

import dev.windlass.internal.queue.Claimed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Everything this node holds: claimed messages from the moment of their claim until their outcome has been written. How much more
 * it may take is its {@link Capacity}.
 *
 * <p>The way of a message: {@link #take} lets it wait in its lane, {@link #next} gives it to a worker, {@link #ended} or {@link
 * #detach} ends that, and {@link #settle} lets it go. What waits may be handed back before it starts; then its outcome, that it is
 * released, is written as any other.
 *
 * <p>Thread-safe, under the lock of the {@link Lanes}. What starts is decided by {@link Turns}.
 */
final class InHand<M> {
    private final Lanes<M> lanes;
    private final ReentrantLock lock;
    private final Turns<M> turns;
    private final Condition workersLeft;
    private final Set<Attempt<M>> attempts = new LinkedHashSet<>();
    private final IntConsumer changes;
    private int workers;
    private int detached;

    /**
     * @param changes told how many more, or less, are in hand; called under the lock
     */
    InHand(Lanes<M> lanes, IntConsumer changes) {
        this.lanes = lanes;
        this.lock = lanes.lock;
        this.turns = lanes.turns;
        this.workersLeft = lock.newCondition();
        this.changes = changes;
    }

    /** What {@link #take} made of claimed messages: how many workers to start, and what to give back. */
    record Taken<M>(int workers, List<Attempt<M>> back) {}

    /** What is to be taken. */
    Attempt<M> attempt(Claimed<M> claimed, long leaseUntil) {
        return new Attempt<>(claimed, lanes.lane(claimed.topic()), leaseUntil);
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
            attempts.addAll(all);
            changes.accept(all.size());
            all.forEach(attempt -> attempt.lane.holds(1));
            if (lanes.areClosed()) {
                return new Taken<>(0, List.copyOf(toStart));
            }
            toStart.forEach(attempt -> attempt.lane.enlist(attempt));
            long now = System.nanoTime();
            List<Attempt<M>> back = lanes.recall(now);
            return new Taken<>(hire(now), back);
        } finally {
            lock.unlock();
        }
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
            left(count);
        } finally {
            lock.unlock();
        }
    }

    private void left(int count) {
        workers -= count;
        workersLeft.signalAll();
    }

    /** The next message for a worker; none means that the worker ends. */
    @Nullable
    Attempt<M> next() {
        lock.lock();
        try {
            Attempt<M> attempt = turns.start(System.nanoTime());
            if (attempt == null) {
                left(1);
            }
            return attempt;
        } finally {
            lock.unlock();
        }
    }

    /** Lets others of its lane be handled with this one, if its handler takes several. Returns all of them, this one first. */
    List<Attempt<M>> gather(Attempt<M> attempt) {
        if (attempt.handling.most() == 1) {
            return List.of(attempt);
        }
        lock.lock();
        try {
            attempt.lane.gather(attempt, attempt.handling.most());
            List<Attempt<M>> all = new ArrayList<>(attempt.companions.size() + 1);
            all.add(attempt);
            all.addAll(attempt.companions);
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** The others that were to be handled with this one have not been, and wait again; or are given back, when nothing starts any more. */
    Taken<M> part(Attempt<M> attempt) {
        lock.lock();
        try {
            if (attempt.companions.isEmpty()) {
                return new Taken<>(0, List.of());
            }
            attempt.lane.part(attempt);
            return lanes.areClosed() ? new Taken<>(0, lanes.close()) : new Taken<>(hire(System.nanoTime()), List.of());
        } finally {
            lock.unlock();
        }
    }

    /** What the end of a handler means, and the others that it has handled in the same call. */
    record Over<M>(Breaker.Effect effect, List<Attempt<M>> companions) {}

    /** A handler has returned. Returns nothing if it had been given up: its outcome does not count, and its worker ends. */
    Optional<Over<M>> ended(Attempt<M> attempt, long tookNanos, Result result) {
        lock.lock();
        try {
            if (attempt.isDetached()) {
                detached--;
                return Optional.empty();
            }
            List<Attempt<M>> companions = attempt.lane.endTogether(attempt);
            if (!(result instanceof Result.Stopped)) {
                attempt.lane.took(tookNanos / (companions.size() + 1));
            }
            return Optional.of(new Over<>(turns.ended(attempt, result, System.nanoTime()), companions));
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
            boolean tooMany = detached >= lanes.concurrency && !lanes.areClosed();
            if (attempt.isDetached() || !attempt.isRunning() || tooMany) {
                return Optional.empty();
            }
            attempt.detach();
            detached++;
            left(1);
            return Optional.of(turns.ended(attempt, result, System.nanoTime()));
        } finally {
            lock.unlock();
        }
    }

    /** The outcomes of these have been written, or do not matter any more. Returns how many workers to start. */
    int settle(Collection<Attempt<M>> settled) {
        lock.lock();
        try {
            settled.forEach(this::settle);
            return hire(System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    private void settle(Attempt<M> attempt) {
        if (attempts.remove(attempt)) {
            attempt.lane.holds(-1);
            changes.accept(-1);
        }
        turns.settled(attempt);
    }

    /** Hands back what waits in lanes that rest. */
    List<Attempt<M>> recall() {
        lock.lock();
        try {
            return lanes.recall(System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    /** Hands back what waits in lanes that are stuck, and suspects that wait as long: another node may be free. */
    List<Attempt<M>> giveBack() {
        lock.lock();
        try {
            return lanes.giveBack();
        } finally {
            lock.unlock();
        }
    }

    /** Takes nothing more, and hands back what has not been started. */
    List<Attempt<M>> close() {
        lock.lock();
        try {
            return lanes.close();
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
                left = workersLeft.awaitNanos(left);
            }
            return workers == 0;
        } finally {
            lock.unlock();
        }
    }

    /** Nothing of what is left matters to others any more: the node has ended. */
    void abandon() {
        lock.lock();
        try {
            changes.accept(-attempts.size());
            attempts.clear();
        } finally {
            lock.unlock();
        }
    }

    /** All of it, for whoever renews and watches. */
    List<Attempt<M>> all() {
        lock.lock();
        try {
            return new ArrayList<>(attempts);
        } finally {
            lock.unlock();
        }
    }

    int size() {
        lock.lock();
        try {
            return attempts.size();
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
}
