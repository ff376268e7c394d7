package dev.windlass.lease;

import dev.windlass.Deadline;
import dev.windlass.runtime.Workers;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The elections in which this node takes part. */
final class Election {
    private final String store;
    private final Acquirer acquirer;
    private final WaitingRoom room;
    private final Workers workers;
    private final Duration grace;
    private final Set<Candidate> candidates = ConcurrentHashMap.newKeySet();

    Election(String store, Acquirer acquirer, WaitingRoom room, Workers workers, Duration grace) {
        this.store = store;
        this.acquirer = acquirer;
        this.room = room;
        this.workers = workers;
        this.grace = grace;
    }

    Leadership stand(Claim claim, LeasedWork work) {
        Candidate candidate = new Candidate(store, claim, work, acquirer, room, workers, grace, candidates::remove);
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
