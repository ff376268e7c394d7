package dev.windlass.internal.database;

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
 * <p>Thread-safe.
 */
final class Availability {
    private static final Logger log = LoggerFactory.getLogger(Database.class);
    private static final long STALE_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long SAID_AGAIN_NANOS = Duration.ofMinutes(1).toNanos();

    private final String name;
    private final Events events;
    private volatile boolean away;
    private boolean told;
    private long awaySince;
    private long backSince = System.nanoTime() - STALE_NANOS;
    private long starved = System.nanoTime() - SAID_AGAIN_NANOS;

    /**
     * @param name identifies the database in logs
     */
    Availability(String name, Events events) {
        this.name = name;
        this.events = events;
    }

    boolean isAway() {
        return away;
    }

    /**
     * Somebody has met an outage. Connections that broke in it are found out one by one, some only after the end: that is no second
     * outage, unless it goes on.
     */
    synchronized void lost(String reason) {
        away = true;
        if (!told && System.nanoTime() - backSince >= STALE_NANOS) {
            told = true;
            awaySince = System.nanoTime();
            log.warn("[{}] the database is away: {}; trying again until it is back", name, reason);
            events.tell(new WindlassEvent.OutageBegan(name, reason));
        }
    }

    /** A call has been answered. */
    void found() {
        if (away) {
            back();
        }
    }

    private synchronized void back() {
        away = false;
        if (told) {
            told = false;
            backSince = System.nanoTime();
            Duration lasted = Duration.ofNanos(backSince - awaySince);
            log.info("[{}] the database is back after {}", name, InWords.of(lasted));
            events.tell(new WindlassEvent.OutageEnded(name, lasted));
        }
    }

    /** All who wait for a connection find out at once that there is none; a line a minute tells of it. */
    synchronized void starved(PoolTimeout timeout) {
        if (System.nanoTime() - starved >= SAID_AGAIN_NANOS) {
            starved = System.nanoTime();
            log.warn("[{}] {}", name, timeout.getMessage());
            events.tell(new WindlassEvent.ConnectionsExhausted(name));
        }
    }
}
