package dev.windlass.internal.lease;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.schema.Channel;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.lease.Leases;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Internal: the leases of one Windlass, put together. Programs use {@link dev.windlass.Windlass}. */
public final class LeaseNode {
    private final StoredLeases leases;
    private final LeaseRunner runner;
    private final Releaser releaser;
    private final WaitingRoom room;
    private final Acquirer acquirer;
    private final Election election;
    private final LeaseCleaner cleaner;
    private final Set<HeldLease> ending = ConcurrentHashMap.newKeySet();

    public LeaseNode(
            Database database, Node node, WindlassOptions windlass, LeaseOptions options, MonotonicClock clock) {
        this(database, node, windlass, options, clock, TrustWindow.WALL);
    }

    LeaseNode(
            Database database,
            Node node,
            WindlassOptions windlass,
            LeaseOptions options,
            MonotonicClock clock,
            InstantSource wall) {
        Workers workers = node.workers();
        String table = options.tableName();
        LeaseStore store = new LeaseStore(database, table);
        room = new WaitingRoom(node.signals(), Channel.of(windlass.schemaName(), table), windlass.maxPollingInterval());
        releaser = new Releaser(database, store, workers, room::freed);
        runner = new LeaseRunner(database, store, node, clock, wall, options.renewAt(), releaser);
        cleaner = new LeaseCleaner(database, store, workers, options.retention());
        acquirer = new Acquirer(database, store, runner, room, clock, cleaner);
        election = new Election(database, acquirer, room, workers, windlass.shutdownGrace());
        leases = new StoredLeases(database, store, acquirer, election, windlass.nodeName());
    }

    public Leases leases() {
        return leases;
    }

    /** All that runs in the background, elections included. */
    public List<Loop> loops() {
        List<Loop> loops = new ArrayList<>(runner.loops());
        loops.add(releaser.loop());
        loops.add(cleaner.loop());
        loops.addAll(election.loops());
        return loops;
    }

    /** How often in a row it was tried in vain to renew what is held. */
    public int renewalFailures() {
        return runner.failures();
    }

    /** Asks leaders, whose work ends only when it is asked to. Waits for nothing. */
    public void askLeadersToStop() {
        ending.addAll(election.leases());
        election.askToStop();
    }

    /** Gives out no more leases, and asks all work under leases to stop. */
    public void askToStop() {
        acquirer.close();
        releaser.hurry();
        room.freed("");
        cleaner.askToStop();
        runner.held().forEach(HeldLease::askToStop);
        runner.held().stream().filter(HeldLease::hasWork).forEach(ending::add);
        ending.removeIf(lease -> lease.isWorkOf(Thread.currentThread())); // which closes it when it ends
    }

    /** Returns whether all work under leases has ended by then. */
    public boolean awaitWork(Deadline deadline) throws InterruptedException {
        boolean ended = true;
        for (HeldLease lease : ending) {
            ended &= lease.awaitWork(deadline);
        }
        return ended;
    }

    /** Interrupts work whose time is up. If it goes on even then, so does the lease, until it is not renewed any more. */
    public void interruptWork() {
        ending.forEach(HeldLease::interrupt);
    }

    /** Releases what is held, when work under leases has ended. */
    public void finish(Deadline end) {
        ending.stream().filter(HeldLease::isAtWork).forEach(runner::doesNotStop);
        for (HeldLease lease : List.copyOf(runner.held())) {
            if (!lease.hasWork() && !Thread.currentThread().isInterrupted()) {
                lease.lose(LossReason.NODE_CLOSED);
                lease.close();
            }
        }
        election.leave(end);
        room.freed("");
        cleaner.finish(end);
        runner.finish(end);
        releaser.finish(end);
    }

    /** Ends all calls that hang. */
    public void abort() {
        releaser.abort();
    }
}
