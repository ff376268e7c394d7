package dev.windlass.internal.dispatch;

import dev.windlass.base.Circuit;
import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.support.InWords;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Tells how handlers fail, and when a topic begins and ends its rest. */
final class HandlerLog {
    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);

    private final String store;
    private final QueueEvents events;
    private final boolean retriesAsWarnings;
    private final Traces traces = new Traces(MonotonicClock.system());

    HandlerLog(String store, QueueEvents events, boolean retriesAsWarnings) {
        this.store = store;
        this.events = events;
        this.retriesAsWarnings = retriesAsWarnings;
    }

    void ended(Attempt<?> attempt, Result result, Outcome outcome, Breaker.Effect effect) {
        if (result instanceof Result.Failed failed) {
            failed(attempt, failed, next(outcome), outcome instanceof Outcome.Retry, effect);
        } else if (result instanceof Result.Stopped stopped && stopped.told() != null) {
            stopped(attempt, stopped.told());
        }
        changed(attempt.lane, result, effect);
    }

    private static String next(Outcome outcome) {
        return outcome instanceof Outcome.Retry retry
                ? "again in " + InWords.of(retry.delay()) + (retry.counted() ? "" : ", and not counted")
                : "and is a dead letter now";
    }

    /** Nobody is blamed for it. */
    void failedTogether(Attempt<?> attempt, int together, Throwable told) {
        log.warn(
                "[{}] the handler of topic {} failed with {} messages together, which are now handled one by one: {}",
                store,
                attempt.claimed.topic(),
                together,
                line(told));
    }

    /** The handler had been given up before. */
    void endedLate(Attempt<?> attempt, Result result) {
        if (result instanceof Result.Failed failed) {
            failed(attempt, failed, "and the message had gone on without it", false, Breaker.Effect.NONE);
        } else if (result instanceof Result.Stopped stopped && stopped.told() != null) {
            stopped(attempt, stopped.told());
        }
    }

    /** Nobody's failure; but what the handler says of its end may be all that is known of what it left behind. */
    private void stopped(Attempt<?> attempt, Throwable told) {
        String next = "its lease was lost, and the message may belong to another owner";
        if (attempt.isCancelled(Attempt.Reason.SHUTDOWN)) {
            next = "the node shuts down, and the message was given back";
        } else if (attempt.isCancelled(Attempt.Reason.STOPPED)) {
            next = "it was cancelled, and has ended as such";
        }
        try {
            warn(attempt, next, told);
        } catch (Throwable e) {
            warn(attempt, next + "; its exception cannot be logged", null);
        }
    }

    private void warn(Attempt<?> attempt, String next, @Nullable Throwable told) {
        log.warn(
                "[{}] the handler of message {} of topic {} ended with an exception when it was asked to stop: {}",
                store,
                attempt.claimed.id(),
                attempt.claimed.topic(),
                next,
                told);
    }

    /** An exception is the user's code too: it may be impossible to log. */
    private void failed(Attempt<?> attempt, Result.Failed failed, String next, boolean again, Breaker.Effect effect) {
        try {
            tell(attempt, failed, next, again, effect);
        } catch (Throwable e) {
            write(attempt, next, again, "its exception cannot be logged", null);
        }
    }

    /** A handler that says when to try again has not failed unexpectedly, and a probe that fails is told with its circuit. */
    private void tell(Attempt<?> attempt, Result.Failed failed, String next, boolean again, Breaker.Effect effect) {
        Claimed<?> claimed = attempt.claimed;
        Throwable told = failed.told();
        if (failed.isPutOff()) {
            log.info(
                    "[{}] the handler of message {} of topic {} put it off, {}: {}",
                    store,
                    claimed.id(),
                    claimed.topic(),
                    next,
                    told.getMessage(),
                    told.getCause());
        } else if (effect == Breaker.Effect.RESTS_ON) {
            log.debug("[{}] message {} of topic {} was tried: {}", store, claimed.id(), claimed.topic(), next, told);
        } else {
            boolean traced = !again || traces.isDue(claimed.topic(), failed.cause());
            write(attempt, next, again, line(told), traced ? told : null);
        }
    }

    private static String line(Throwable told) {
        return told.toString().lines().findFirst().orElse("");
    }

    /** One line for each failed attempt; the trace with the last one, and else now and then. */
    private void write(Attempt<?> attempt, String next, boolean again, String what, @Nullable Throwable trace) {
        log.atLevel(again && retriesAsWarnings ? Level.WARN : Level.ERROR)
                .setCause(trace)
                .log(
                        "[{}] message {} of topic {} failed in attempt {} of {}, {}: {}",
                        store,
                        attempt.claimed.id(),
                        attempt.claimed.topic(),
                        attempt.claimed.retryCount() + 1,
                        attempt.handling.options().retry().maxAttempts(),
                        next,
                        what);
    }

    void givenUp(Attempt<?> attempt, Result result, Breaker.Effect effect) {
        if (result instanceof Result.Failed) {
            log.error(
                    "[{}] the handler of message {} of topic {} does not stop; giving it up, its thread goes on",
                    store,
                    attempt.claimed.id(),
                    attempt.claimed.topic());
        }
        changed(attempt.lane, result, effect);
    }

    private void changed(TopicLane<?> lane, Result result, Breaker.Effect effect) {
        Circuit circuit = lane.handling.options().circuit();
        if (circuit == null) {
            return;
        }
        String last = result instanceof Result.Failed failed
                ? failed.cause().getClass().getName()
                : "";
        switch (effect) {
            case OPENED -> {
                log.warn(
                        "[{}] the handler of topic {} failed {} times in a row, at last with {}; the topic rests for {} on"
                                + " this node, then one message is tried",
                        store,
                        lane.topic,
                        circuit.failures(),
                        last,
                        InWords.of(circuit.rest()));
                events.circuit(lane.topic, true);
            }
            case RESTS_ON ->
                log.warn(
                        "[{}] the handler of topic {} still fails, with {}; the topic rests for another {}",
                        store,
                        lane.topic,
                        last,
                        InWords.of(circuit.rest()));
            case CLOSED -> {
                log.info("[{}] the handler of topic {} works again; the rest is over", store, lane.topic);
                events.circuit(lane.topic, false);
            }
            case NONE, SPARED -> {}
        }
    }
}
