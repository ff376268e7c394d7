package dev.windlass.cron;

import java.time.DayOfWeek;
import java.time.Month;
import java.time.format.TextStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The dates in words: "every weekday", "on the last Friday of every month". */
final class DayWords {
    private static final long ALL_MONTHS = Bits.range(1, 12);
    private static final long ALL_WEEK = Bits.range(0, 6);
    private static final long WORKDAYS = Bits.range(1, 5);
    private static final List<String> NTH = List.of("first", "second", "third", "fourth", "fifth");

    private final FieldValues dayOfMonth;
    private final FieldValues dayOfWeek;
    private final long months;
    private final Days.Together together;

    DayWords(Fields fields) {
        dayOfMonth = fields.dayOfMonth();
        dayOfWeek = fields.dayOfWeek();
        months = fields.month().bits();
        together = Days.Together.of(dayOfMonth, dayOfWeek);
    }

    boolean areAll() {
        return months == ALL_MONTHS && !byDate() && !byWeek();
    }

    boolean areConditional() {
        return byDate() && byWeek() && together == Days.Together.BOTH;
    }

    String text() {
        if (areConditional()) {
            return dates() + ", if it is " + condition();
        }
        if (byDate() && byWeek()) {
            return dates() + " and " + week();
        }
        return byDate() ? dates() : week();
    }

    private boolean byDate() {
        return !dayOfMonth.open() && dayOfMonth.bits() != Bits.range(1, 31);
    }

    private boolean byWeek() {
        return !dayOfWeek.open() && dayOfWeek.bits() != ALL_WEEK;
    }

    /** "on the 1st and 15th of every month". */
    private String dates() {
        List<String> dates = new ArrayList<>();
        long bits = dayOfMonth.bits();
        if (Words.isRun(bits)) {
            dates.add(Words.span(bits, Words::ordinal));
        } else {
            for (int day : Bits.values(bits)) {
                dates.add(Words.ordinal(day));
            }
        }
        dayOfMonth.rules().forEach(rule -> dates.add(rule(rule)));
        return "on the " + Words.list(dates) + ofMonths();
    }

    /** "every weekday", "every Monday and on the last Friday of every month". */
    private String week() {
        List<String> parts = new ArrayList<>();
        if (!byWeek() || dayOfWeek.bits() != 0) {
            parts.add("every " + week(byWeek() ? dayOfWeek.bits() : ALL_WEEK) + inMonths());
        }
        if (!dayOfWeek.rules().isEmpty()) {
            parts.add("on the " + Words.list(rulesOfWeek()) + ofMonths());
        }
        return Words.list(parts);
    }

    private String condition() {
        List<String> parts = new ArrayList<>();
        if (dayOfWeek.bits() != 0) {
            parts.add("a " + week(dayOfWeek.bits()).replace(" and ", " or "));
        }
        rulesOfWeek().forEach(rule -> parts.add("the " + rule));
        return String.join(" or ", parts);
    }

    private List<String> rulesOfWeek() {
        return dayOfWeek.rules().stream().map(DayWords::rule).toList();
    }

    private static String rule(DayRule rule) {
        if (rule instanceof DayRule.LastDay last) {
            return switch (last.before()) {
                case 0 -> "last day";
                case 1 -> "day before the last day";
                default -> Words.ordinal(last.before()) + " day before the last day";
            };
        }
        if (rule instanceof DayRule.NearestWorkday nearest) {
            return "weekday nearest to the " + Words.ordinal(nearest.day());
        }
        if (rule instanceof DayRule.LastOf last) {
            return "last " + nameOfDay(last.dayOfWeek());
        }
        if (rule instanceof DayRule.NthOf nth) {
            return NTH.get(nth.n() - 1) + " " + nameOfDay(nth.dayOfWeek());
        }
        return "last weekday";
    }

    private static String week(long bits) {
        if (bits == ALL_WEEK) {
            return "day";
        }
        if (bits == WORKDAYS) {
            return "weekday";
        }
        // A week ends with its Sunday, for whoever reads a list of days.
        long fromMonday = (bits & 1) == 0 ? bits : (bits & ~1L) | (1L << 7);
        return Words.list(fromMonday, DayWords::nameOfDay);
    }

    private String ofMonths() {
        return months == ALL_MONTHS ? " of every month" : " of " + namesOfMonths();
    }

    private String inMonths() {
        return months == ALL_MONTHS ? "" : (Words.isRun(months) ? " from " : " in ") + namesOfMonths();
    }

    private String namesOfMonths() {
        return Words.isRun(months)
                ? Words.span(months, DayWords::nameOfMonth)
                : Words.list(months, DayWords::nameOfMonth);
    }

    private static String nameOfMonth(int month) {
        return Month.of(month).getDisplayName(TextStyle.FULL, Locale.ENGLISH);
    }

    private static String nameOfDay(int dayOfWeek) {
        return DayOfWeek.of(dayOfWeek == 0 ? 7 : dayOfWeek).getDisplayName(TextStyle.FULL, Locale.ENGLISH);
    }
}
