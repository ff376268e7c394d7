package dev.windlass.cron;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Compares random expressions with the oracle, on both sides of changed clocks. A seed repeats a run; give it as the system
 * property {@code windlass.seed}.
 */
final class OracleTest {
    private static final int EXPRESSIONS = 50;

    private final long seed = Long.getLong("windlass.seed", System.nanoTime());
    private final RandomExpressions expressions = new RandomExpressions(new Random(seed));

    @ParameterizedTest
    @CsvSource({
        "Europe/Berlin, 2025-03-30",
        "Europe/Berlin, 2025-10-26",
        "America/New_York, 2024-03-10",
        "America/New_York, 2024-11-03",
        "Africa/Cairo, 2025-04-25",
        "Africa/Cairo, 2025-10-31",
        "Australia/Lord_Howe, 2025-04-06",
        "Australia/Lord_Howe, 2025-10-05",
        "Asia/Kolkata, 2024-02-29",
        "Pacific/Apia, 2011-12-30",
        "America/Sao_Paulo, 2017-10-15",
        "America/Sao_Paulo, 2018-02-18",
        "Antarctica/Troll, 2025-03-30",
        "Antarctica/Troll, 2025-10-26",
        "Pacific/Kwajalein, 1969-10-01"
    })
    void runsAreThoseOfTheOracle(ZoneId zone, LocalDate change) {
        Instant from = change.minusDays(2).atStartOfDay(ZoneOffset.UTC).toInstant();
        Instant to = from.plus(4, ChronoUnit.DAYS);
        possible()
                .limit(EXPRESSIONS)
                .forEach(text -> assertRuns(text, from, to, zone, new Oracle(text).runs(from, to, zone)));
    }

    /** At most once a minute: the seconds are looked at above, and a year has 31 million of them. */
    @Test
    void aWholeYearIsThatOfTheOracle() {
        ZoneId zone = ZoneId.of("Europe/Berlin");
        Instant from = Instant.parse("2024-01-01T00:00:00Z");
        Instant to = Instant.parse("2025-01-01T00:00:00Z");
        possible()
                .map(text -> "0" + text.substring(text.indexOf(' ')))
                .limit(10)
                .forEach(text -> assertRuns(text, from, to, zone, new Oracle(text).runs(from, to, zone)));
    }

    private void assertRuns(String text, Instant from, Instant to, ZoneId zone, NavigableSet<Instant> expected) {
        CronExpression expression = CronExpression.parse(text);
        List<Instant> forward = new ArrayList<>();
        Optional<Instant> run = expression.next(from.minusNanos(1), zone);
        while (run.isPresent() && run.get().isBefore(to) && forward.size() <= expected.size()) {
            forward.add(run.get());
            run = expression.next(run.get(), zone);
        }
        assertThat(forward).as("next of %s in %s, seed %d", text, zone, seed).containsExactlyElementsOf(expected);

        List<Instant> backward = new ArrayList<>();
        run = expression.previous(to, zone);
        while (run.isPresent() && !run.get().isBefore(from) && backward.size() <= expected.size()) {
            backward.add(run.get());
            run = expression.previous(run.get(), zone);
        }
        assertThat(backward)
                .as("previous of %s in %s, seed %d", text, zone, seed)
                .isEqualTo(List.copyOf(expected.descendingSet()));
    }

    @Test
    void datesAreThoseOfTheOracleOverThirtyYears() {
        LocalDate from = LocalDate.of(2085, 1, 1);
        LocalDate to = LocalDate.of(2115, 1, 1);
        for (int i = 0; i < EXPRESSIONS; i++) {
            String text = "0 0 0 " + expressions.anyDate();
            Oracle oracle = new Oracle(text);
            if (!isPossible(text, oracle)) {
                continue;
            }
            List<LocalDate> expected =
                    from.datesUntil(to).filter(oracle::matches).toList();
            List<LocalDate> found = new ArrayList<>();
            CronExpression expression = CronExpression.parse(text);
            Instant end = to.atStartOfDay(ZoneOffset.UTC).toInstant();
            Optional<Instant> run = expression.next(
                    from.atStartOfDay(ZoneOffset.UTC).toInstant().minusSeconds(1), ZoneOffset.UTC);
            while (run.isPresent() && run.get().isBefore(end) && found.size() <= expected.size()) {
                found.add(LocalDate.ofInstant(run.get(), ZoneOffset.UTC));
                run = expression.next(run.get(), ZoneOffset.UTC);
            }
            assertThat(found).as("dates of %s, seed %d", text, seed).isEqualTo(expected);
        }
    }

    @Test
    void previousGoesBackToWhereNextCameFrom() {
        ZoneId zone = ZoneId.of("America/Santiago");
        Random random = new Random(seed);
        possible().limit(150).forEach(text -> {
            CronExpression expression = CronExpression.parse(text);
            Instant moment = Instant.parse("1900-01-01T00:00:00Z").plusSeconds(random.nextLong(10_000_000_000L));
            Instant first = expression.next(moment, zone).orElseThrow();
            Instant second = expression.next(first, zone).orElseThrow();
            assertThat(expression.previous(second, zone))
                    .as("%s from %s, seed %d", text, moment, seed)
                    .contains(first);
            assertThat(expression.previous(first, zone).orElseThrow())
                    .as("%s from %s, seed %d", text, moment, seed)
                    .isBeforeOrEqualTo(moment);
        });
    }

    /** Those that are refused although the oracle knows a date fail here. */
    private Stream<String> possible() {
        return Stream.generate(expressions::any).filter(text -> isPossible(text, new Oracle(text)));
    }

    private boolean isPossible(String text, Oracle oracle) {
        try {
            CronExpression.parse(text);
            return true;
        } catch (CronSyntaxException e) {
            assertThat(LocalDate.of(2024, 1, 1).datesUntil(LocalDate.of(2424, 1, 1)))
                    .as("%s is refused (%s), seed %d", text, e.getMessage(), seed)
                    .noneMatch(oracle::matches);
            return false;
        }
    }
}
