package dev.windlass.cron;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CronExpressionTest {

    @Test
    void findsRunsAndSaysItInWords() {
        Instant now = Instant.parse("2025-01-03T18:00:00Z");
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        // tag::use
        CronExpression cron = CronExpression.parse("0 18 * * MON-FRI");
        Optional<Instant> next = cron.next(now, berlin); // the first run after now, never at it
        Optional<Instant> previous = cron.previous(now, berlin); // the last one before
        String words = cron.describe(); // every weekday at 18:00
        // end::use
        assertThat(next).contains(Instant.parse("2025-01-06T17:00:00Z"));
        assertThat(previous).contains(Instant.parse("2025-01-03T17:00:00Z"));
        assertThat(words).isEqualTo("every weekday at 18:00");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 18 * * MON-FRI    | 2025-01-01T18:00, 2025-01-02T18:00, 2025-01-03T18:00, 2025-01-06T18:00",
                "30 0 18 * * *       | 2025-01-01T18:00:30, 2025-01-02T18:00:30",
                "*/20 * * * *        | 2025-01-01T00:20, 2025-01-01T00:40, 2025-01-01T01:00",
                "5/20 0 * * *        | 2025-01-01T00:05, 2025-01-01T00:25, 2025-01-01T00:45, 2025-01-02T00:05",
                "10-40/15 0 * * *    | 2025-01-01T00:10, 2025-01-01T00:25, 2025-01-01T00:40, 2025-01-02T00:10",
                "0 0 1 jan,Jul *     | 2025-07-01T00:00, 2026-01-01T00:00",
                "0 0 * * 7           | 2025-01-05T00:00, 2025-01-12T00:00",
                "0 0 * * 0           | 2025-01-05T00:00, 2025-01-12T00:00",
                "0 0 * * 5           | 2025-01-03T00:00, 2025-01-10T00:00",
                "0 0 * * FRI-SUN     | 2025-01-03T00:00, 2025-01-04T00:00, 2025-01-05T00:00, 2025-01-10T00:00",
                "0 0 * * SUN-MON     | 2025-01-05T00:00, 2025-01-06T00:00, 2025-01-12T00:00",
                "0 0 * * SUN-SUN     | 2025-01-05T00:00, 2025-01-12T00:00",
                "0 0 * * MON/2       | 2025-01-03T00:00, 2025-01-05T00:00, 2025-01-06T00:00, 2025-01-08T00:00",
                "0 0 13 * FRI        | 2025-01-03T00:00, 2025-01-10T00:00, 2025-01-13T00:00, 2025-01-17T00:00",
                "0 0 13 * ?          | 2025-01-13T00:00, 2025-02-13T00:00",
                "0 0 ? * FRI         | 2025-01-03T00:00, 2025-01-10T00:00",
                "0 0 */2 * MON       | 2025-01-13T00:00, 2025-01-27T00:00, 2025-02-03T00:00",
                "0 0 L * ?           | 2025-01-31T00:00, 2025-02-28T00:00, 2025-03-31T00:00",
                "0 0 L-3 * ?         | 2025-01-28T00:00, 2025-02-25T00:00",
                "0 0 L-30 * ?        | 2025-03-01T00:00, 2025-05-01T00:00",
                "0 0 LW * ?          | 2025-01-31T00:00, 2025-02-28T00:00, 2025-03-31T00:00, 2025-04-30T00:00, 2025-05-30T00:00",
                "0 0 15W * ?         | 2025-01-15T00:00, 2025-02-14T00:00, 2025-03-14T00:00, 2025-04-15T00:00",
                "0 0 1W * ?          | 2025-02-03T00:00, 2025-03-03T00:00, 2025-04-01T00:00",
                "0 0 31W * ?         | 2025-01-31T00:00, 2025-03-31T00:00, 2025-05-30T00:00, 2025-07-31T00:00, 2025-08-29T00:00",
                "0 0 1,15,L * ?      | 2025-01-15T00:00, 2025-01-31T00:00, 2025-02-01T00:00",
                "0 0 ? * 5L          | 2025-01-31T00:00, 2025-02-28T00:00, 2025-03-28T00:00",
                "0 0 ? * friL        | 2025-01-31T00:00, 2025-02-28T00:00, 2025-03-28T00:00",
                "0 0 ? * FRI#3       | 2025-01-17T00:00, 2025-02-21T00:00",
                "0 0 ? * 5#5         | 2025-01-31T00:00, 2025-05-30T00:00",
                "0 0 ? * 7#1         | 2025-01-05T00:00, 2025-02-02T00:00",
                "@yearly             | 2026-01-01T00:00, 2027-01-01T00:00",
                "@Annually           | 2026-01-01T00:00, 2027-01-01T00:00",
                "@monthly            | 2025-02-01T00:00, 2025-03-01T00:00",
                "@weekly             | 2025-01-05T00:00, 2025-01-12T00:00",
                "@DAILY              | 2025-01-02T00:00, 2025-01-03T00:00",
                "@midnight           | 2025-01-02T00:00, 2025-01-03T00:00",
                "@hourly             | 2025-01-01T01:00, 2025-01-01T02:00"
            })
    void runsFollowTheFields(String text, String expected) {
        List<String> runs = new ArrayList<>();
        Instant moment = Instant.parse("2025-01-01T00:00:00Z");
        for (int i = expected.split(", ", -1).length; i > 0; i--) {
            moment = CronExpression.parse(text).next(moment, ZoneOffset.UTC).orElseThrow();
            runs.add(LocalDateTime.ofInstant(moment, ZoneOffset.UTC).toString());
        }
        assertThat(String.join(", ", runs)).isEqualTo(expected);
    }

    @Test
    void nextIsAfterAndPreviousIsBefore() {
        CronExpression noon = CronExpression.parse("0 12 * * *");
        Instant today = Instant.parse("2025-01-02T12:00:00Z");
        Instant tomorrow = Instant.parse("2025-01-03T12:00:00Z");
        Instant yesterday = Instant.parse("2025-01-01T12:00:00Z");

        assertThat(noon.next(today.minusNanos(1), ZoneOffset.UTC)).contains(today);
        assertThat(noon.next(today, ZoneOffset.UTC)).contains(tomorrow);
        assertThat(noon.next(today.plusNanos(1), ZoneOffset.UTC)).contains(tomorrow);
        assertThat(noon.previous(today.plusNanos(1), ZoneOffset.UTC)).contains(today);
        assertThat(noon.previous(today, ZoneOffset.UTC)).contains(yesterday);
        assertThat(noon.previous(today.minusNanos(1), ZoneOffset.UTC)).contains(yesterday);
    }

    @Test
    void theTwentyNinthOfFebruaryComesInLeapYearsOnly() {
        CronExpression leapDay = CronExpression.parse("0 0 29 2 *");
        assertThat(years(leapDay, 1999, 4)).containsExactly(2000, 2004, 2008, 2012);
        assertThat(years(leapDay, 2095, 2)).containsExactly(2096, 2104);
        assertThat(leapDay.previous(Instant.parse("2104-01-01T00:00:00Z"), ZoneOffset.UTC))
                .contains(Instant.parse("2096-02-29T00:00:00Z"));
    }

    @Test
    void aLeapDayOnASundayIsFoundDecadesAway() {
        CronExpression sunday = CronExpression.parse("0 0 */28 2 0#5");
        assertThat(years(sunday, 2004, 4)).containsExactly(2032, 2060, 2088, 2128);
        for (ZoneId zone : List.of(ZoneOffset.UTC, ZoneId.of("Europe/Berlin"))) {
            Instant before = Instant.parse("2080-01-01T00:00:00Z");
            Instant found = sunday.next(before, zone).orElseThrow();
            assertThat(sunday.previous(found, zone).orElseThrow()).isBefore(before);
        }
    }

    private static List<Integer> years(CronExpression expression, int after, int count) {
        List<Integer> years = new ArrayList<>();
        Instant moment =
                LocalDate.of(after, 12, 31).atStartOfDay(ZoneOffset.UTC).toInstant();
        while (years.size() < count) {
            moment = expression.next(moment, ZoneOffset.UTC).orElseThrow();
            years.add(LocalDate.ofInstant(moment, ZoneOffset.UTC).getYear());
        }
        return years;
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTC", "Europe/Berlin", "Pacific/Apia", "Asia/Manila"})
    void thereAreRunsFromTheYear1ToTheYear9999(String zone) {
        CronExpression daily = CronExpression.parse("@daily");
        ZoneId id = ZoneId.of(zone);
        assertThat(daily.next(Instant.MAX, id)).isEmpty();
        assertThat(daily.next(Instant.parse("9999-12-31T23:59:59Z"), id)).isEmpty();
        assertThat(daily.previous(Instant.MIN, id)).isEmpty();
        assertThat(daily.previous(Instant.parse("0001-01-01T00:00:00Z"), id)).isEmpty();

        Instant first = daily.next(Instant.MIN, id).orElseThrow();
        Instant last = daily.previous(Instant.MAX, id).orElseThrow();
        assertThat(first).isBetween(Instant.parse("0001-01-01T00:00:00Z"), Instant.parse("0001-01-02T00:00:00Z"));
        assertThat(last).isBetween(Instant.parse("9999-12-31T00:00:00Z"), Instant.parse("9999-12-31T23:59:59Z"));
        assertThat(daily.previous(first, id)).isEmpty();
        assertThat(daily.next(last, id)).isEmpty();
    }

    @Test
    void offsetsWithSecondsAreTakenAsTheyAre() {
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        Instant run = CronExpression.parse("0 12 * * *")
                .next(Instant.parse("1850-06-01T00:00:00Z"), berlin)
                .orElseThrow();
        assertThat(run.atZone(berlin).toLocalDateTime()).isEqualTo(LocalDateTime.of(1850, 6, 1, 12, 0));
    }

    @Test
    void manyBlanksAndTabsSeparateFields() {
        assertThat(CronExpression.parse("  0\t18   * *  MON-FRI ").describe()).isEqualTo("every weekday at 18:00");
    }

    @Test
    void expressionsAreEqualWhenTheirTextIs() {
        CronExpression daily = CronExpression.parse("0 0 * * *");
        assertThat(daily).isEqualTo(CronExpression.parse("0 0 * * *")).hasToString("0 0 * * *");
        assertThat(daily).hasSameHashCodeAs(CronExpression.parse("0 0 * * *"));
        assertThat(daily).isNotEqualTo(CronExpression.parse("@daily"));
    }

    @Test
    void lettersAreTheSameInEveryLanguage() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(new Locale("tr", "TR"));
            assertThat(CronExpression.parse("0 0 * * fri").describe()).isEqualTo("every Friday at 00:00");
            assertThat(CronExpression.parse("@midnight").describe()).isEqualTo("every day at 00:00");
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void theLongestListsAreAllowed() {
        String all = IntStream.rangeClosed(0, 59)
                .mapToObj(Integer::toString)
                .reduce((a, b) -> a + "," + b)
                .orElseThrow();
        assertThat(CronExpression.parse(all + " * * * *").describe()).isEqualTo("every minute");
    }
}
