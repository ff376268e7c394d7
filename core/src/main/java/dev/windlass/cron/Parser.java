package dev.windlass.cron;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Takes an expression apart into its fields. */
final class Parser {
    static final int MAX_LENGTH = 255;
    private static final String FIELDS =
            "5 fields (minute, hour, day of month, month, day of week), or 6 with the second in front";
    private static final String MACRO_NAMES =
            "@yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly (for a fixed interval there is no macro)";
    private static final Map<String, String> MACROS = Map.of(
            "@YEARLY", "0 0 1 1 *",
            "@ANNUALLY", "0 0 1 1 *",
            "@MONTHLY", "0 0 1 * *",
            "@WEEKLY", "0 0 * * 0",
            "@DAILY", "0 0 * * *",
            "@MIDNIGHT", "0 0 * * *",
            "@HOURLY", "0 * * * *");

    /** There are fourteen calendars, by the day of the week on 1 January and by the leap day; these 28 years have them all. */
    private static final long CALENDARS_START = LocalDate.of(2000, 1, 1).toEpochDay();

    private static final long CALENDARS_END = LocalDate.of(2027, 12, 31).toEpochDay();

    private final String text;

    private Parser(String text) {
        this.text = text;
    }

    static Fields parse(String text) {
        Parser parser = new Parser(text);
        parser.refuseWhatNoFieldCanContain();
        return text.strip().startsWith("@") ? parser.macro() : parser.fields();
    }

    private void refuseWhatNoFieldCanContain() {
        if (text.length() > MAX_LENGTH) {
            throw wrong(0, 1, "expected at most " + MAX_LENGTH + " characters, got " + text.length());
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!(c >= ' ' && c < 127) && c != '\t') {
                String name = String.format(Locale.ROOT, "U+%04X", (int) c);
                throw wrong(i, 1, "expected ASCII letters, digits and signs, got the character " + name);
            }
        }
    }

    private Fields macro() {
        String name = text.strip();
        String meaning = MACROS.get(name.toUpperCase(Locale.ROOT));
        if (meaning == null) {
            throw wrong(
                    text.indexOf('@'),
                    name.length(),
                    "expected " + MACRO_NAMES + ", got " + CronSyntaxException.printable(name));
        }
        return new Parser(meaning).fields();
    }

    private Fields fields() {
        List<Word> words = words();
        if (words.size() != 5 && words.size() != 6) {
            throw wrongNumber(words);
        }
        if (words.size() == 5) {
            words.add(0, new Word("0", 0));
        }
        Fields fields = new Fields(
                field(Field.SECOND, words.get(0)),
                field(Field.MINUTE, words.get(1)),
                field(Field.HOUR, words.get(2)),
                field(Field.DAY_OF_MONTH, words.get(3)),
                field(Field.MONTH, words.get(4)),
                field(Field.DAY_OF_WEEK, words.get(5)));
        refuseTwoOpenDays(fields);
        refuseDatesThatNeverCome(fields);
        return fields;
    }

    private List<Word> words() {
        List<Word> words = new ArrayList<>();
        int start = 0;
        for (int i = 0; i <= text.length(); i++) {
            if (i == text.length() || text.charAt(i) == ' ' || text.charAt(i) == '\t') {
                if (i > start) {
                    words.add(new Word(text.substring(start, i), start));
                }
                start = i + 1;
            }
        }
        return words;
    }

    private CronSyntaxException wrongNumber(List<Word> words) {
        if (words.isEmpty()) {
            return wrong(0, 1, "expected " + FIELDS + ", got nothing");
        }
        String got = "expected " + FIELDS + ", got " + words.size();
        if (words.size() < 5) {
            return wrong(0, text.length(), got);
        }
        Word extra = words.get(6);
        return wrong(
                extra.position(),
                extra.text().length(),
                words.size() == 7 ? got + "; there is no field for the year" : got);
    }

    private FieldValues field(Field field, Word word) {
        return new FieldParser(text, field, word.text(), word.position()).parse();
    }

    private void refuseTwoOpenDays(Fields fields) {
        if (fields.dayOfMonth().open() && fields.dayOfWeek().open()) {
            throw new CronSyntaxException(
                    text,
                    Field.DAY_OF_WEEK,
                    fields.dayOfWeek().position(),
                    1,
                    "expected ? in one of the two day fields, got it in both; * means every day");
        }
    }

    private void refuseDatesThatNeverCome(Fields fields) {
        if (fields.days().first(CALENDARS_START, CALENDARS_END) == Days.NONE) {
            throw new CronSyntaxException(
                    text,
                    Field.DAY_OF_MONTH,
                    fields.dayOfMonth().position(),
                    fields.dayOfMonth().text().length(),
                    "expected a date that comes, got day " + fields.dayOfMonth().text() + " of month "
                            + fields.month().text() + " with day of week "
                            + fields.dayOfWeek().text() + ", which is in no year");
        }
    }

    private CronSyntaxException wrong(int position, int length, String problem) {
        return new CronSyntaxException(text, position, length, problem);
    }

    private record Word(String text, int position) {}
}
