package dev.windlass.lease;

import dev.windlass.Deadline;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Listener;
import dev.windlass.runtime.Workers;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Where those wait who want a lease that somebody else holds: woken by a release, in this process or through the database.
 *
 * <p>The connection for notifications is opened when somebody waits for the first time, and kept. Without it, as behind some
 * poolers, one looks every second.
 */
final class WaitingRoom {
    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration LONGEST_WHEN_DEAF = Duration.ofSeconds(1);
    private static final int JITTER_MILLIS = 20;

    private final Map<String, Set<Runnable>> waiting = new ConcurrentHashMap<>();
    private final Listener listener;
    private final boolean wakeUp;
    private final Duration longest;
    private final AtomicBoolean started = new AtomicBoolean();
    private volatile boolean listening;

    WaitingRoom(Database background, String channel, Workers workers, boolean wakeUp, Duration longest) {
        this.wakeUp = wakeUp;
        this.longest = longest;
        this.listener = new Listener(background, channel, workers, this::heard, works -> listening = works);
    }

    /** From now on this is run when the lease of that name may have become free. */
    void enter(String name, Runnable wake) {
        waiting.compute(name, (unused, others) -> {
            Set<Runnable> all = others == null ? ConcurrentHashMap.newKeySet() : others;
            all.add(wake);
            return all;
        });
        if (wakeUp && started.compareAndSet(false, true)) {
            listener.start();
        }
    }

    void leave(String name, Runnable wake) {
        waiting.computeIfPresent(name, (unused, all) -> {
            all.remove(wake);
            return all.isEmpty() ? null : all;
        });
    }

    /** A lease of this name has been given back; an empty name stands for any. */
    void heard(String name) {
        if (name.isEmpty()) {
            waiting.keySet().forEach(this::wake);
        } else {
            wake(name);
        }
    }

    private void wake(String name) {
        waiting.getOrDefault(name, Set.of()).forEach(Runnable::run);
    }

    /**
     * How long to wait for a wake-up: until the lease that stands in the way runs out, with some jitter, since others wait for
     * the same; not so long if nobody can be heard. Somebody who changes the lease is done soon, as a rule.
     */
    Duration pause(Answer refusal, Looks looks) {
        looks.count(refusal);
        Duration most = listening ? longest : min(longest, doubled(looks.all()));
        Duration expiry = refusal.isUnsettled() ? doubled(looks.unsettled() - 1) : refusal.untilExpiry();
        return min(expiry, most)
                .plus(SHORTEST)
                .plusMillis(ThreadLocalRandom.current().nextInt(JITTER_MILLIS));
    }

    private static Duration doubled(int times) {
        return min(SHORTEST.multipliedBy(1L << Math.min(times, 7)), LONGEST_WHEN_DEAF);
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    void askToStop() {
        heard("");
        listener.askToStop();
    }

    void finish(Deadline deadline) {
        if (started.get()) {
            listener.awaitEnd(deadline);
        }
    }

    /** Ends a call that hangs. */
    void abort() {
        listener.abort();
    }
}
