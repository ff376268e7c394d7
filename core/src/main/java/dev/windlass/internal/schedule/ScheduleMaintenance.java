package dev.windlass.internal.schedule;

import dev.windlass.base.QueueKind;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Chore;
import dev.windlass.internal.loop.Chores;
import dev.windlass.internal.loop.Lookout;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.queue.OwnWork;
import dev.windlass.internal.queue.StuckWatch;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reaps timers and runs whose lease ran out, ends runs that nobody else will end, and deletes those that were kept long enough. */
final class ScheduleMaintenance {
    private static final Logger log = LoggerFactory.getLogger(ScheduleMaintenance.class);
    private static final Duration CLEAN_EVERY = Duration.ofMinutes(1);
    private static final Duration CLEAN_AT_LEAST_EVERY = Duration.ofMinutes(16);
    private static final long SETTLE_EVERY = Duration.ofMinutes(10).toNanos();

    private final Database database;
    private final JobRunStore runs;
    private final Chores leases;
    private final Chores leftovers;
    private final Duration reapEvery;
    private long lastSettled = System.nanoTime() - SETTLE_EVERY;
    private boolean settling;
    private volatile boolean leasedTimers;
    private volatile boolean leasedRuns;

    ScheduleMaintenance(
            Database database,
            OwnWork<?, ?> timers,
            OwnWork<?, ?> ownRuns,
            TimerStore timerStore,
            JobRunStore runs,
            Duration lease,
            Node node) {
        this.database = database;
        this.runs = runs;
        reapEvery = lease.dividedBy(3);
        String name = "[" + database.name() + "] ";
        leases = Chores.onDemand(
                name + "maintenance of leases",
                node.workers(),
                List.of(
                        new Chore(name + "reaping timers", timers::reap, timers::reaped),
                        new Chore(name + "reaping runs", ownRuns::reap, ownRuns::reaped),
                        new Chore(
                                name + "looking for stuck timers",
                                new StuckWatch(database, QueueKind.TIMERS, timerStore)::look,
                                none -> {}),
                        new Chore(
                                name + "looking for stuck runs",
                                new StuckWatch(database, QueueKind.RUNS, runs)::look,
                                none -> {})),
                () -> leasedTimers || leasedRuns ? reapEvery : Loop.PARKED);
        leftovers = node.chores(
                name + "maintenance",
                List.of(
                        new Chore(name + "ending runs", this::settle, this::settled),
                        new Chore(name + "cleaning runs", this::clean, this::cleaned)),
                CLEAN_EVERY,
                CLEAN_AT_LEAST_EVERY);
    }

    void start() {
        leases.start();
        leftovers.start();
    }

    List<Loop> loops() {
        return List.of(leases.loop(), leftovers.loop());
    }

    /** How often to look at leases. */
    Duration period() {
        return reapEvery;
    }

    /** A look has found this. Returns when to look again. */
    Duration seesTimers(Lookout.Seen seen) {
        boolean begins = seen.leased() && !leasedTimers;
        leasedTimers = seen.leased();
        return reaping(begins, leasedTimers);
    }

    Duration seesRuns(Lookout.Seen seen) {
        boolean begins = seen.leased() && !leasedRuns;
        leasedRuns = seen.leased();
        return reaping(begins, leasedRuns);
    }

    private Duration reaping(boolean begins, boolean leased) {
        if (begins) {
            leases.wake();
        }
        return leased ? reapEvery : Loop.PARKED;
    }

    /** Looks at every run that has not ended, and finds something only after somebody deleted by hand. */
    private int settle(int batch) throws SQLException {
        if (!settling && System.nanoTime() - lastSettled < SETTLE_EVERY) {
            return 0;
        }
        settling = false;
        lastSettled = System.nanoTime();
        int settled = database.once(connection -> runs.endLost(connection, batch));
        settling = settled > 0;
        return settled;
    }

    private void settled(int count) {
        log.info("[{}] ended {} runs whose message is gone", database.name(), count);
    }

    private int clean(int batch) throws SQLException {
        return database.once(connection -> runs.clean(connection, batch, Instant.MIN))
                .deleted();
    }

    private void cleaned(int count) {
        log.debug("[{}] deleted {} runs that had ended", database.name(), count);
    }
}
