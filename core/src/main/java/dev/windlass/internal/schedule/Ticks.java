package dev.windlass.internal.schedule;

import dev.windlass.base.WindlassException;
import dev.windlass.cron.CronExpression;
import dev.windlass.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The moments at which a job is to run, as arithmetic. */
interface Ticks {
    /** The first tick after a moment, never at it. */
    Instant next(Instant after);

    /** The last tick before a moment, never at it. */
    Optional<Instant> previous(Instant before);

    /** How many ticks lie after a moment, up to and at another one; counting may stop at {@code most}. */
    long count(Instant after, Instant until, long most);

    /**
     * The ticks of a schedule.
     *
     * @param anchor the moment from which the ticks of a period are counted
     */
    static Ticks of(Schedule schedule, @Nullable Instant anchor) {
        if (schedule instanceof Schedule.Cron cron) {
            return new OfCron(cron.expression(), cron.zone());
        }
        if (schedule instanceof Schedule.Every every) {
            return new OfPeriod(Objects.requireNonNull(anchor), every.period());
        }
        Schedule.Unreadable unreadable = (Schedule.Unreadable) schedule;
        throw new WindlassException(unreadable.why());
    }

    /** The ticks of a cron expression. */
    record OfCron(CronExpression expression, ZoneId zone) implements Ticks {
        @Override
        public Instant next(Instant after) {
            return expression
                    .next(after, zone)
                    .orElseThrow(() -> new WindlassException("no tick of " + expression + " comes after " + after));
        }

        @Override
        public Optional<Instant> previous(Instant before) {
            return expression.previous(before, zone);
        }

        @Override
        public long count(Instant after, Instant until, long most) {
            long count = 0;
            Instant tick = next(after);
            while (!tick.isAfter(until) && count < most) {
                count++;
                tick = next(tick);
            }
            return count;
        }
    }

    /** Ticks at one distance from each other, the first of them one period after the anchor. */
    record OfPeriod(Instant anchor, Duration period) implements Ticks {
        @Override
        public Instant next(Instant after) {
            return tick(Math.max(1, numberAt(after) + 1));
        }

        @Override
        public Optional<Instant> previous(Instant before) {
            long number = numberAt(before.minusNanos(1));
            return number < 1 ? Optional.empty() : Optional.of(tick(number));
        }

        @Override
        public long count(Instant after, Instant until, long most) {
            return Math.max(0, numberAt(until)) - Math.max(0, numberAt(after));
        }

        private Instant tick(long number) {
            return anchor.plus(period.multipliedBy(number));
        }

        /** Of the last tick that is not after a moment; that of the anchor is 0. */
        private long numberAt(Instant moment) {
            return Math.floorDiv(Duration.between(anchor, moment).toNanos(), period.toNanos());
        }
    }
}
