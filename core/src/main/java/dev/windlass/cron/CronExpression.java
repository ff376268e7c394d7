package dev.windlass.cron;

import java.time.Instant;
import java.time.ZoneId;
import java.util.Objects;
import java.util.Optional;

/**
 * A cron expression: says when something runs, in the local time of a zone. The package's description explains what can be
 * written, and what happens when clocks are changed.
 *
 * <p>Immutable, and safe to be used by several threads. Two expressions are equal when their texts are.
 */
public final class CronExpression {
    private final String text;
    private final Fields fields;
    private final LocalTimes times;
    private final boolean interval;

    private CronExpression(String text, Fields fields) {
        this.text = text;
        this.fields = fields;
        this.times = new LocalTimes(fields.days(), fields.times());
        this.interval = fields.interval();
    }

    /**
     * Reads an expression of five fields (minute, hour, day of month, month, day of week), of six with the second in front, or
     * a macro like {@code @daily}.
     *
     * @throws CronSyntaxException if it is none, or describes dates that never come, like 30 February
     */
    public static CronExpression parse(String text) {
        Objects.requireNonNull(text, "expected a cron expression, got null");
        return new CronExpression(text, Parser.parse(text));
    }

    /** The first run after a moment; never at it. Empty only when there is none before the year 10000. */
    public Optional<Instant> next(Instant after, ZoneId zone) {
        return instant(timeline(zone).first(after.getEpochSecond() + 1));
    }

    /** The last run before a moment; never at it. Empty only when there is none since the year 1. */
    public Optional<Instant> previous(Instant before, ZoneId zone) {
        long second = before.getEpochSecond();
        return instant(timeline(zone).last(before.getNano() == 0 ? second - 1 : second));
    }

    private Timeline timeline(ZoneId zone) {
        return new Timeline(times, interval, zone.getRules());
    }

    private static Optional<Instant> instant(long second) {
        return second == Timeline.NONE ? Optional.empty() : Optional.of(Instant.ofEpochSecond(second));
    }

    /** In words, for people: "every weekday at 18:00". Not meant to be parsed; the words may change. */
    public String describe() {
        return new Description(fields).text();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CronExpression that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** The expression as it was given. */
    @Override
    public String toString() {
        return text;
    }
}
