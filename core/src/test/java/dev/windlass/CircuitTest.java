package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class CircuitTest {

    @Test
    void theDefaultIsTenFailuresAndHalfAMinute() {
        assertThat(Circuit.defaults()).isEqualTo(new Circuit(10, Duration.ofSeconds(30)));
        assertThat(Circuit.defaults().withFailures(3).withRest(Duration.ofMinutes(1)))
                .isEqualTo(new Circuit(3, Duration.ofMinutes(1)));
    }

    @Test
    void handlersHaveNoneUnlessTheyAskForOne() {
        assertThat(HandlerOptions.defaults().circuit()).isNull();
        HandlerOptions resting = HandlerOptions.defaults().withCircuit(Circuit.defaults());
        assertThat(resting.withConcurrency(2)
                        .withTimeout(Duration.ofMinutes(1))
                        .withRetry(RetryPolicy.defaults())
                        .circuit())
                .isEqualTo(Circuit.defaults());
        assertThat(resting.withCircuit(null).circuit()).isNull();
    }

    @Test
    void badValuesAreRefused() {
        assertThatThrownBy(() -> Circuit.defaults().withFailures(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("expected a positive number of failures, got 0");
        assertThatThrownBy(() -> Circuit.defaults().withRest(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("expected a positive rest, got PT0S");
    }
}
