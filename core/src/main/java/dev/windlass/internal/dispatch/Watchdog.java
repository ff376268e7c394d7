package dev.windlass.internal.dispatch;

import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Workers;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks handlers to stop whose time is up or whose lease has run out, and gives up those that take too long.
 *
 * <p>A handler that ignores both its cancellation and the interrupt cannot be ended in Java. Some time after its time-out the
 * attempt has failed, and the message goes its way without it, or waits for it: see {@link dev.windlass.base.Overtime}. One that only
 * lost its lease, as in an outage, is left to finish: if nobody else has taken the message, its outcome still counts.
 */
final class Watchdog<M> {
    private static final Logger log = LoggerFactory.getLogger(Watchdog.class);
    private static final Duration LONGEST = Duration.ofSeconds(1);
    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration GRACE = Duration.ofSeconds(5);

    private final String store;
    private final InHand<M> inHand;
    private final BiConsumer<Attempt<M>, Result> giveUp;
    private final Consumer<List<Attempt<M>>> giveBack;
    private final Duration period;
    private final long graceNanos;
    private final Loop loop;

    /**
     * @param giveUp goes on without a handler, if that is possible
     * @param giveBack returns messages to ready
     */
    Watchdog(
            String store,
            InHand<M> inHand,
            Workers workers,
            Duration lease,
            Duration shortestTimeout,
            BiConsumer<Attempt<M>, Result> giveUp,
            Consumer<List<Attempt<M>>> giveBack) {
        this.store = store;
        this.inHand = inHand;
        this.giveUp = giveUp;
        this.giveBack = giveBack;
        this.period = clamp(min(shortestTimeout, lease).dividedBy(4));
        this.graceNanos = min(GRACE, lease.dividedBy(3)).toNanos();
        this.loop = new Loop("[" + store + "] watching handlers", workers, this::watch);
    }

    private static Duration clamp(Duration period) {
        return min(LONGEST, period.compareTo(SHORTEST) < 0 ? SHORTEST : period);
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) <= 0 ? a : b;
    }

    void start() {
        loop.start();
    }

    /** There is something to watch again. */
    void wake() {
        loop.wake();
    }

    private Duration watch() {
        long now = System.nanoTime();
        for (Attempt<M> attempt : inHand.all()) {
            watch(attempt, now);
        }
        giveBack();
        return inHand.size() == 0 ? Loop.PARKED : period;
    }

    private void watch(Attempt<M> attempt, long now) {
        long overtime =
                attempt.runningFor(now) - attempt.handling.options().timeout().toNanos();
        attempt.cancelIfRunningFor(attempt.handling.options().timeout(), now);
        if (attempt.isRunning() && attempt.isCancelled() && attempt.tellsOfLapse()) {
            log.warn(
                    "[{}] could not renew the lease of message {} of topic {} in time; its handler is asked to stop",
                    store,
                    attempt.claimed.id(),
                    attempt.claimed.topic());
        }
        if (overtime > graceNanos) {
            overstays(attempt);
        }
    }

    private void overstays(Attempt<M> attempt) {
        Handling<M> handling = attempt.handling;
        switch (handling.options().overtime()) {
            case GIVE_UP -> giveUp.accept(attempt, handling.didNotStop());
            case HOLD -> {
                if (attempt.overstays()) {
                    log.error(
                            "[{}] the handler of message {} of topic {} does not stop; the message waits until it returns",
                            store,
                            attempt.claimed.id(),
                            attempt.claimed.topic());
                }
            }
        }
    }

    private void giveBack() {
        List<Attempt<M>> stuck = inHand.giveBack();
        if (!stuck.isEmpty()) {
            log.info("[{}] gave back {} messages that no handler became free for", store, stuck.size());
            giveBack.accept(stuck);
        }
    }

    Loop loop() {
        return loop;
    }
}
