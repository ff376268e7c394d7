package dev.windlass.runtime;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a batch of outcomes, and keeps it until it has been written. Not thread-safe.
 *
 * <p>What could not be written is written again: the routines are guarded by the owner token, so the second time changes
 * nothing that the first time did.
 */
final class OutcomeWriter<M> {
    private static final Logger log = LoggerFactory.getLogger(OutcomeWriter.class);
    private static final int MAX_REFUSALS = 8;

    private final Database database;
    private final WorkStore<M> store;
    private final Telemetry telemetry;
    private final Duration lease;
    private final Results<M> results;
    private final List<Ended<M>> batch = new ArrayList<>();
    private boolean again;
    private boolean anyReady;
    private int refusals;

    record Ended<M>(Attempt<M> attempt, Outcome outcome) {
        WorkStore.Held held() {
            return attempt.held();
        }
    }

    /** Who hears of what has been written, and takes the next messages of ordering keys if there is room. */
    interface Results<M> {
        /** Outcomes have been written, and have left messages ready, now or later, or not. */
        void written(List<Attempt<M>> attempts, boolean anyReady);

        /** The topics of which this many can be taken when messages end. */
        Set<String> takes(int count);

        /**
         * These have been taken.
         *
         * @param leaseUntil when their lease runs out, by the monotonic clock
         */
        void taken(List<Claimed<M>> messages, long leaseUntil);
    }

    OutcomeWriter(Database database, WorkStore<M> store, Telemetry telemetry, Duration lease, Results<M> results) {
        this.database = database;
        this.store = store;
        this.telemetry = telemetry;
        this.lease = lease;
        this.results = results;
    }

    int size() {
        return batch.size();
    }

    void add(Ended<M> ended) {
        batch.add(ended);
    }

    void write() throws SQLException {
        if (batch.isEmpty()) {
            return;
        }
        try {
            writeBatch();
        } catch (SQLException | RuntimeException e) {
            again = true;
            throw e;
        }
        again = false;
        List<Attempt<M>> settled = batch.stream().map(Ended::attempt).toList();
        boolean ready = anyReady;
        anyReady = false;
        batch.clear();
        telemetry.written(database.name(), settled.size());
        results.written(settled, ready);
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
                database.describe(cause)));
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
        anyReady |= !retried.isEmpty()
                || !released.isEmpty()
                || failed.stream().anyMatch(ending -> ending.held().ordered());
        int changed = ack(done)
                + write(retried, store::abandon)
                + write(failed, store::fail)
                + write(released, store::release);
        report(outcomes.size() - changed);
    }

    private int ack(List<WorkStore.Held> done) throws SQLException {
        int ordered = (int) done.stream().filter(WorkStore.Held::ordered).count();
        Set<String> topics = ordered == 0 ? Set.of() : results.takes(ordered);
        if (topics.isEmpty()) {
            anyReady |= ordered > 0;
            return write(done, store::ack);
        }
        long before = System.nanoTime();
        WorkStore.Taker taker = new WorkStore.Taker(UUID.randomUUID(), lease, topics, Long.MAX_VALUE);
        WorkStore.Acked<M> acked = database.once(connection -> store.ackAndTake(connection, done, taker));
        anyReady |= acked.anyReady();
        if (!acked.taken().isEmpty()) {
            results.taken(acked.taken(), before + lease.toNanos());
        }
        return acked.answer().changed();
    }

    /** A transaction for each kind: rows are locked in the order of their ids only within one call. */
    private <T> int write(List<T> items, Verb<T> verb) throws SQLException {
        return items.isEmpty()
                ? 0
                : database.once(connection -> verb.run(connection, items)).changed();
    }

    @FunctionalInterface
    private interface Verb<T> {
        WorkStore.Answer run(Connection connection, List<T> items) throws SQLException;
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
}
