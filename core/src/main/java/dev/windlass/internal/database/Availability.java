package dev.windlass.internal.database;

import dev.windlass.base.MonotonicClock;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.support.InWords;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the database is there, as it was last seen by whoever uses it. Many meet an outage at once; one line of the log tells of
 * it, and one of its end.
 *
 * <p>Connections die one after another, and some still answer when others are gone. So the end is told by an answer to a call that began
 * a while after the last loss.
 *
 * <p>Thread-safe.
 */
final class Availability {
    private static final Logger log = LoggerFactory.getLogger(Database.class);
    private static final long STALE_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long CALM_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long GOES_ON_NANOS = Duration.ofSeconds(5).toNanos();
    private static final long SAID_AGAIN_NANOS = Duration.ofMinutes(1).toNanos();

    private final String name;
    private final Events events;
    private final MonotonicClock clock;
    private volatile boolean away;
    private volatile long answersSince;
    private volatile long lastAnswer;
    private volatile long lastLoss;
    private volatile boolean told;
    private long awaySince;
    private long backSince;
    private long starved;

    /**
     * @param name identifies the database in logs
     */
    Availability(String name, Events events, MonotonicClock clock) {
        this.name = name;
        this.events = events;
        this.clock = clock;
        this.answersSince = clock.nanos();
        this.lastAnswer = answersSince;
        this.backSince = answersSince - STALE_NANOS;
        this.starved = answersSince - SAID_AGAIN_NANOS;
    }

    /** When a call begins whose answer is {@link #found}. */
    long now() {
        return clock.nanos();
    }

    boolean isAway() {
        return away;
    }

    /**
     * Somebody has met an outage. Connections that broke in it are found out one by one, some only after the end: that is no second
     * outage, unless it goes on.
     */
    synchronized void lost(String reason) {
        lastLoss = clock.nanos();
        if (!away && !told) {
            awaySince = lastLoss;
        }
        away = true;
        if (!told && (lastLoss - backSince >= STALE_NANOS || lastLoss - awaySince >= GOES_ON_NANOS)) {
            told = true;
            log.warn("[{}] the database is away: {}; trying again until it is back", name, reason);
            events.tell(new WindlassEvent.OutageBegan(name, reason));
        }
    }

    /** A call has been answered that began then. */
    void found(long began) {
        if (away || told) {
            answered(began);
        }
        lastAnswer = clock.nanos();
    }

    /** For how long it has been seen to answer, of the time since then: up to its last answer, and nothing while it is away. */
    Duration answeredSince(long nanos) {
        long since = answersSince - nanos > 0 ? answersSince : nanos;
        return away || lastAnswer - since < 0 ? Duration.ZERO : Duration.ofNanos(lastAnswer - since);
    }

    private synchronized void answered(long began) {
        if (away) {
            away = false;
            answersSince = clock.nanos();
        }
        if (told && began - lastLoss >= CALM_NANOS) {
            told = false;
            backSince = clock.nanos();
            Duration lasted = Duration.ofNanos(backSince - awaySince);
            log.info("[{}] the database is back after {}", name, InWords.of(lasted));
            events.tell(new WindlassEvent.OutageEnded(name, lasted));
        }
    }

    /** All who wait for a connection find out at once that there is none; a line a minute tells of it. */
    synchronized void starved(PoolTimeout timeout) {
        if (clock.nanos() - starved >= SAID_AGAIN_NANOS) {
            starved = clock.nanos();
            log.warn("[{}] {}", name, timeout.getMessage());
            events.tell(new WindlassEvent.ConnectionsExhausted(name));
        }
    }
}
