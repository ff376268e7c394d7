package dev.windlass.internal.lease;

import dev.windlass.internal.loop.Signal;
import dev.windlass.internal.loop.Signals;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Where those wait who want a lease that somebody else holds: woken by a release, in this process or through the database.
 *
 * <p>From the first time that somebody waits on, it listens. Where nothing can be heard, as behind some poolers, one looks every
 * second.
 */
final class WaitingRoom {
    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration LONGEST_WHEN_DEAF = Duration.ofSeconds(1);
    private static final int JITTER_MILLIS = 20;

    private final Map<String, Set<Runnable>> waiting = new ConcurrentHashMap<>();
    private final Signals signals;
    private final String channel;
    private final Duration longest;
    private final AtomicBoolean started = new AtomicBoolean();

    WaitingRoom(Signals signals, String channel, Duration longest) {
        this.signals = signals;
        this.channel = channel;
        this.longest = longest;
    }

    /** From now on this is run when the lease of that name may have become free. */
    void enter(String name, Runnable wake) {
        waiting.compute(name, (unused, others) -> {
            Set<Runnable> all = others == null ? ConcurrentHashMap.newKeySet() : others;
            all.add(wake);
            return all;
        });
        if (started.compareAndSet(false, true)) {
            signals.subscribe(channel, this::heard);
        }
    }

    void leave(String name, Runnable wake) {
        waiting.computeIfPresent(name, (unused, all) -> {
            all.remove(wake);
            return all.isEmpty() ? null : all;
        });
    }

    private void heard(Signal signal) {
        switch (signal.kind()) {
            case READY, MISSED -> freed(signal.subject());
            case TOPICS, CANCEL, PROOF, UNKNOWN -> {}
        }
    }

    /** A lease of this name has been given back; an empty name stands for any. */
    void freed(String name) {
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
    Duration pause(AcquireAnswer refusal, Looks looks) {
        looks.count(refusal);
        Duration most = signals.areHeard() ? longest : min(longest, doubled(looks.all()));
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
}
