package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SpanTest {
    private static final Instant NOW = Instant.parse("2026-11-16T02:00:00Z");

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0 s",
        "PT59.999S, 59 s",
        "PT1M, 1 min",
        "PT1M5S, 1 min 5 s",
        "PT3H59S, 3 h",
        "PT3H5M, 3 h 5 min",
        "P1DT59M, 1 d",
        "P400DT23H59M, 400 d 23 h"
    })
    void aLengthIsToldInItsTwoLargestUnits(Duration span, String text) {
        assertThat(Span.of(span)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0 s",
        "PT0.5S, 0.5 s",
        "PT1.25S, 1.25 s",
        "PT20S, 20 s",
        "PT5M, 5 min",
        "P1DT2H3M4.005S, 1 d 2 h 3 min 4.005 s",
        "P10D, 10 d"
    })
    void aChosenLengthIsToldWhole(Duration span, String text) {
        assertThat(Span.exact(span)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"PT0.0129S, 12 ms", "PT9.999S, 9999 ms", "PT10S, 10 s", "PT1M30S, 1 min 30 s"})
    void shortWorkIsToldInMilliseconds(Duration span, String text) {
        assertThat(Span.fine(span)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "2026-11-16T05:00:00Z, in 3 h",
        "2026-11-16T02:00:00Z, in 0 s",
        "2026-11-16T01:59:48Z, 12 s late",
        "+1000000000-12-31T23:59:59Z, in 365241760064 d 21 h",
        "-1000000000-01-01T00:00:00Z, h late"
    })
    void whatIsToComeIsAheadOrLate(Instant due, String text) {
        assertThat(Span.until(due, NOW)).contains(text);
    }
}
