package dev.windlass.runtime;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes outcomes, many in one call. While one batch is being written the next one gathers, so batches grow with the load
 * and a lone message does not wait.
 *
 * <p>What could not be written is written again: the routines are guarded by the owner token, so the second time changes
 * nothing that the first time did.
 */
final class Completer<M> {
    private static final Logger log = LoggerFactory.getLogger(Completer.class);
    private static final int MAX_REFUSALS = 8;

    private final Database database;
    private final WorkStore<M> store;
    private final Telemetry telemetry;
    private final Workers workers;
    private final int batchSize;
    private final Written<M> written;
    private final Loop loop;
    private final ConcurrentLinkedQueue<Ended<M>> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger queued = new AtomicInteger();
    private final List<Ended<M>> batch = new ArrayList<>();
    private boolean again;
    private int refusals;

    private record Ended<M>(Attempt<M> attempt, Outcome outcome) {
        WorkStore.Held held() {
            return attempt.held();
        }

        /** It is ready again itself, or the next of its key is. */
        boolean leavesReady() {
            return outcome instanceof Outcome.Retry || outcome instanceof Outcome.Release || attempt.claimed.ordered();
        }
    }

    /** Hears of outcomes that have been written, and whether they left messages ready, now or later. */
    @FunctionalInterface
    interface Written<M> {
        void accept(List<Attempt<M>> attempts, boolean anyReady);
    }

    Completer(
            Database database,
            WorkStore<M> store,
            Telemetry telemetry,
            Workers workers,
            int batchSize,
            Written<M> written) {
        this.database = database;
        this.store = store;
        this.telemetry = telemetry;
        this.workers = workers;
        this.batchSize = batchSize;
        this.written = written;
        this.loop = new Loop("[" + database.name() + "] writing outcomes", workers, this::write);
    }

    void start() {
        loop.start();
    }

    void add(Attempt<M> attempt, Outcome outcome) {
        attempt.conclude();
        queue.add(new Ended<>(attempt, outcome));
        if (queued.getAndIncrement() == 0) {
            loop.wake();
        }
    }

    private Duration write() throws SQLException {
        fill();
        if (batch.isEmpty()) {
            return Loop.PARKED;
        }
        try {
            writeBatch();
        } catch (SQLException | RuntimeException e) {
            again = true;
            throw e;
        }
        again = false;
        List<Attempt<M>> settled = batch.stream().map(Ended::attempt).toList();
        boolean anyReady = batch.stream().anyMatch(Ended::leavesReady);
        batch.clear();
        telemetry.written(database.name(), settled.size());
        written.accept(settled, anyReady);
        return queued.get() == 0 ? Loop.PARKED : Duration.ZERO;
    }

    private void fill() {
        int taken = 0;
        for (Ended<M> ended; batch.size() < batchSize && (ended = queue.poll()) != null; taken++) {
            batch.add(ended);
        }
        queued.addAndGet(-taken);
    }

    private void writeBatch() throws SQLException {
        try {
            write(batch);
        } catch (SQLException e) {
            if (database.dialect().isTransient(e)) {
                throw e;
            }
            again = true;
            writeOneByOne(e);
        }
    }

    /**
     * One outcome that the database refuses must not hold up the others. If it refuses all, the fault may not be theirs, and they
     * are tried some more times.
     */
    private void writeOneByOne(SQLException cause) throws SQLException {
        List<Ended<M>> refused = new ArrayList<>();
        for (Ended<M> ended : batch) {
            try {
                write(List.of(ended));
            } catch (SQLException e) {
                if (database.dialect().isTransient(e)) {
                    throw e;
                }
                refused.add(ended);
            }
        }
        if (refused.size() == batch.size() && ++refusals < MAX_REFUSALS) {
            throw cause;
        }
        refusals = 0;
        refused.forEach(ended -> log.error(
                "[{}] the database refuses the outcome of message {} of topic {} ({}); its lease will run out",
                database.name(),
                ended.attempt().claimed.id(),
                ended.attempt().claimed.topic(),
                cause.getSQLState()));
    }

    private void write(List<Ended<M>> outcomes) throws SQLException {
        List<WorkStore.Held> done = new ArrayList<>(outcomes.size());
        List<WorkStore.Held> released = new ArrayList<>();
        List<WorkStore.Failure> retried = new ArrayList<>();
        List<WorkStore.Ending> failed = new ArrayList<>();
        for (Ended<M> ended : outcomes) {
            if (ended.outcome() instanceof Outcome.Done) {
                done.add(ended.held());
            } else if (ended.outcome() instanceof Outcome.Retry retry) {
                retried.add(new WorkStore.Failure(ended.held(), retry.delay(), retry.error(), retry.counted()));
            } else if (ended.outcome() instanceof Outcome.Fail fail) {
                failed.add(new WorkStore.Ending(ended.held(), fail.error(), fail.head()));
            } else {
                released.add(ended.held());
            }
        }
        int changed = write(done, store::ack)
                + write(retried, store::abandon)
                + write(failed, store::fail)
                + write(released, store::release);
        report(outcomes.size() - changed);
    }

    /** A transaction for each kind: rows are locked in the order of their ids only within one call. */
    private <T> int write(List<T> items, Verb<T> verb) throws SQLException {
        return items.isEmpty() ? 0 : database.once(connection -> verb.run(connection, items));
    }

    @FunctionalInterface
    private interface Verb<T> {
        int run(Connection connection, List<T> items) throws SQLException;
    }

    private void report(int unchanged) {
        if (unchanged > 0 && again) {
            log.debug("[{}] {} outcomes may have been written by an earlier try", database.name(), unchanged);
        } else if (unchanged > 0) {
            log.warn(
                    "[{}] {} messages had lost their lease when their outcome was written; another node may handle them"
                            + " again",
                    database.name(),
                    unchanged);
            telemetry.lost(database.name(), unchanged);
        }
    }

    /**
     * Writes what is left, as long as patience lasts; not on the caller's thread, which a database that does not answer could
     * hold for ever.
     */
    void stop(Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        if (!loop.stop(patience)) {
            log.warn("[{}] a batch of outcomes could not be written before the end", database.name());
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
                    database.name(),
                    batch.size() + queue.size(),
                    e);
        }
    }

    private boolean writeRest() throws SQLException {
        while (!batch.isEmpty() || !queue.isEmpty()) {
            write();
        }
        return true;
    }
}
