package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a batch of outcomes, and keeps each until it has been written, is lost, or has been put off. Not thread-safe.
 *
 * <p>What got no answer is written again: the routines are guarded by the owner token, so the second time changes nothing that
 * the first time did. That it was lost is known only of what was never in doubt.
 */
final class OutcomeWriter<M> {
    private static final Logger log = LoggerFactory.getLogger(OutcomeWriter.class);
    private static final int MOST_NAMED = 10;

    /** So often in a row a batch, or one outcome after another, may meet what sounds like trouble of the whole database. */
    private static final int PATIENCE = 3;

    private final Database database;
    private final OutcomeCalls<M> calls;
    private final QueueEvents events;
    private final Consumer<List<Ended<M>>> putOff;
    private final Results<M> results;
    private final List<Ended<M>> batch = new ArrayList<>();
    private int answeredInVain;

    /** Who hears of what has been written. */
    @FunctionalInterface
    interface Results<M> {
        /** Outcomes have been written, and have left messages ready, now or later, or not. */
        void written(List<Attempt<M>> attempts, boolean anyReady);
    }

    /**
     * @param putOff keeps outcomes until it is time to write them
     */
    OutcomeWriter(
            Database database,
            OutcomeCalls<M> calls,
            QueueEvents events,
            Consumer<List<Ended<M>>> putOff,
            Results<M> results) {
        this.database = database;
        this.calls = calls;
        this.events = events;
        this.putOff = putOff;
        this.results = results;
    }

    int size() {
        return batch.size();
    }

    void add(Ended<M> ended) {
        batch.add(ended);
    }

    /** A transaction for each kind: rows are locked in the order of their ids only within one call. */
    void write() throws SQLException {
        Map<Class<?>, List<Ended<M>>> kinds = new LinkedHashMap<>();
        batch.forEach(ended -> kinds.computeIfAbsent(ended.outcome.getClass(), kind -> new ArrayList<>())
                .add(ended));
        try {
            for (List<Ended<M>> same : kinds.values()) {
                write(same);
            }
        } finally {
            batch.clear();
            kinds.values().forEach(batch::addAll);
        }
    }

    /**
     * Removes what is settled or put off. What sounds like trouble of the whole database may be that of one outcome, as when a
     * trigger of the user's raises it.
     */
    private void write(List<Ended<M>> same) throws SQLException {
        try {
            writeAtOnce(same);
            same.clear();
            answeredInVain = 0;
        } catch (SQLException | RuntimeException e) {
            if (isTransient(e) && !(isAnswer(e) && ++answeredInVain > PATIENCE)) {
                throw e;
            }
            writeOneByOne(same, e);
        }
    }

    private boolean isTransient(Exception e) {
        return e instanceof SQLException sql && database.dialect().isTransient(sql);
    }

    private boolean isAnswer(Exception e) {
        return e instanceof SQLException sql && database.dialect().isAnswer(sql);
    }

    /** One outcome that the database refuses must not hold up the others. */
    private void writeOneByOne(List<Ended<M>> same, Exception cause) throws SQLException {
        if (same.size() == 1) {
            refuse(same.remove(0), cause);
            return;
        }
        int inVain = 0;
        for (Iterator<Ended<M>> each = same.iterator(); each.hasNext(); ) {
            List<Ended<M>> one = List.of(each.next());
            try {
                writeAtOnce(one);
                inVain = 0;
            } catch (SQLException | RuntimeException e) {
                if (isTransient(e) && (!isAnswer(e) || ++inVain > PATIENCE)) {
                    throw e;
                }
                refuse(one.get(0), e);
            }
            each.remove();
        }
    }

    private void refuse(Ended<M> ended, Exception e) {
        boolean first = !ended.isRefused();
        if (ended.refused(System.nanoTime()) || isTransient(e)) {
            putOff.accept(List.of(ended));
            if (first) {
                log.warn(
                        "[{}] the database refuses the outcome of {} ({}); trying again", name(), name(ended), kind(e));
            }
        } else {
            log.error(
                    "[{}] the database refuses the outcome of {} ({}); its lease will run out",
                    name(),
                    name(ended),
                    kind(e));
            results.written(List.of(ended.attempt), false);
        }
    }

    private String name() {
        return database.name();
    }

    private static String name(Ended<?> ended) {
        return "message " + ended.attempt.claimed.id() + " of topic " + ended.attempt.claimed.topic();
    }

    private String kind(Exception e) {
        return e instanceof SQLException sql
                ? database.describe(sql)
                : e.getClass().getName();
    }

    private void writeAtOnce(List<Ended<M>> same) throws SQLException {
        try {
            settle(same, calls.write(same));
        } catch (Throwable e) {
            same.forEach(Ended::doubt);
            throw e;
        }
    }

    private void settle(List<Ended<M>> same, OutcomeCalls.Written written) {
        Set<UUID> locked = written.answer().locked();
        List<Attempt<M>> settled = new ArrayList<>(same.size());
        List<Ended<M>> later = new ArrayList<>();
        long now = System.nanoTime();
        for (Ended<M> ended : same) {
            if (locked.contains(ended.attempt.claimed.id())) {
                ended.locked(now);
                later.add(ended);
            } else {
                settled.add(ended.attempt);
            }
        }
        putOff.accept(later);
        if (settled.isEmpty()) {
            return;
        }
        Set<UUID> lost = written.answer().lost();
        int known = knownToBeLost(same, settled.size() - written.answer().changed(), lost);
        events.settled(same, settled.size() - known, locked, lost);
        results.written(settled, written.anyReady());
        if (known > 0) {
            tellLost(known, surelyLost(same, lost).limit(MOST_NAMED));
        }
    }

    /** What may have been written by a try whose answer was lost is not called lost. */
    private int knownToBeLost(List<Ended<M>> same, int unchanged, Set<UUID> lost) {
        if (unchanged == 0 || same.stream().noneMatch(Ended::isDoubtful)) {
            return unchanged;
        }
        int known = (int) surelyLost(same, lost).count();
        if (unchanged > known) {
            log.debug("[{}] {} outcomes may have been written by an earlier try", name(), unchanged - known);
        }
        return known;
    }

    private Stream<Ended<M>> surelyLost(List<Ended<M>> same, Set<UUID> lost) {
        return same.stream().filter(ended -> !ended.isDoubtful() && lost.contains(ended.attempt.claimed.id()));
    }

    private void tellLost(int count, Stream<Ended<M>> some) {
        log.warn(
                "[{}] {} messages had lost their lease when their outcome was written; another node may handle them again{}",
                name(),
                count,
                some.map(OutcomeWriter::name).collect(Collectors.joining(", ", ": ", "")));
        events.lost(count);
    }
}
