package dev.windlass.cron;

import java.time.LocalDate;
import java.time.YearMonth;
import java.util.List;

/** The dates that match: the month, the day of the month, the day of the week. */
final class Days {
    static final long NONE = Long.MIN_VALUE;
    private static final long EVERY_DAY_OF_WEEK = Bits.range(0, 6);

    private final long months;
    private final long daysOfMonth;
    private final List<DayRule> rulesOfMonth;
    private final long daysOfWeek;
    private final List<DayRule> rulesOfWeek;
    private final Together together;

    Days(FieldValues dayOfMonth, FieldValues month, FieldValues dayOfWeek) {
        months = month.bits();
        daysOfMonth = dayOfMonth.bits();
        rulesOfMonth = dayOfMonth.rules();
        daysOfWeek = dayOfWeek.bits();
        rulesOfWeek = dayOfWeek.rules();
        together = Together.of(dayOfMonth, dayOfWeek);
    }

    /** The days of the month that match, the d-th as bit d. */
    long in(YearMonth month) {
        if (!Bits.contains(months, month.getMonthValue())) {
            return 0;
        }
        return switch (together) {
            case DAY_OF_MONTH -> byDayOfMonth(month);
            case DAY_OF_WEEK -> byDayOfWeek(month);
            case BOTH -> byDayOfMonth(month) & byDayOfWeek(month);
            case EITHER -> byDayOfMonth(month) | byDayOfWeek(month);
        };
    }

    private long byDayOfMonth(YearMonth month) {
        long days = daysOfMonth & Bits.range(1, month.lengthOfMonth());
        for (DayRule rule : rulesOfMonth) {
            days |= rule.days(month);
        }
        return days;
    }

    private long byDayOfWeek(YearMonth month) {
        long days = everyWeek(month);
        for (DayRule rule : rulesOfWeek) {
            days |= rule.days(month);
        }
        return days;
    }

    private long everyWeek(YearMonth month) {
        long all = Bits.range(1, month.lengthOfMonth());
        if (daysOfWeek == EVERY_DAY_OF_WEEK) {
            return all;
        }
        int first = month.atDay(1).getDayOfWeek().getValue() % 7;
        long week = (daysOfWeek >>> first) | ((daysOfWeek << (7 - first)) & EVERY_DAY_OF_WEEK);
        long weeks = week | week << 7 | week << 14 | week << 21 | week << 28;
        return weeks << 1 & all;
    }

    /** The first matching date from {@code from} to {@code to}, as epoch days, or {@link #NONE}. */
    long first(long from, long to) {
        LocalDate date = LocalDate.ofEpochDay(from);
        YearMonth last = YearMonth.from(LocalDate.ofEpochDay(to));
        int earliest = date.getDayOfMonth();
        for (YearMonth month = YearMonth.from(date); !month.isAfter(last); month = month.plusMonths(1)) {
            int day = Bits.atOrAfter(in(month), earliest);
            if (day != Bits.NONE) {
                long found = month.atDay(day).toEpochDay();
                return found <= to ? found : NONE;
            }
            earliest = 1;
        }
        return NONE;
    }

    /** The last matching date from {@code from} to {@code to}, as epoch days, or {@link #NONE}. */
    long last(long from, long to) {
        LocalDate date = LocalDate.ofEpochDay(to);
        YearMonth first = YearMonth.from(LocalDate.ofEpochDay(from));
        int latest = date.getDayOfMonth();
        for (YearMonth month = YearMonth.from(date); !month.isBefore(first); month = month.minusMonths(1)) {
            int day = Bits.atOrBefore(in(month), latest);
            if (day != Bits.NONE) {
                long found = month.atDay(day).toEpochDay();
                return found >= from ? found : NONE;
            }
            latest = 31;
        }
        return NONE;
    }

    /** Which of the two day fields decides. */
    enum Together {
        DAY_OF_MONTH,
        DAY_OF_WEEK,
        BOTH,
        EITHER;

        static Together of(FieldValues dayOfMonth, FieldValues dayOfWeek) {
            if (dayOfMonth.open()) {
                return DAY_OF_WEEK;
            }
            if (dayOfWeek.open()) {
                return DAY_OF_MONTH;
            }
            return dayOfMonth.hasStar() || dayOfWeek.hasStar() ? BOTH : EITHER;
        }
    }
}
