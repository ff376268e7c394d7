package dev.windlass.cron;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Reads one field. */
final class FieldParser {
    private static final int TOO_BIG = 1_000_000;

    private final String expression;
    private final Field field;
    private final String text;
    private final int position;
    private final List<Span> spans = new ArrayList<>();
    private final List<DayRule> rules = new ArrayList<>();

    FieldParser(String expression, Field field, String text, int position) {
        this.expression = expression;
        this.field = field;
        this.text = text;
        this.position = position;
    }

    FieldValues parse() {
        boolean open = field.isDay() && text.equals("?");
        if (!open) {
            list();
        }
        return new FieldValues(field, text, position, open, List.copyOf(spans), List.copyOf(rules));
    }

    private void list() {
        int start = 0;
        for (int i = 0; i <= text.length(); i++) {
            if (i == text.length() || text.charAt(i) == ',') {
                element(new Piece(text.substring(start, i).toUpperCase(Locale.ROOT), position + start));
                start = i + 1;
            }
        }
    }

    private void element(Piece piece) {
        if (piece.text().isEmpty()) {
            throw wrong(
                    new Piece(",", Math.max(position, piece.at() - 1)), "expected a value between commas, got none");
        }
        if (piece.text().equals("*") && text.length() > 1) {
            throw wrong(piece, "expected * to be alone in its field, got it in a list");
        }
        if (piece.text().equals("?")) {
            throw wrong(
                    piece,
                    field.isDay()
                            ? "expected ? to be alone in its field, got it in a list"
                            : "expected " + field.allowed() + ", got ?, which only the day fields can be");
        }
        if (field == Field.DAY_OF_MONTH && dayOfMonthRule(piece)) {
            return;
        }
        if (field == Field.DAY_OF_WEEK && dayOfWeekRule(piece)) {
            return;
        }
        spans.add(span(piece));
    }

    private boolean dayOfMonthRule(Piece piece) {
        String s = piece.text();
        if (s.equals("L")) {
            rules.add(new DayRule.LastDay(0));
        } else if (s.equals("LW")) {
            rules.add(new DayRule.LastWorkday());
        } else if (s.startsWith("L-")) {
            rules.add(new DayRule.LastDay(number(piece.from(2), 1, 30, "a number of days from 1 to 30 after L-")));
        } else if (s.endsWith("W")) {
            rules.add(new DayRule.NearestWorkday(
                    number(piece.to(s.length() - 1), 1, 31, "a single day from 1 to 31, or L, before W")));
        } else {
            return false;
        }
        return true;
    }

    private boolean dayOfWeekRule(Piece piece) {
        String s = piece.text();
        int hash = s.indexOf('#');
        if (hash >= 0) {
            int n = number(piece.from(hash + 1), 1, 5, "a number from 1 to 5 after #");
            rules.add(new DayRule.NthOf(dayBefore("#", piece.to(hash)), n));
        } else if (s.endsWith("L")) {
            rules.add(new DayRule.LastOf(dayBefore("L", piece.to(s.length() - 1))));
        } else {
            return false;
        }
        return true;
    }

    private int dayBefore(String sign, Piece piece) {
        int day = field.named(piece.text());
        return (day >= 0
                        ? day
                        : number(
                                piece,
                                field.min,
                                field.max,
                                "a day of the week before " + sign + ", as in 5" + sign + " or FRI" + sign))
                % 7;
    }

    private Span span(Piece piece) {
        int slash = piece.text().indexOf('/');
        if (slash < 0) {
            return range(piece);
        }
        int widest = field.last() - field.min;
        int step = number(
                piece.from(slash + 1),
                1,
                widest,
                "a step from 1 to " + widest + " after /, so that it is taken at least once");
        Span base = range(piece.to(slash));
        return switch (base.form()) {
            case STAR -> new Span(base.from(), base.to(), step, Span.Form.STAR);
            case VALUE -> new Span(base.from(), field.max, step, Span.Form.STEPS);
            case RANGE, STEPS -> new Span(base.from(), base.to(), step, Span.Form.STEPS);
        };
    }

    private Span range(Piece piece) {
        if (piece.text().equals("*")) {
            return new Span(field.min, field.last(), 1, Span.Form.STAR);
        }
        int dash = piece.text().indexOf('-');
        if (dash < 0) {
            int value = value(piece);
            return new Span(value, value, 1, Span.Form.VALUE);
        }
        Piece first = piece.to(dash);
        Piece last = piece.from(dash + 1);
        int from = value(first);
        int to = value(last);
        if (field == Field.DAY_OF_WEEK && from > 0 && last.text().equals("SUN")) {
            to = field.max;
        }
        if (from > to) {
            throw wrong(
                    piece,
                    "expected a range that goes up, got " + piece.text() + "; write "
                            + field.unwrapped(first.text(), last.text()));
        }
        return new Span(from, to, 1, Span.Form.RANGE);
    }

    private int value(Piece piece) {
        int named = field.named(piece.text());
        if (named >= 0) {
            return named;
        }
        boolean number = !piece.text().isEmpty() && piece.text().chars().allMatch(c -> c >= '0' && c <= '9');
        return number(piece, field.min, field.max, number ? field.single() : field.allowed());
    }

    private int number(Piece piece, int min, int max, String expected) {
        int number = piece.text().isEmpty() ? -1 : 0;
        for (int i = 0; i < piece.text().length() && number >= 0; i++) {
            int digit = piece.text().charAt(i) - '0';
            number = digit < 0 || digit > 9 ? -1 : Math.min(number * 10 + digit, TOO_BIG);
        }
        if (number < min || number > max) {
            String got = piece.text().isEmpty() ? "nothing" : CronSyntaxException.printable(piece.text());
            throw wrong(piece, "expected " + expected + ", got " + got);
        }
        return number;
    }

    private CronSyntaxException wrong(Piece piece, String problem) {
        return new CronSyntaxException(
                expression, field, piece.at(), piece.text().length(), problem);
    }

    /** Part of the field, and where it is in the expression. */
    private record Piece(String text, int at) {

        Piece to(int end) {
            return new Piece(text.substring(0, end), at);
        }

        Piece from(int start) {
            return new Piece(text.substring(start), at + start);
        }
    }
}
