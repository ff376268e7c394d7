package dev.windlass.lease;

import dev.windlass.Deadline;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Workers;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

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

    /** All are asked first, so that they stop side by side. */
    void close(Deadline deadline) {
        candidates.forEach(Candidate::askToStop);
        candidates.forEach(candidate -> candidate.close(deadline));
    }
}
