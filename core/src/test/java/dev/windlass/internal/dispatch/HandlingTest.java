package dev.windlass.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.internal.dispatch.Breaker.Effect;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class HandlingTest {
    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Duration REST = Duration.ofMinutes(5);
    private static final Result FAILED = new Result.Failed(new IllegalStateException("broken"));
    private static final String ERROR = "java.lang.IllegalStateException: broken";

    private final Handling<String> handling = new Handling<>(
            (message, cancellation) -> {},
            HandlerOptions.defaults()
                    .withRetry(new RetryPolicy(2, PAUSE, PAUSE, 0))
                    .withCircuit(new Circuit(3, REST)));

    @Test
    void failuresBeforeTheCircuitOpensCount() {
        assertThat(handling.outcome(FAILED, 0, Effect.NONE)).isEqualTo(new Outcome.Retry(PAUSE, ERROR, true));
        assertThat(handling.outcome(FAILED, 1, Effect.NONE)).isEqualTo(new Outcome.Fail(ERROR));
    }

    @Test
    void theFailureThatOpensTheCircuitIsNotTheEndOfALoneMessage() {
        assertThat(handling.outcome(FAILED, 1, Effect.OPENED)).isEqualTo(new Outcome.Retry(REST, ERROR, false));
    }

    @Test
    void aProbeThatFailsComesBackAfterTheNextOneEvenInItsLastAttempt() {
        assertThat(handling.outcome(FAILED, 1, Effect.RESTS_ON)).isEqualTo(new Outcome.Retry(REST, ERROR, false));
    }

    @Test
    void anAttemptFromBeforeTheOpeningIsRepeatedAfterItsUsualPauseEvenIfItWasTheLast() {
        assertThat(handling.outcome(FAILED, 1, Effect.SPARED)).isEqualTo(new Outcome.Retry(PAUSE, ERROR, false));
    }
}
