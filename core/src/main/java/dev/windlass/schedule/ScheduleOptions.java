package dev.windlass.schedule;

import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * How timers and jobs work.
 *
 * @param handOff whether this node lets due timers and runs of jobs become messages of the outbox; off for programs that claim
 *     and handle them themselves
 * @param batchSize how many timers become messages in one transaction at most
 * @param lease how long after a start of the database server no claim of a timer or run is taken back
 * @param runRetention how long ended runs of jobs are kept; the last one of each job stays
 */
public record ScheduleOptions(boolean handOff, int batchSize, Duration lease, Duration runRetention) {

    public ScheduleOptions {
        Require.positive("batch size", batchSize);
        Require.positive("lease", lease);
        Require.notNegative("retention of runs", runRetention);
    }

    public static ScheduleOptions defaults() {
        return new ScheduleOptions(true, 1000, Duration.ofSeconds(30), Duration.ofDays(90));
    }

    public ScheduleOptions withHandOff(boolean handOff) {
        return new ScheduleOptions(handOff, batchSize, lease, runRetention);
    }

    public ScheduleOptions withBatchSize(int batchSize) {
        return new ScheduleOptions(handOff, batchSize, lease, runRetention);
    }

    public ScheduleOptions withLease(Duration lease) {
        return new ScheduleOptions(handOff, batchSize, lease, runRetention);
    }

    public ScheduleOptions withRunRetention(Duration runRetention) {
        return new ScheduleOptions(handOff, batchSize, lease, runRetention);
    }
}
