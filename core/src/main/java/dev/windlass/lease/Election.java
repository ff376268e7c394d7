package dev.windlass.lease;

import dev.windlass.Deadline;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Workers;
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
    private final Set<Candidate> candidates = ConcurrentHashMap.newKeySet();

    Election(Database database, Acquirer acquirer, WaitingRoom room, Workers workers, Duration grace) {
        this.database = database;
        this.acquirer = acquirer;
        this.room = room;
        this.workers = workers;
        this.grace = grace;
    }

    Leadership stand(Claim claim, LeasedWork work) {
        Candidate candidate = new Candidate(database, claim, work, acquirer, room, workers, grace, candidates::remove);
        candidates.add(candidate);
        candidate.start();
        return candidate;
    }

    void askToStop() {
        candidates.forEach(Candidate::askToStop);
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
