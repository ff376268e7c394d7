package dev.windlass.cron;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.windlass.Repository;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CronSyntaxTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "60 * * * * *    | second       | 0  | expected a number from 0 to 59, got 60",
                "60 * * * *      | minute       | 0  | expected a number from 0 to 59, got 60",
                "0 25 * * *      | hour         | 2  | expected a number from 0 to 23, got 25",
                "0 0 0 32 * *    | day of month | 6  | expected a number from 1 to 31, got 32",
                "0 0 0 * *       | day of month | 4  | expected a number from 1 to 31, got 0",
                "0 0 * 13 *      | month        | 6  | expected a number from 1 to 12 or a name from JAN to DEC, got 13",
                "0 0 * * 8       | day of week  | 8  | expected a number from 0 to 7 (0 and 7 are Sunday) or a name",
                "0 0 * MON *     | month        | 6  | a name from JAN to DEC, a range, steps",
                "0 0 * * MONDAY  | day of week  | 8  | also FRIL (the last), FRI#3 (the third), and ? alone, got MONDAY",
                "x * * * *       | minute       | 0  | expected a number from 0 to 59, a range, steps (*/n, a/n, a-b/n), a list of",
                "0 -1 * * *      | hour         | 2  | got nothing",
                "0 99999999999999999999 * * * | hour | 2 | expected a number from 0 to 23, got 99999999999999999999",
                "0 22-2 * * *    | hour         | 2  | expected a range that goes up, got 22-2; write 22-23,0-2",
                "0 0 * NOV-FEB * | month        | 6  | write NOV-DEC,JAN-FEB",
                "0 0 * * FRI-MON | day of week  | 8  | write FRI-SUN,MON-MON",
                "0 0 * * 5-0     | day of week  | 8  | write 5-7",
                "1-2-3 * * * *   | minute       | 2  | got 2-3",
                "1- * * * *      | minute       | 2  | got nothing",
                "*/0 * * * *     | minute       | 2  | expected a step from 1 to 59 after /, so that it is taken at least once, got 0",
                "*/60 * * * *    | minute       | 2  | expected a step from 1 to 59",
                "*/ * * * *      | minute       | 2  | after /, so that it is taken at least once, got nothing",
                "*/2/3 * * * *   | minute       | 2  | got 2/3",
                "*/-5 * * * *    | minute       | 2  | got -5",
                "/5 * * * *      | minute       | 0  | got nothing",
                "**  * * * *     | minute       | 0  | got **",
                "1,,2 * * * *    | minute       | 1  | expected a value between commas, got none",
                ",1 * * * *      | minute       | 0  | expected a value between commas, got none",
                "1, * * * *      | minute       | 1  | expected a value between commas, got none",
                "*,5 * * * *     | minute       | 0  | expected * to be alone in its field, got it in a list",
                "0 ? * * *       | hour         | 2  | got ?, which only the day fields can be",
                "0 0 1,? * *     | day of month | 6  | expected ? to be alone in its field, got it in a list",
                "0 0 ? * ?       | day of week  | 8  | expected ? in one of the two day fields, got it in both",
                "0 L * * *       | hour         | 2  | expected a number from 0 to 23, a range",
                "0 0 * * L       | day of week  | 8  | expected a day of the week before L, as in 5L or FRIL, got nothing",
                "0 0 * * 9L      | day of week  | 8  | expected a day of the week before L",
                "0 0 * * #2      | day of week  | 8  | expected a day of the week before #, as in 5# or FRI#, got nothing",
                "0 0 * * FRI#6   | day of week  | 12 | expected a number from 1 to 5 after #, got 6",
                "0 0 * * 1-5#2   | day of week  | 8  | expected a day of the week before #",
                "0 0 L-0 * ?     | day of month | 6  | expected a number of days from 1 to 30 after L-, got 0",
                "0 0 L-31 * ?    | day of month | 6  | expected a number of days from 1 to 30 after L-, got 31",
                "0 0 32W * ?     | day of month | 4  | expected a single day from 1 to 31, or L, before W, got 32",
                "0 0 1-5W * ?    | day of month | 4  | expected a single day from 1 to 31, or L, before W, got 1-5",
                "0 0 L-3W * ?    | day of month | 6  | got 3W",
                "0 0 FRI#1 * ?   | day of month | 4  | got FRI#1",
                "0 0 31 2 *      | day of month | 4  | expected a date that comes, got day 31 of month 2 with day of week *",
                "0 0 30 FEB ?    | day of month | 4  | expected a date that comes, got day 30 of month FEB",
                "0 0 31 4,6,9,11 ? | day of month | 4 | expected a date that comes",
                "0 0 L-29 2 ?    | day of month | 4  | expected a date that comes",
                "0 0 */30 * MON#2 | day of month | 4 | with day of week MON#2, which is in no year"
            })
    void pointsAtTheField(String text, String field, int position, String message) {
        CronSyntaxException e = refused(text);
        assertThat(e.field()).contains(field);
        assertThat(e.position()).isEqualTo(position);
        assertThat(e).hasMessageStartingWith(field + ": expected ").hasMessageContaining(message);
        assertThat(e.getMessage()).hasLineCount(3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''               | 0  | expected 5 fields (minute, hour, day of month, month, day of week), or 6",
                "'   '            | 0  | with the second in front, got nothing",
                "* * * *          | 0  | with the second in front, got 4",
                "0 0 0 * * ? 2025 | 12 | got 7; there is no field for the year",
                "0 0 0 * * ? * *  | 12 | with the second in front, got 8",
                "@every 5m        | 0  | expected @yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly",
                "' @reboot'       | 1  | (for a fixed interval there is no macro), got @reboot"
            })
    void pointsAtTheExpression(String text, int position, String message) {
        CronSyntaxException e = refused(text);
        assertThat(e.field()).isEmpty();
        assertThat(e.position()).isEqualTo(position);
        assertThat(e).hasMessageContaining(message);
    }

    @Test
    void marksTheWrongPart() {
        assertThat(refused("0 0 12-25 * * *")).hasMessage("""
                        hour: expected a number from 0 to 23, got 25
                        0 0 12-25 * * *
                               ^^""");
    }

    @Test
    void marksTheWrongPartAsOnThePage() throws IOException {
        assertThat(Repository.read("docs/cron.md"))
                .contains("```\n" + refused("0 25 * * *").getMessage() + "\n```");
    }

    @Test
    void reportsTheFirstOfSeveralErrors() {
        assertThat(refused("99 99 99 99 99").field()).contains("minute");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\u0663 * * * *",
                "0 0 * * fr\u0131",
                "0\u00a00 * * *",
                "0 0 * *\n*",
                "0 0 * * *\r\n",
                "\u001b[31m0 0 * * *",
                "0 0 * * \u0000",
                "\uff10 0 * * *",
                "\ud83d\ude00 * * * *"
            })
    void refusesWhateverIsNotAsciiWithoutRepeatingIt(String text) {
        CronSyntaxException e = refused(text);
        assertThat(e.getMessage()).contains("got the character U+").matches("(?s)[ -~\n]*");
    }

    @Test
    void refusesLongTextsAtOnce() {
        CronSyntaxException e = refused("0,".repeat(10_000_000) + "0 * * * *");
        assertThat(e).hasMessageContaining("expected at most 255 characters, got 20000009");
        assertThat(e.getMessage()).hasSizeLessThan(300);
        assertThatThrownBy(() -> CronExpression.parse("1".repeat(240) + " * * * *"))
                .isInstanceOf(CronSyntaxException.class)
                .satisfies(long240 -> assertThat(long240.getMessage()).hasSizeLessThan(400));
    }

    @Test
    void datesThatComeRarelyAreNotRefused() {
        assertThat(CronExpression.parse("0 0 29 2 *").describe()).startsWith("on the 29th of February");
        assertThat(CronExpression.parse("0 0 31 2 MON").describe()).contains("every Monday in February");
        assertThat(CronExpression.parse("0 0 ? 2 MON#5").describe()).startsWith("on the fifth Monday of February");
        assertThat(CronExpression.parse("0 0 30,31 2,3 ?").describe()).startsWith("on the 30th and 31st");
        assertThat(CronExpression.parse("0 0 L-28 2 ?").describe()).startsWith("on the 28th day before");
    }

    @Test
    void noiseIsReadOrRefusedAndNothingElse() {
        long seed = Long.getLong("windlass.seed", System.nanoTime());
        Random random = new Random(seed);
        String alphabet = "0123456789*/,-?LW#@ \tMONFRIJANSUNlw\u0660\n";
        for (int i = 0; i < 50_000; i++) {
            StringBuilder text = new StringBuilder(random.nextBoolean() ? "" : "0 0 * * ");
            for (int length = random.nextInt(20); length > 0; length--) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            try {
                CronExpression.parse(text.toString());
            } catch (CronSyntaxException e) {
                assertThat(e.position()).as("%s, seed %d", text, seed).isBetween(0, text.length());
            }
        }
    }

    private static CronSyntaxException refused(String text) {
        return catchThrowableOfType(CronSyntaxException.class, () -> CronExpression.parse(text));
    }
}
