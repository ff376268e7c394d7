package dev.windlass.internal.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class InWordsTest {
    @ParameterizedTest
    @CsvSource({
        "PT0S, 0 ms",
        "PT0.0999S, 99 ms",
        "PT0.174828665S, 0.1 s",
        "PT1S, 1 s",
        "PT9.99S, 9.9 s",
        "PT10.9S, 10 s",
        "PT59.9S, 59 s",
        "PT1M, 1 min",
        "PT1M30S, 1 min 30 s",
        "PT1H, 1 h",
        "PT1H0M59S, 1 h",
        "PT25H, 1 d 1 h",
        "P400D, 400 d",
        "PT-5S, -5 s"
    })
    void durationsAreToldAsPeopleSayThem(Duration duration, String words) {
        assertThat(InWords.of(duration)).isEqualTo(words);
    }
}
