package dev.windlass.schedule;

import dev.windlass.WindlassOptions;
import dev.windlass.outbox.OutboxNode;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Dispatcher;
import dev.windlass.runtime.Workers;
import java.time.Duration;

/** Internal: timers and jobs of one Windlass, put together. Programs use {@link dev.windlass.Windlass}. */
public final class ScheduleNode {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration LONGEST_CALL = Duration.ofMinutes(1);
    private static final Duration LONGEST_WHEN_DEAF = Duration.ofSeconds(1);
    /** The notification of timers that are due soon, as the routines send it. */
    private static final String TIMERS = "\u0001timers";

    private final StoredTimers timers;
    private final TimerHandOff timerHandOff;
    private final boolean handsOff;
    private final Duration longest;

    /**
     * @param table the table of the outbox to which timers and jobs belong
     * @param outbox where due timers and runs of jobs arrive
     */
    public ScheduleNode(
            Database database,
            WindlassOptions windlass,
            String table,
            ScheduleOptions options,
            OutboxNode outbox,
            Workers workers) {
        Database answering = database.answeringWithin(LONGEST_CALL);
        TimerStore timerStore = new TimerStore(database, table);
        handsOff = windlass.backgroundWorkers() && options.handOff();
        longest = windlass.maxPollingInterval();
        timerHandOff =
                new TimerHandOff(answering, timerStore, options.batchSize(), longest, outbox::committed, workers);
        timers = new StoredTimers(database, timerStore, timerHandOff, handsOff, outbox.announcer(), options.lease());
        if (handsOff) {
            outbox.accompany(new Ear());
        }
    }

    private final class Ear implements Dispatcher.Companion {
        @Override
        public void heard(String what) {
            if (what.isEmpty()) {
                timerHandOff.expect();
            } else if (what.equals(TIMERS)) {
                timerHandOff.wake();
            }
        }

        @Override
        public void listening(boolean works) {
            boolean cap = !works && longest.compareTo(LONGEST_WHEN_DEAF) > 0;
            timerHandOff.limitPause(cap ? LONGEST_WHEN_DEAF : longest);
        }
    }

    public Timers timers() {
        return timers;
    }

    /** This process has committed a transaction that may have written timers. */
    public void committed() {
        timers.committed();
    }

    public void start() {
        if (handsOff) {
            timerHandOff.start();
        }
    }

    public void stop() {
        timerHandOff.stop(PATIENCE);
    }
}
