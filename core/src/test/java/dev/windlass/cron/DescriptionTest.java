package dev.windlass.cron;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Repository;
import java.io.IOException;
import java.util.Random;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class DescriptionTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 18 * * MON-FRI          | every weekday at 18:00",
                "30 2 * * *                | every day at 02:30",
                "15 30 2 * * *             | every day at 02:30:15",
                "0,30 30 2 * * *           | every day at 02:30:00 and 02:30:30",
                "0,30 2 * * *              | every day at 02:00 and 02:30",
                "0 9,12,15 * * *           | every day at 09:00, 12:00 and 15:00",
                "0 */5 * * *               | every day at 00:00, 05:00, 10:00, 15:00 and 20:00",
                "0 0,12 * * *              | every day at 00:00 and 12:00",
                "* * * * * *               | every second",
                "*/10 * * * * *            | every 10 seconds",
                "*/10 * 9-17 * * *         | every 10 seconds from 09:00 to 17:59",
                "*/10 30 * * * *           | every 10 seconds of minute 30 of every hour",
                "0-9 30 2 * * *            | at seconds 0 to 9 of minute 30 from 02:00 to 02:59",
                "5,10 * * * * *            | at seconds 5 and 10 of every minute",
                "* * * * *                 | every minute",
                "30 * * * * *              | every minute, at second 30",
                "*/5 * * * *               | every 5 minutes",
                "0/5 * * * *               | every 5 minutes",
                "*/45 * * * *              | every hour at minutes 0 and 45",
                "*/15 9-17 * * MON-FRI     | every 15 minutes from 09:00 to 17:59, every weekday",
                "*/15 2 * * *              | every 15 minutes from 02:00 to 02:59",
                "*/15 */2 * * *            | every 15 minutes in every 2nd hour",
                "*/15 8,20 * * *           | every 15 minutes in hours 8 and 20",
                "@hourly                   | every hour",
                "15 * * * *                | every hour at minute 15",
                "5-8 * * * *               | every hour at minutes 5 to 8",
                "0 */2 * * *               | every 2 hours",
                "15 */6 * * *              | every 6 hours at minute 15",
                "15 9-17 * * *             | every hour from 09:15 to 17:15",
                "15,45 9-17 * * *          | at minutes 15 and 45 from 09:00 to 17:59",
                "0 0 * * SAT,SUN           | every Saturday and Sunday at 00:00",
                "0 0 * * 1,3,5             | every Monday, Wednesday and Friday at 00:00",
                "0 8 * JUN-AUG MON-FRI     | every weekday from June to August at 08:00",
                "0 8 * 6 *                 | every day in June at 08:00",
                "*/5 * * 6,12 *            | every 5 minutes, every day in June and December",
                "@monthly                  | on the 1st of every month at 00:00",
                "@yearly                   | on the 1st of January at 00:00",
                "0 0 1-7 * ?               | on the 1st to 7th of every month at 00:00",
                "0 0 2,3,11,12,13,22 * ?   | on the 2nd, 3rd, 11th, 12th, 13th and 22nd of every month at 00:00",
                "0 0 L * ?                 | on the last day of every month at 00:00",
                "0 0 L-1 * ?               | on the day before the last day of every month at 00:00",
                "0 0 L-3 * ?               | on the 3rd day before the last day of every month at 00:00",
                "0 0 LW * ?                | on the last weekday of every month at 00:00",
                "0 0 15W * ?               | on the weekday nearest to the 15th of every month at 00:00",
                "0 0 1,15,L * ?            | on the 1st, 15th and last day of every month at 00:00",
                "0 0 ? * FRIL              | on the last Friday of every month at 00:00",
                "0 0 ? 3 5#3               | on the third Friday of March at 00:00",
                "0 0 ? * MON,FRI#1         | every Monday and on the first Friday of every month at 00:00",
                "0 0 13 * FRI              | on the 13th of every month and every Friday at 00:00",
                "0 0 */10 * MON            | on the 1st, 11th, 21st and 31st of every month, if it is a Monday, at 00:00",
                "0 0 13 * */2              | on the 13th of every month, if it is a Tuesday, Thursday, Saturday or Sunday, at 00:00",
                "*/5 * L * ?               | every 5 minutes, on the last day of every month"
            })
    void saysItInWords(String text, String words) {
        assertThat(CronExpression.parse(text).describe()).isEqualTo(words);
    }

    @ParameterizedTest
    @MethodSource("rows")
    void saysItInTheWordsOfThePage(String text, String words) {
        assertThat(CronExpression.parse(text).describe()).isEqualTo(words);
    }

    static Stream<Object[]> rows() throws IOException {
        Pattern row = Pattern.compile("(?m)^\\| `([^`]+)` \\| ((?:every|on|at) [^`|]+) \\|$");
        return row.matcher(Repository.read("docs/cron.md"))
                .results()
                .filter(match -> match.group(1).contains(" "))
                .map((MatchResult match) -> new Object[] {match.group(1), match.group(2)});
    }

    @Test
    void thePageHasExamples() throws IOException {
        assertThat(rows()).hasSizeGreaterThan(8);
    }

    @Test
    void hasWordsForEverything() {
        long seed = Long.getLong("windlass.seed", System.nanoTime());
        RandomExpressions expressions = new RandomExpressions(new Random(seed));
        for (int i = 0; i < 2000; i++) {
            String text = expressions.any();
            try {
                assertThat(CronExpression.parse(text).describe())
                        .as("%s, seed %d", text, seed)
                        .matches("(every|on|at) .*[^ ,]")
                        .doesNotContain("  ");
            } catch (CronSyntaxException impossible) {
                assertThat(impossible).hasMessageContaining("in no year");
            }
        }
    }
}
