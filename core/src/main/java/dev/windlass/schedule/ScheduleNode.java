package dev.windlass.schedule;

import dev.windlass.Deadline;
import dev.windlass.PayloadCodec;
import dev.windlass.WindlassOptions;
import dev.windlass.outbox.OutboxNode;
import dev.windlass.runtime.Announcer;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Dispatcher;
import dev.windlass.runtime.Loops;
import dev.windlass.runtime.OwnWork;
import dev.windlass.runtime.StoredOperator;
import dev.windlass.runtime.Workers;
import dev.windlass.schema.Channel;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Internal: timers and jobs of one Windlass, put together. Programs use {@link dev.windlass.Windlass}. */
public final class ScheduleNode {
    private static final Duration LONGEST_CALL = Duration.ofMinutes(1);
    private static final Duration LONGEST_WHEN_DEAF = Duration.ofSeconds(1);

    /** Timers that are due in a minute or later are not announced; the other half is for those who commit them late. */
    private static final Duration LONGEST_SLEEP = Duration.ofSeconds(30);

    /** The notification of timers that are due soon, as the routines send it. */
    private static final String TIMERS = "\u0001timers";

    /** The one that speaks for several timers, some of which may not be committed yet. */
    private static final String TIMERS_WRITTEN = "\u0001timers written";

    /** The notification of jobs that were changed, and of runs that are ready. */
    private static final String JOBS = "\u0001jobs";

    private final StoredTimers timers;
    private final TimerHandOff timerHandOff;
    private final StoredJobs jobs;
    private final JobTicker ticker;
    private final JobSetSync sets;
    private final ScheduleMaintenance maintenance;
    private final boolean handsOff;
    private final Duration longest;
    private final Database answering;
    private final Loops loops;

    /**
     * @param table the table of the outbox to which timers and jobs belong
     * @param sets the jobs that the program brings along
     * @param own those that it brings along one by one
     * @param outbox where due timers and runs of jobs arrive
     */
    public ScheduleNode(
            Database database,
            WindlassOptions windlass,
            String table,
            ScheduleOptions options,
            List<JobSet> sets,
            List<Job> own,
            OutboxNode outbox,
            PayloadCodec codec,
            Workers workers) {
        answering = database.answeringWithin(LONGEST_CALL);
        handsOff = windlass.backgroundWorkers() && options.handOff();
        longest = longestSleep(windlass.maxPollingInterval());
        TimerStore timerStore = new TimerStore(database, table, windlass.nodeName());
        TimerStore nodesTimers = new TimerStore(answering, table, windlass.nodeName());
        timerHandOff =
                new TimerHandOff(answering, nodesTimers, options.batchSize(), longest, outbox::committed, workers);
        Announcer announcer = new Announcer(
                database, Channel.of(windlass.schemaName(), table), TIMERS_WRITTEN, workers, windlass.wakeUp());
        StoredOperator.Effects ofTimers = new StoredOperator.Effects(timerHandOff::wake, () -> {});
        timers = new StoredTimers(
                database,
                timerStore,
                timerHandOff,
                announcer,
                codec,
                ownTimers(timerStore, options),
                who -> new StoredTimerOperator(database, TimerStore.queue(table), who, ofTimers));
        JobStore jobStore = new JobStore(database, table);
        JobRunStore runStore = new JobRunStore(database, table, windlass.nodeName(), options.runRetention());
        JobRunStore nodesRuns = new JobRunStore(answering, table, windlass.nodeName(), options.runRetention());
        ticker = new JobTicker(answering, jobStore, nodesRuns, options.handOff(), longest, outbox::committed, workers);
        StoredOperator.Effects ofRuns = new StoredOperator.Effects(
                () -> {
                    ticker.wake();
                    outbox.committed();
                },
                () -> {});
        jobs = new StoredJobs(
                database,
                jobStore,
                runStore,
                ticker,
                options.handOff(),
                outbox::committed,
                codec,
                ownRuns(runStore, options),
                (its, who) -> new StoredJobOperator(database, JobRunStore.queue(table), who, ofRuns, its));
        this.sets = new JobSetSync(answering, jobStore, sets, own);
        maintenance = new ScheduleMaintenance(
                answering,
                ownTimers(nodesTimers, options),
                ownRuns(nodesRuns, options),
                nodesRuns,
                options.lease(),
                workers);
        loops = new Loops(List.of(timerHandOff.loop(), ticker.loop(), maintenance.loop()));
        if (windlass.backgroundWorkers()) {
            outbox.accompany(new Ear());
        }
    }

    private static OwnWork<Timer, TimerIdentifier> ownTimers(TimerStore store, ScheduleOptions options) {
        return new OwnWork<>(
                store,
                new OwnWork.Kind<>("timer", "timer identifiers", TimerIdentifier::value, false),
                options.lease());
    }

    private static OwnWork<ClaimedJobRun, JobRunIdentifier> ownRuns(JobRunStore store, ScheduleOptions options) {
        return new OwnWork<>(
                store, new OwnWork.Kind<>("run", "run identifiers", JobRunIdentifier::value, false), options.lease());
    }

    static Duration longestSleep(Duration maxPollingInterval) {
        return maxPollingInterval.compareTo(LONGEST_SLEEP) < 0 ? maxPollingInterval : LONGEST_SLEEP;
    }

    private final class Ear implements Dispatcher.Companion {
        @Override
        public void heard(String what) {
            switch (what) {
                case TIMERS -> timerHandOff.wake();
                case TIMERS_WRITTEN -> timerHandOff.expect();
                case JOBS -> ticker.wake();
                default -> {} // of messages
            }
        }

        @Override
        public void listening(boolean works) {
            boolean cap = !works && longest.compareTo(LONGEST_WHEN_DEAF) > 0;
            timerHandOff.limitPause(cap ? LONGEST_WHEN_DEAF : longest);
            ticker.limitPause(cap ? LONGEST_WHEN_DEAF : longest);
        }
    }

    public Timers timers() {
        return timers;
    }

    public Jobs jobs() {
        return jobs;
    }

    /** This process has committed a transaction that may have written timers or changed jobs. */
    public void committed() {
        timers.committed();
        jobs.committed();
    }

    /** Brings the program's jobs along. Fails after a moment if somebody has some of them locked. */
    public void bringJobs() throws SQLException {
        sets.run();
    }

    public void start() {
        if (handsOff) {
            timerHandOff.start();
        }
        ticker.start();
        maintenance.start();
    }

    public void askToStop() {
        timerHandOff.askToStop();
        loops.askToStop();
    }

    /** Waits for what is under way, until it is late; then breaks it off. */
    public void finish(Deadline late) {
        loops.end(late, answering);
    }

    /** Lets no call of its loops go on or begin. */
    public void abort() {
        answering.end();
    }
}
