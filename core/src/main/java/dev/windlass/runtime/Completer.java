package dev.windlass.runtime;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers outcomes and has them written, many in one call. While one batch is being written the next one gathers, so batches
 * grow with the load and a lone message does not wait. When many have gathered, a second writer takes them: under ordering keys
 * the end of a message also takes the next, and then writing is all there is to do. A whole batch would be too many for that: of
 * 1,000 keys no 1,000 messages ever gather while others are being written.
 */
final class Completer<M> {
    private static final Logger log = LoggerFactory.getLogger(Completer.class);

    private final String name;
    private final Workers workers;
    private final int batchSize;
    private final int enough;
    private final OutcomeWriter<M> first;
    private final OutcomeWriter<M> second;
    private final Loop firstLoop;
    private final Loop secondLoop;
    private final ConcurrentLinkedQueue<OutcomeWriter.Ended<M>> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger queued = new AtomicInteger();

    Completer(String name, Supplier<OutcomeWriter<M>> writers, Workers workers, int batchSize) {
        this.name = name;
        this.workers = workers;
        this.batchSize = batchSize;
        this.enough = Math.max(100, batchSize / 4);
        this.first = writers.get();
        this.second = writers.get();
        this.firstLoop = new Loop("[" + name + "] writing outcomes", workers, this::write);
        this.secondLoop = new Loop("[" + name + "] writing more outcomes", workers, this::writeMany);
    }

    void start() {
        firstLoop.start();
        secondLoop.start();
    }

    void add(Attempt<M> attempt, Outcome outcome) {
        attempt.conclude();
        queue.add(new OutcomeWriter.Ended<>(attempt, outcome));
        int before = queued.getAndIncrement();
        if (before == 0) {
            firstLoop.wake();
        } else if (before == enough - 1) {
            secondLoop.wake();
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
        for (OutcomeWriter.Ended<M> ended; writer.size() < batchSize && (ended = queue.poll()) != null; taken++) {
            writer.add(ended);
        }
        queued.addAndGet(-taken);
    }

    /**
     * Writes what is left, as long as patience lasts; not on the caller's thread, which a database that does not answer could
     * hold for ever.
     */
    void stop(Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        boolean idle = firstLoop.stop(patience);
        if (!secondLoop.stop(Duration.ofNanos(Math.max(0, deadline - System.nanoTime()))) || !idle) {
            log.warn("[{}] a batch of outcomes could not be written before the end", name);
            return;
        }
        FutureTask<Boolean> rest = new FutureTask<>(this::writeRest);
        try {
            workers.runLoop(rest);
            rest.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException | RejectedExecutionException e) {
            log.warn(
                    "[{}] {} outcomes could not be written before the end; their leases will run out",
                    name,
                    first.size() + second.size() + queue.size(),
                    e);
        }
    }

    private boolean writeRest() throws SQLException {
        second.write();
        while (first.size() > 0 || !queue.isEmpty()) {
            write();
        }
        return true;
    }
}
