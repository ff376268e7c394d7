package dev.windlass.internal.schedule;

import static dev.windlass.internal.schedule.ScheduleNode.longestSleep;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class ScheduleNodeTest {

    @Test
    void nobodySleepsPastATimerThatWasNotAnnounced() {
        assertThat(longestSleep(Duration.ofHours(1))).isEqualTo(Duration.ofSeconds(30));
        assertThat(longestSleep(Duration.ofMillis(10))).isEqualTo(Duration.ofMillis(10));
    }
}
