package dev.windlass.internal.schedule;

import dev.windlass.schedule.Job;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Overlap;
import dev.windlass.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A job as it is written, with the ticks that count if it is new or its times have changed.
 */
record JobColumns(
        Job job,
        @Nullable String cron,
        @Nullable String zone,
        @Nullable Duration period,
        @Nullable Instant anchor,
        Instant nextTick,
        Instant firesAt,
        int misfire,
        @Nullable Integer misfireRuns,
        @Nullable Duration misfireAfter,
        int overlap) {

    /**
     * @param now the database's clock
     * @param part of the job's jitter
     */
    static JobColumns of(Job job, Instant now, Duration part) {
        Instant next = Ticks.of(job.schedule(), now).next(now);
        Schedule.Cron cron = job.schedule() instanceof Schedule.Cron its ? its : null;
        Duration period = job.schedule() instanceof Schedule.Every every ? every.period() : null;
        Misfire.All all = job.misfire() instanceof Misfire.All its ? its : null;
        Duration after = job.misfire() instanceof Misfire.Skip skip ? skip.later() : null;
        return new JobColumns(
                job,
                cron == null ? null : cron.expression().toString(),
                cron == null ? null : cron.zone().getId(),
                period,
                period == null ? null : now,
                next,
                next.plus(part),
                all != null ? 1 : after != null ? 2 : 0,
                all == null ? null : all.max(),
                after,
                number(job.overlap()));
    }

    private static int number(Overlap overlap) {
        return switch (overlap) {
            case ALLOW -> 0;
            case SKIP -> 1;
            case DELAY -> 2;
        };
    }

    String topic() {
        return Objects.requireNonNull(job.topic());
    }
}
