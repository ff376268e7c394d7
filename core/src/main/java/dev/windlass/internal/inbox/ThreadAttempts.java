package dev.windlass.internal.inbox;

import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxKey;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The attempts that a thread was given and has not ended, for callers that name a message by its key only. */
final class ThreadAttempts {
    @SuppressWarnings("ThreadLocalUsage") // one for each inbox: the key does not tell which
    private final ThreadLocal<Map<InboxKey, Given>> attempts = new ThreadLocal<>();

    private final long forgetNanos;

    private record Given(InboxAttempt attempt, long at) {}

    /**
     * @param forgetNanos after what time an attempt that nobody ended is forgotten
     */
    ThreadAttempts(long forgetNanos) {
        this.forgetNanos = forgetNanos;
    }

    void remember(InboxAttempt attempt) {
        Map<InboxKey, Given> mine = attempts.get();
        if (mine == null) {
            mine = new LinkedHashMap<>();
            attempts.set(mine);
        }
        long now = System.nanoTime();
        forgetOld(mine, now);
        mine.remove(attempt.key());
        mine.put(attempt.key(), new Given(attempt, now));
    }

    /** The oldest come first. Those that a transaction marked are here until they are old: nobody says that it was committed. */
    private void forgetOld(Map<InboxKey, Given> mine, long now) {
        Iterator<Given> oldest = mine.values().iterator();
        while (oldest.hasNext() && now - oldest.next().at > forgetNanos) {
            oldest.remove();
        }
    }

    Optional<InboxAttempt> find(InboxKey key) {
        return Optional.ofNullable(attempts.get()).map(mine -> mine.get(key)).map(Given::attempt);
    }

    void forget(InboxKey key) {
        Map<InboxKey, Given> mine = attempts.get();
        if (mine != null && mine.remove(key) != null && mine.isEmpty()) {
            attempts.remove();
        }
    }
}
