package dev.windlass.internal.dispatch;

import dev.windlass.base.Deadline;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Workers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers outcomes and has them written, many in one call. While one batch is being written the next one gathers, so batches
 * grow with the load and a lone message does not wait. When many have gathered, a second writer takes them: under ordering keys
 * the end of a message also takes the next, and then writing is all there is to do. A whole batch would be too many for that: of
 * 1,000 keys no 1,000 messages ever gather while others are being written.
 *
 * <p>What somebody has locked, or the database refuses, is put off, and a writer of its own tries it again after growing pauses:
 * no other outcome waits for it.
 */
final class Completer<M> {
    private static final Logger log = LoggerFactory.getLogger(Completer.class);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(5);
    private static final long LAST_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

    private final String name;
    private final int batchSize;
    private final int enough;
    private final OutcomeWriter<M> first;
    private final OutcomeWriter<M> second;
    private final OutcomeWriter<M> late;
    private final Loop firstLoop;
    private final Loop secondLoop;
    private final Loop lateLoop;
    private final ConcurrentLinkedQueue<Ended<M>> queue = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Ended<M>> putOff = new ConcurrentLinkedQueue<>();
    private final AtomicInteger queued = new AtomicInteger();

    /**
     * @param writers makes a writer, from where to send what it puts off
     */
    Completer(String name, Function<Completer<M>, OutcomeWriter<M>> writers, Workers workers, int batchSize) {
        this.name = name;
        this.batchSize = batchSize;
        this.enough = Math.max(100, batchSize / 4);
        this.first = writers.apply(this);
        this.second = writers.apply(this);
        this.late = writers.apply(this);
        this.firstLoop = new Loop("[" + name + "] writing outcomes", workers, this::write);
        this.secondLoop = new Loop("[" + name + "] writing more outcomes", workers, this::writeMany);
        this.lateLoop = new Loop("[" + name + "] writing outcomes that were put off", workers, this::writeLate);
    }

    void start() {
        loops().forEach(Loop::start);
    }

    List<Loop> loops() {
        return List.of(firstLoop, secondLoop, lateLoop);
    }

    void add(Attempt<M> attempt, Outcome outcome) {
        attempt.conclude();
        queue.add(new Ended<>(attempt, outcome));
        int before = queued.getAndIncrement();
        if (before == 0) {
            firstLoop.wake();
        } else if (before == enough - 1) {
            secondLoop.wake();
        }
    }

    /** Gives these back, which costs them nothing. */
    void release(List<Attempt<M>> attempts) {
        attempts.forEach(attempt -> add(attempt, new Outcome.Release()));
    }

    /** Writes these when it is their time. */
    void putOff(List<Ended<M>> ended) {
        if (!ended.isEmpty()) {
            putOff.addAll(ended);
            lateLoop.wakeWithin(SHORTEST_PAUSE);
        }
    }

    private Duration write() throws SQLException {
        fill(first);
        first.write();
        return queued.get() == 0 ? Loop.PARKED : Duration.ZERO;
    }

    private Duration writeMany() throws SQLException {
        if (queued.get() >= enough) {
            fill(second);
        }
        second.write();
        return queued.get() < enough ? Loop.PARKED : Duration.ZERO;
    }

    private void fill(OutcomeWriter<M> writer) {
        int taken = 0;
        for (Ended<M> ended; writer.size() < batchSize && (ended = queue.poll()) != null; taken++) {
            writer.add(ended);
        }
        queued.addAndGet(-taken);
    }

    private Duration writeLate() throws SQLException {
        long now = System.nanoTime();
        List<Ended<M>> early = new ArrayList<>();
        for (Ended<M> ended; late.size() < batchSize && (ended = putOff.poll()) != null; ) {
            if (ended.waitNanos(now) <= 0) {
                late.add(ended);
            } else {
                early.add(ended);
            }
        }
        putOff.addAll(early);
        late.write();
        return putOff.stream()
                .map(ended -> Duration.ofNanos(ended.waitNanos(System.nanoTime())))
                .min(Duration::compareTo)
                .map(pause -> pause.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : pause)
                .orElse(Loop.PARKED);
    }

    /** Writes what is left, until the deadline. For one thread, when no loop is at work any more. */
    void writeRest(Deadline deadline) {
        while (isAnythingLeft()
                && !deadline.hasPassed()
                && !Thread.currentThread().isInterrupted()) {
            try {
                second.write();
                do {
                    write();
                } while (!queue.isEmpty());
                writeLate();
            } catch (SQLException | RuntimeException e) {
                log.debug("[{}] the last outcomes could not be written yet", name, e);
            }
            if (isAnythingLeft()) {
                LockSupport.parkNanos(
                        Math.min(LAST_PAUSE_NANOS, deadline.remaining().toNanos()));
            }
        }
    }

    private boolean isAnythingLeft() {
        return first.size() + second.size() + late.size() > 0 || !queue.isEmpty() || !putOff.isEmpty();
    }
}
