package dev.windlass.health;

import dev.windlass.base.QueueKind;
import java.time.Duration;
import java.util.Optional;

/**
 * How much there is in a queue. Counting stops at a bound: a number that has reached it means "so many, or more". So does what the whole
 * look may cost, see {@code moreTopics}.
 *
 * @param ready due now
 * @param delayed due later
 * @param waiting behind another one of its ordering key, or for an attempt that is under way elsewhere
 * @param failed dead letters
 * @param overdue due for more than five minutes
 * @param stuck in progress far beyond its lease
 * @param oldestReady for how long the oldest one is due
 * @param moreTopics whether not all topics were looked at: at least so many are ready, delayed and overdue, and an older one may be due
 */
public record QueueMeasure(
        QueueKind queue,
        long ready,
        long delayed,
        long waiting,
        long inProgress,
        long failed,
        long overdue,
        long stuck,
        Optional<Duration> oldestReady,
        boolean moreTopics) {}
