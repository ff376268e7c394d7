package dev.windlass.inbox;

import java.util.HashMap;
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
            mine = new HashMap<>();
            attempts.set(mine);
        }
        long now = System.nanoTime();
        mine.values().removeIf(given -> now - given.at > forgetNanos);
        mine.put(attempt.key(), new Given(attempt, now));
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
