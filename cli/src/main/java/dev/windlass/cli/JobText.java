package dev.windlass.cli;

import dev.windlass.base.WorkStatus;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/** Jobs and their runs in words. */
final class JobText {

    private JobText() {}

    /** As it was written, and what that means. */
    static String schedule(Job job) {
        if (job.schedule() instanceof Schedule.Cron cron) {
            return cron.expression() + " (" + cron.expression().describe() + ")";
        }
        return job.schedule() instanceof Schedule.Every every
                ? "every " + Span.exact(every.period())
                : ((Schedule.Unreadable) job.schedule()).cron();
    }

    static Optional<String> zone(Job job) {
        if (job.schedule() instanceof Schedule.Cron cron) {
            return Optional.of(cron.zone().getId());
        }
        return job.schedule() instanceof Schedule.Unreadable unreadable
                ? Optional.of(unreadable.zone())
                : Optional.empty();
    }

    /** Also what no node has met yet. */
    static Optional<String> problem(JobState job) {
        return job.problem()
                .or(() -> job.job().schedule() instanceof Schedule.Unreadable unreadable
                        ? Optional.of(unreadable.why())
                        : Optional.empty());
    }

    static String misfire(Job job) {
        if (job.misfire() instanceof Misfire.All all) {
            return "a run for each missed tick, for the latest %,d at most".formatted(all.max());
        }
        return job.misfire() instanceof Misfire.Skip skip
                ? "no run for a tick that is more than " + Span.exact(skip.later()) + " late"
                : "one run for all missed ticks";
    }

    static String overlap(Job job) {
        return switch (job.overlap()) {
            case ALLOW -> "runs may overlap";
            case SKIP -> "ticks are skipped while a run is unfinished";
            case DELAY -> "the period counts from the end of the last run";
        };
    }

    static String status(JobRun run) {
        return run.status().name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** What became of it, and when. */
    static String outcome(JobRun run) {
        Instant when = run.endedAt().or(run::startedAt).orElse(run.createdAt());
        return status(run) + " " + Printable.seconds(when);
    }

    /** From the start of its last attempt; of one that is going on, so far. */
    static Optional<Duration> took(JobRun run, Instant now) {
        return run.startedAt()
                .filter(started -> run.endedAt().isPresent() || run.status() == WorkStatus.IN_PROGRESS)
                .map(started -> Duration.between(started, run.endedAt().orElse(now)));
    }

    /** Those that failed, and the one that is going on or was the last. */
    static int attempts(JobRun run) {
        return switch (run.status()) {
            case READY, WAITING, CANCELLED -> run.retryCount();
            case IN_PROGRESS, DONE, FAILED ->
                run.retryCount() + (run.startedAt().isPresent() ? 1 : 0);
        };
    }
}
