package dev.windlass.internal.loop;

import dev.windlass.internal.database.Database;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which writes notify other processes.
 *
 * <p>A notification is sent with the transaction that writes the message, and so arrives when that commits; but commits that
 * notify wait for each other, all over the database. So only one write in {@link #QUIET} carries one. For the writes between,
 * whose commits nobody announces, one more follows a little later; who hears it looks often for a while.
 */
public final class Announcer {
    private static final Logger log = LoggerFactory.getLogger(Announcer.class);
    private static final Duration QUIET = Duration.ofMillis(10);
    private static final Duration LATER = Duration.ofMillis(25);

    private final Database database;
    private final String channel;
    private final Workers workers;
    private final boolean enabled;
    private final AtomicLong last = new AtomicLong(System.nanoTime() - QUIET.toNanos());
    private final AtomicBoolean pending = new AtomicBoolean();

    /**
     * @param enabled whether to notify at all
     */
    public Announcer(Database database, String channel, Workers workers, boolean enabled) {
        this.enabled = enabled;
        this.database = database;
        this.channel = channel;
        this.workers = workers;
    }

    /** Whether the write that asks is to carry a notification. */
    public boolean announce() {
        if (!enabled) {
            return false;
        }
        long now = System.nanoTime();
        long before = last.get();
        if (now - before >= QUIET.toNanos() && last.compareAndSet(before, now)) {
            return true;
        }
        announceSoon();
        return false;
    }

    /** Sends a notification of its own, a little later and for all that happens until then. */
    public void announceSoon() {
        if (enabled && pending.compareAndSet(false, true)) {
            var unused = workers.after(LATER, () -> workers.runLoop(this::announceLater));
        }
    }

    private void announceLater() {
        pending.set(false);
        try {
            database.once(connection -> {
                database.dialect().send(connection, channel, Signal.READY.text());
                return true;
            });
        } catch (SQLException e) {
            log.debug("[{}] could not notify other nodes; they will find the work by polling", database.name(), e);
        }
    }
}
