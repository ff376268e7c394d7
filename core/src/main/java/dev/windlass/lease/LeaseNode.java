package dev.windlass.lease;

import dev.windlass.Deadline;
import dev.windlass.MonotonicClock;
import dev.windlass.WindlassOptions;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Workers;
import dev.windlass.schema.Channel;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

/** Internal: the leases of one Windlass, put together. Programs use {@link dev.windlass.Windlass}. */
public final class LeaseNode {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final StoredLeases leases;
    private final LeaseRunner runner;
    private final Releaser releaser;
    private final WaitingRoom room;
    private final Acquirer acquirer;
    private final Election election;
    private final LeaseCleaner cleaner;
    private final Duration grace;

    /**
     * @param background gives the connections that are kept: for renewals and notifications
     */
    public LeaseNode(
            Database database,
            Database background,
            WindlassOptions windlass,
            LeaseOptions options,
            MonotonicClock clock,
            Workers workers) {
        this(database, background, windlass, options, clock, TrustWindow.WALL, workers);
    }

    LeaseNode(
            Database database,
            Database background,
            WindlassOptions windlass,
            LeaseOptions options,
            MonotonicClock clock,
            InstantSource wall,
            Workers workers) {
        String table = options.tableName();
        LeaseStore store = new LeaseStore(database, table);
        grace = windlass.shutdownGrace();
        room = new WaitingRoom(
                background,
                Channel.of(windlass.schemaName(), table),
                workers,
                windlass.wakeUp(),
                windlass.maxPollingInterval());
        releaser = new Releaser(database, store, workers, room::heard);
        runner = new LeaseRunner(database, background, store, workers, clock, wall, options.renewAt(), releaser);
        cleaner = new LeaseCleaner(database, store, workers, options.retention());
        acquirer = new Acquirer(database, store, runner, room, clock, cleaner);
        election = new Election(database, acquirer, room, workers, grace);
        leases = new StoredLeases(database, store, acquirer, election, windlass.nodeName());
    }

    public Leases leases() {
        return leases;
    }

    /**
     * Lets work under leases finish within the grace period, and releases what is held. Leaders go first, since their work
     * ends only when it is asked to.
     */
    public void stop() {
        acquirer.close();
        releaser.hurry();
        room.heard("");
        runner.held().forEach(HeldLease::askToStop);
        Deadline deadline = Deadline.in(MonotonicClock.system(), grace);
        election.close(deadline);
        for (HeldLease lease : List.copyOf(runner.held())) {
            if (lease.isWorkOf(Thread.currentThread())) {
                continue; // which closes it when it ends
            }
            if (lease.hasWork()) {
                lease.endWork(deadline);
            } else {
                lease.lose(Loss.NODE_CLOSED);
                lease.close();
            }
        }
        cleaner.stop(PATIENCE);
        runner.stop(PATIENCE);
        releaser.stop(PATIENCE);
        room.stop(PATIENCE);
    }
}
