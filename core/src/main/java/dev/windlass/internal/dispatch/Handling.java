package dev.windlass.internal.dispatch;

import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.NotYet;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;
import dev.windlass.internal.support.ErrorText;
import dev.windlass.internal.support.InWords;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A handler with its options: runs it, and decides what a failure means.
 *
 * @param handler null if there is none
 * @param choice chooses another by the message; null if all messages are handled alike
 */
public record Handling<M>(
        @Nullable Handler<M> handler,
        HandlerOptions options,
        @Nullable Function<M, Handling<M>> choice) {

    public Handling(@Nullable Handler<M> handler, HandlerOptions options) {
        this(handler, options, null);
    }

    /** The one for this message; for one that cannot be read, what holds for all. */
    Handling<M> of(@Nullable M message) {
        return choice == null || message == null ? this : choice.apply(message);
    }

    /** Whether nothing handles it. */
    boolean isUnknown() {
        return handler == null;
    }

    void handle(M message, Running running) throws Exception {
        Objects.requireNonNull(handler).handle(message, running);
    }

    /** How many messages it takes in one call. */
    int most() {
        return handler instanceof Together<M> together ? together.most() : 1;
    }

    /** Only for those that take several. */
    void handleAll(List<M> messages, List<? extends Running> running) throws Exception {
        ((Together<M>) Objects.requireNonNull(handler)).handleAll(messages, running);
    }

    /** What a feature's handler looks like to the dispatcher. */
    @FunctionalInterface
    public interface Handler<M> {
        void handle(M message, Running running) throws Exception;
    }

    /** One that takes several messages in one call: when it returns, all of them are done; when it throws, nothing has happened. */
    public interface Together<M> extends Handler<M> {
        int most();

        /**
         * Handles one attempt of each.
         *
         * @param running one for each of the messages; the first one says whether to go on
         */
        void handleAll(List<M> messages, List<? extends Running> running) throws Exception;

        @Override
        default void handle(M message, Running running) throws Exception {
            handleAll(List.of(message), List.of(running));
        }
    }

    /** Its time was up, and it stopped for that. */
    Result.Failed timedOut(@Nullable Throwable cause) {
        return new Result.Failed(new IllegalStateException("timed out after " + InWords.of(options.timeout()), cause));
    }

    /** Its time was up, and it went on regardless. */
    Result.Failed didNotStop() {
        return new Result.Failed(new IllegalStateException(
                "timed out after " + InWords.of(options.timeout()) + " and did not stop when interrupted"));
    }

    Outcome outcome(Result result, int retryCount, Breaker.Effect effect) {
        if (result instanceof Result.Done) {
            return new Outcome.Done();
        }
        if (result instanceof Result.Failed failed) {
            String error = ErrorText.of(failed.told());
            if (failed.cause() instanceof NotYet notYet) {
                return new Outcome.Retry(notYet.delay(), error, false);
            }
            return effect.isCounted() && failed.isStarted()
                    ? afterFailure(failed.cause(), error, retryCount)
                    : new Outcome.Retry(sparedDelay(retryCount, effect), error, false);
        }
        return new Outcome.Release();
    }

    private Outcome afterFailure(Throwable failure, String error, int retryCount) {
        if (failure instanceof PermanentFailure
                || retryCount + 1 >= options.retry().maxAttempts()) {
            return new Outcome.Fail(error);
        }
        Duration delay = failure instanceof RetryAfter after
                ? after.delay()
                : options.retry().delay(retryCount);
        return new Outcome.Retry(delay, error, true);
    }

    /** Who begins or prolongs a rest comes back after the next probe: the message may be at fault, not what the handler needs. */
    private Duration sparedDelay(int retryCount, Breaker.Effect effect) {
        Circuit circuit = options.circuit();
        return circuit != null && effect.isRest()
                ? circuit.rest()
                : options.retry().delay(retryCount);
    }
}
