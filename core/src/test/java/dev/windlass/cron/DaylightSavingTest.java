package dev.windlass.cron;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Repository;
import java.io.IOException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The page's tables are the cases. */
final class DaylightSavingTest {
    private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

    @ParameterizedTest
    @MethodSource("rows")
    void runsAsThePageSays(List<String> row) {
        ZoneId zone = ZoneId.of(row.get(0));
        CronExpression expression = CronExpression.parse(row.get(1));
        List<OffsetDateTime> expected =
                row.subList(2, row.size()).stream().map(OffsetDateTime::parse).toList();

        Instant moment = expected.get(0).toInstant().minusNanos(1);
        List<OffsetDateTime> forward = new ArrayList<>();
        while (forward.size() < expected.size()) {
            moment = expression.next(moment, zone).orElseThrow();
            forward.add(moment.atZone(zone).toOffsetDateTime());
        }
        assertThat(forward).isEqualTo(expected);

        moment = moment.plusNanos(1);
        List<OffsetDateTime> backward = new ArrayList<>();
        while (backward.size() < expected.size()) {
            moment = expression.previous(moment, zone).orElseThrow();
            backward.add(0, moment.atZone(zone).toOffsetDateTime());
        }
        assertThat(backward).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"30 2-2 * * *", "30 2/22 * * *", "30-59/30 2 * * *", "30 2,2-2 * * *", "30-30 2 * * *"})
    void aFieldThatLeavesOneValueIsAFixedTime(String text) {
        assertThat(CronExpression.parse(text).next(Instant.parse("2025-03-29T12:00:00Z"), ZoneId.of("Europe/Berlin")))
                .contains(Instant.parse("2025-03-30T01:30:00Z"));
    }

    @Test
    void thePageHasEveryCase() throws IOException {
        assertThat(rows()).hasSizeGreaterThan(14);
    }

    static Stream<List<String>> rows() throws IOException {
        return Repository.read("docs/cron.md")
                .lines()
                .filter(line -> line.startsWith("| `") && line.contains("/") && line.contains("T0"))
                .map(line -> QUOTED.matcher(line)
                        .results()
                        .map(match -> match.group(1))
                        .toList());
    }
}
