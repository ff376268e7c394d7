package dev.windlass.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What the log tells of something that fails and works in turns. */
final class TroubleTest {
    private final AtomicLong now = new AtomicLong();
    private final Trouble trouble = new Trouble("reaping", now::get);

    private void inTurns(int times) {
        for (int i = 0; i < times; i++) {
            trouble.failed(new IllegalStateException("no"));
            now.addAndGet(Duration.ofSeconds(5).toNanos());
            trouble.over();
        }
    }

    @Test
    void whatFailsAndWorksInTurnsIsToldOnceAndNotThatItWorksUntilItHasDoneSoForAMinute() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            inTurns(50);
            assertThat(logs.at(Level.WARN)).hasSize(2);
            assertThat(logs.at(Level.WARN).get(0)).startsWith("reaping failed and goes on trying");
            assertThat(logs.at(Level.WARN).get(1)).startsWith("reaping fails and works in turns");
            assertThat(logs.at(Level.INFO)).containsExactly("reaping works again after 1 failures");

            now.addAndGet(Duration.ofMinutes(1).toNanos());
            trouble.over();

            assertThat(logs.at(Level.INFO))
                    .containsExactly("reaping works again after 1 failures", "reaping works again after 49 failures");
        }
    }

    @Test
    void whatFailsAgainLongAfterIsNews() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            for (int i = 0; i < 3; i++) {
                inTurns(1);
                now.addAndGet(Duration.ofMinutes(2).toNanos());
            }
            assertThat(logs.count(Level.WARN, "reaping failed and goes on trying"))
                    .isEqualTo(3);
            assertThat(logs.count(Level.INFO, "works again after 1 failures")).isEqualTo(3);
        }
    }
}
