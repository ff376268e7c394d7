package dev.windlass.schedule;

import dev.windlass.internal.support.InWords;
import dev.windlass.internal.support.JobDurations;
import dev.windlass.internal.support.Require;
import java.time.Duration;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * Work that is done again and again: at each of its ticks, a run becomes a message for the handler of its topic.
 *
 * <pre>{@code
 * Job.cron("nightly-report", "0 2 * * *", ZoneId.of("Europe/Berlin")).withTopic("report.run")
 * }</pre>
 *
 * @param name what it is known by; up to 255 characters
 * @param schedule when it runs
 * @param topic chooses the handler; up to 255 characters; a job cannot be saved without
 * @param payload of the messages; any text, also empty
 * @param misfire what becomes of ticks that were missed
 * @param overlap what becomes of ticks while a run is unfinished; {@link Overlap#DELAY} needs a period
 * @param jitter each tick fires later by a part of this, by chance; at most a day
 */
public record Job(
        String name,
        Schedule schedule,
        @Nullable String topic,
        String payload,
        Misfire misfire,
        Overlap overlap,
        Duration jitter) {

    private static final int MAX_TEXT = 255;
    private static final Duration LONGEST_JITTER = Duration.ofDays(1);

    public Job {
        Require.name("job name", name, MAX_TEXT);
        Require.present("schedule", schedule);
        if (topic != null) {
            Require.name("topic", topic, MAX_TEXT);
        }
        Require.storable("payload", payload);
        Require.present("rule for misfires", misfire);
        Require.present("rule for overlaps", overlap);
        if (overlap == Overlap.DELAY && schedule instanceof Schedule.Cron) {
            throw new IllegalArgumentException("expected job \"" + name
                    + "\" to have a period, which Overlap.DELAY counts from the end of a run, got a cron expression; make it with"
                    + " Job.every(...), or take Overlap.SKIP");
        }
        JobDurations.wholeMillis("jitter", Require.notNegative("jitter", jitter));
        if (jitter.compareTo(LONGEST_JITTER) > 0) {
            throw new IllegalArgumentException("expected a jitter of at most a day, got " + jitter);
        }
    }

    /**
     * A job that runs at the times of a cron expression, in the local time of a zone.
     *
     * @throws dev.windlass.cron.CronSyntaxException if the expression is none, or names dates that never come
     */
    public static Job cron(String name, String expression, ZoneId zone) {
        return of(name, Schedule.Cron.parse(expression, zone));
    }

    /**
     * A job that runs again and again at this distance, which is a second or more: from one start to the next, or, with
     * {@link Overlap#DELAY}, from the end of a run to the start of the next.
     */
    public static Job every(String name, Duration period) {
        return of(name, new Schedule.Every(period));
    }

    private static Job of(String name, Schedule schedule) {
        return new Job(name, schedule, null, "{}", Misfire.once(), Overlap.ALLOW, Duration.ZERO);
    }

    public Job withTopic(String topic) {
        return new Job(name, schedule, Require.present("topic", topic), payload, misfire, overlap, jitter);
    }

    public Job withPayload(String payload) {
        return new Job(name, schedule, topic, payload, misfire, overlap, jitter);
    }

    public Job withMisfire(Misfire misfire) {
        return new Job(name, schedule, topic, payload, misfire, overlap, jitter);
    }

    public Job withOverlap(Overlap overlap) {
        return new Job(name, schedule, topic, payload, misfire, overlap, jitter);
    }

    public Job withJitter(Duration jitter) {
        return new Job(name, schedule, topic, payload, misfire, overlap, jitter);
    }

    /** Refuses what cannot be saved: a job without a topic, or one whose times nobody understands. */
    public Job complete() {
        if (topic == null) {
            throw new IllegalArgumentException(
                    "expected job \"" + name + "\" to have a topic, got none; say which with withTopic(...)");
        }
        if (schedule instanceof Schedule.Unreadable unreadable) {
            throw new IllegalArgumentException("expected job \"" + name + "\" to have readable times, got " + unreadable
                    + ": " + unreadable.why());
        }
        return this;
    }

    /** Without payload: what may go into a log. */
    @Override
    public String toString() {
        Object times = schedule instanceof Schedule.Every every ? "every " + InWords.of(every.period()) : schedule;
        return "Job[" + name + ", " + times + ", topic=" + topic + "]";
    }
}
