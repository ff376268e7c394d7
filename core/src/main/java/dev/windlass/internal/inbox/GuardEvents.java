package dev.windlass.internal.inbox;

import dev.windlass.base.OwnerToken;
import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassEvent.Ending;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxKey;
import dev.windlass.internal.database.Database;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * What comes of messages that are processed without the queue, told to whoever listens, once for each attempt that was begun here. These
 * messages have no topic and no id of ours: the source stands for the one, and an id that is made of the key for the other.
 *
 * <p>Costs nothing if nobody listens. Thread-safe.
 */
final class GuardEvents {
    private static final int MOST = 10_000;

    private final Database database;
    private final long forgetNanos;
    /** When attempts began that nobody has ended; the oldest come first. */
    private final Map<OwnerToken, Long> begun = new LinkedHashMap<>();

    /**
     * @param forgetNanos after what time an attempt that nobody ended is forgotten
     */
    GuardEvents(Database database, long forgetNanos) {
        this.database = database;
        this.forgetNanos = forgetNanos;
    }

    void begins(InboxAttempt attempt) {
        if (!database.events().areHeard()) {
            return;
        }
        long now = System.nanoTime();
        synchronized (begun) {
            Iterator<Long> oldest = begun.values().iterator();
            while (oldest.hasNext() && (now - oldest.next() > forgetNanos || begun.size() >= MOST)) {
                oldest.remove();
            }
            begun.put(attempt.owner(), now);
        }
    }

    void done(InboxAttempt attempt) {
        var unused = ended(attempt, Ending.DONE);
    }

    /** It was lost to somebody else, or nobody knows what has become of it. */
    void stopped(InboxAttempt attempt) {
        var unused = ended(attempt, Ending.STOPPED);
    }

    void retried(InboxAttempt attempt, Duration delay, String error) {
        if (ended(attempt, Ending.RETRY)) {
            database.events()
                    .tell(new WindlassEvent.Retried(
                            database.store(),
                            QueueKind.INBOX,
                            attempt.key().source(),
                            id(attempt.key()),
                            attempt.number(),
                            delay,
                            true,
                            error));
        }
    }

    void failed(InboxAttempt attempt, String error) {
        if (ended(attempt, Ending.FAILED)) {
            database.events()
                    .tell(new WindlassEvent.DeadLettered(
                            database.store(),
                            QueueKind.INBOX,
                            attempt.key().source(),
                            id(attempt.key()),
                            attempt.number(),
                            error));
        }
    }

    /** Returns whether this is the first that is told of its end. */
    private boolean ended(InboxAttempt attempt, Ending ending) {
        if (!database.events().areHeard()) {
            return false;
        }
        Long since;
        synchronized (begun) {
            since = begun.remove(attempt.owner());
        }
        if (since == null) {
            return false;
        }
        database.events()
                .tell(new WindlassEvent.Handled(
                        database.store(),
                        QueueKind.INBOX,
                        attempt.key().source(),
                        id(attempt.key()),
                        attempt.number(),
                        ending,
                        Duration.ZERO,
                        Duration.ofNanos(System.nanoTime() - since)));
        return true;
    }

    private static UUID id(InboxKey key) {
        return UUID.nameUUIDFromBytes((key.source() + '\n' + key.messageId()).getBytes(StandardCharsets.UTF_8));
    }
}
