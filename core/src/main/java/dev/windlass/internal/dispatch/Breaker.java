package dev.windlass.internal.dispatch;

import dev.windlass.base.Circuit;
import org.jspecify.annotations.Nullable;

/**
 * The circuit of one lane: closed; open, while the lane rests; or half open, when the rest is over and one message, the probe,
 * decides how it goes on.
 *
 * <p>An attempt that began before the last opening speaks of a time that is over: its success closes nothing, and its failure
 * costs no attempt, even when the circuit has closed meanwhile. Hence the number of openings that each attempt bears.
 *
 * <p>Guarded by the lock of the lanes. Times are readings of the monotonic clock.
 */
final class Breaker {
    /** What the end of an attempt means. */
    enum Effect {
        NONE,
        /** A failure of an attempt that began before the circuit opened. */
        SPARED,
        OPENED,
        /** The probe has failed. */
        RESTS_ON,
        CLOSED;

        /** Whether the lane has begun or ended a rest. */
        boolean isChange() {
            return this != NONE && this != SPARED;
        }

        /** Whether the lane has begun a rest, or rests on. */
        boolean isRest() {
            return this == OPENED || this == RESTS_ON;
        }

        /** Whether a failure costs its message an attempt: not when it shows that what the handler needs is down. */
        boolean isCounted() {
            return this == NONE || this == CLOSED;
        }
    }

    private final @Nullable Circuit circuit;
    private int failures;
    private int openings;
    private boolean open;
    private boolean probing;
    private long restUntil;

    Breaker(@Nullable Circuit circuit) {
        this.circuit = circuit;
    }

    boolean isClosed() {
        return !open;
    }

    /** How many more messages may be started. */
    int allowance(long now) {
        if (!open) {
            return Integer.MAX_VALUE;
        }
        return probing || restLeft(now) > 0 ? 0 : 1;
    }

    /** Nanoseconds until the rest ends; zero or less when there is none. */
    long restLeft(long now) {
        return open && !probing ? restUntil - now : 0;
    }

    /** An attempt begins. Returns the number of openings, which it bears until it ends. */
    int started() {
        probing = open;
        return openings;
    }

    /**
     * @param began what {@link #started} returned for this attempt
     */
    Effect ended(int began, Result result, long now) {
        boolean failed = result instanceof Result.Failed failure && !failure.isDecision();
        if (began != openings) {
            return failed ? Effect.SPARED : Effect.NONE;
        }
        probing = false;
        if (failed) {
            return failed(now);
        }
        return result instanceof Result.Done ? succeeded() : Effect.NONE;
    }

    private Effect failed(long now) {
        failures++;
        if (circuit == null || (!open && failures < circuit.failures())) {
            return Effect.NONE;
        }
        restUntil = now + circuit.rest().toNanos();
        if (open) {
            return Effect.RESTS_ON;
        }
        open = true;
        openings++;
        return Effect.OPENED;
    }

    private Effect succeeded() {
        failures = 0;
        Effect effect = open ? Effect.CLOSED : Effect.NONE;
        open = false;
        return effect;
    }
}
