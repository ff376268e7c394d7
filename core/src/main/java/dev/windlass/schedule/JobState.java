package dev.windlass.schedule;

import java.time.Instant;
import java.util.Optional;

/**
 * A job as it is stored, and how it is doing.
 *
 * @param nextTick the next moment at which it is to run; empty while it is paused
 * @param firesAt the same, later by its jitter
 * @param pausedAt since when it rests
 * @param lastRun the run that was made last, as it is now
 * @param skippedTicks how many ticks made no run, by the rules for misfires and overlaps; of one long outage, a cron expression's
 *     are counted to 10,000
 * @param problem why its ticks cannot be computed or taken; empty when all is well
 * @param jobSet the set of jobs that brought it along
 */
public record JobState(
        Job job,
        Optional<Instant> nextTick,
        Optional<Instant> firesAt,
        Optional<Instant> pausedAt,
        Optional<JobRun> lastRun,
        long skippedTicks,
        Optional<Instant> lastSkippedAt,
        Optional<String> problem,
        Optional<String> jobSet,
        Instant createdAt,
        Instant updatedAt) {

    public String name() {
        return job.name();
    }

    public boolean isPaused() {
        return pausedAt.isPresent();
    }
}
