package dev.windlass.internal.schedule;

import dev.windlass.base.Deadline;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Announcer;
import dev.windlass.internal.loop.Lookout;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Loops;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Signal;
import dev.windlass.internal.loop.Signals;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.outbox.OutboxNode;
import dev.windlass.internal.queue.OwnWork;
import dev.windlass.internal.queue.StoredOperator;
import dev.windlass.internal.schema.Channel;
import dev.windlass.schedule.ClaimedJobRun;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.Timers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Internal: timers and jobs of one Windlass, put together. Programs use {@link dev.windlass.Windlass}. */
public final class ScheduleNode {
    private static final Duration LONGEST_CALL = Duration.ofMinutes(1);

    private final StoredTimers timers;
    private final TimerHandOff timerHandOff;
    private final StoredJobs jobs;
    private final JobTicker ticker;
    private final JobSetSync sets;
    private final ScheduleMaintenance maintenance;
    private final boolean handsOff;
    private final boolean handsOffRuns;
    private final Database answering;
    private final TimerStore nodesTimers;
    private final JobRunStore nodesRuns;
    private final Loops loops;
    private final Signals signals;
    private final Lookout lookout;
    private final String timerChannel;
    private final String jobChannel;

    /**
     * @param table the table of the outbox to which timers and jobs belong
     * @param sets the jobs that the program brings along
     * @param own those that it brings along one by one
     * @param outbox where due timers and runs of jobs arrive
     */
    public ScheduleNode(
            Database database,
            Node node,
            WindlassOptions windlass,
            String table,
            ScheduleOptions options,
            List<JobSet> sets,
            List<Job> own,
            OutboxNode outbox,
            PayloadCodec codec) {
        Workers workers = node.workers();
        signals = node.signals();
        lookout = node.lookout();
        timerChannel = Channel.of(windlass.schemaName(), TimerStore.queue(table));
        jobChannel = Channel.of(windlass.schemaName(), JobRunStore.queue(table));
        answering = database.answeringWithin(LONGEST_CALL);
        handsOff = windlass.backgroundWorkers() && options.handOff();
        handsOffRuns = options.handOff();
        TimerStore timerStore = new TimerStore(database, table, windlass.nodeName());
        nodesTimers = new TimerStore(answering, table, windlass.nodeName());
        timerHandOff = new TimerHandOff(answering, nodesTimers, options.batchSize(), outbox::committed, node);
        Announcer announcer = new Announcer(database, timerChannel, workers, windlass.wakeUp());
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
        nodesRuns = new JobRunStore(answering, table, windlass.nodeName(), options.runRetention());
        ticker = new JobTicker(answering, jobStore, nodesRuns, options.handOff(), outbox::committed, node);
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
                nodesTimers,
                nodesRuns,
                options.lease(),
                node);
        List<Loop> all = new ArrayList<>(maintenance.loops());
        all.add(timerHandOff.loop());
        all.add(ticker.loop());
        loops = new Loops(all);
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

    /** What a look at all features asks of timers, and what follows from it. */
    private final class TimerWatcher implements Lookout.Watcher {
        @Override
        public Duration period() {
            return maintenance.period();
        }

        @Override
        public Call asks(Connection connection) {
            return nodesTimers.look(connection, null, handsOff && timerHandOff.isResting());
        }

        @Override
        public Duration sees(Lookout.Seen seen) {
            return min(handsOff ? timerHandOff.sees(seen) : Loop.PARKED, maintenance.seesTimers(seen));
        }
    }

    /** The same for runs, and for the jobs that make them. */
    private final class JobWatcher implements Lookout.Watcher {
        @Override
        public Duration period() {
            return maintenance.period();
        }

        @Override
        public Call asks(Connection connection) {
            return nodesRuns.look(connection, ticker.isResting() ? List.of() : null, handsOffRuns);
        }

        @Override
        public Duration sees(Lookout.Seen seen) {
            seen.dueIn().ifPresent(ticker::due);
            return maintenance.seesRuns(seen);
        }
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    private void heardOfTimers(Signal signal) {
        if (signal.kind() == Signal.Kind.READY) {
            timerHandOff.expect();
        }
        timerHandOff.wake();
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
        sets.run(ticker::wake);
    }

    public void start() {
        if (handsOff) {
            timerHandOff.start();
            signals.subscribe(timerChannel, this::heardOfTimers);
        }
        ticker.start();
        signals.subscribe(jobChannel, signal -> ticker.wake());
        maintenance.start();
        lookout.add(new TimerWatcher());
        lookout.add(new JobWatcher());
    }

    /** All that runs here in the background. */
    public List<Loop> loops() {
        return loops.all();
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
