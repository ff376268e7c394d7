package dev.windlass.internal.lease;

import dev.windlass.base.Deadline;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Workers;
import dev.windlass.lease.Leadership;
import dev.windlass.lease.LeasedWork;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** The elections in which this node takes part. */
final class Election {
    private final Database database;
    private final Acquirer acquirer;
    private final WaitingRoom room;
    private final Workers workers;
    private final Duration grace;
    private final Set<LeaderCandidate> candidates = ConcurrentHashMap.newKeySet();

    Election(Database database, Acquirer acquirer, WaitingRoom room, Workers workers, Duration grace) {
        this.database = database;
        this.acquirer = acquirer;
        this.room = room;
        this.workers = workers;
        this.grace = grace;
    }

    Leadership stand(LeaseClaim claim, LeasedWork work) {
        LeaderCandidate candidate =
                new LeaderCandidate(database, claim, work, acquirer, room, workers, grace, candidates::remove);
        candidates.add(candidate);
        candidate.start();
        return candidate;
    }

    List<Loop> loops() {
        return candidates.stream().map(LeaderCandidate::loop).toList();
    }

    void askToStop() {
        candidates.forEach(LeaderCandidate::askToStop);
    }

    /** What leaders hold; also while they give it back. */
    List<HeldLease> leases() {
        return candidates.stream()
                .flatMap(candidate -> Stream.ofNullable(candidate.lease()))
                .toList();
    }

    /** When they have been asked to stop. */
    void leave(Deadline deadline) {
        candidates.forEach(candidate -> candidate.leave(deadline));
    }
}
