package dev.windlass.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class WaitForTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    @Test
    void asksAgainUntilTheConditionIsMet() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        database.waitFor(() -> asked.incrementAndGet() == 3);
        assertThat(asked).hasValue(3);
    }

    @Test
    void givesUpWhenTheTimeIsOver() {
        assertThatThrownBy(() -> database.waitFor(() -> false, Duration.ofMillis(1)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("expected the condition to be met within 1 ms");
    }

    @Test
    void whatTheConditionThrowsGoesOn() {
        assertThatThrownBy(() -> database.waitFor(() -> {
                    throw new IOException("away");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("away");
    }
}
