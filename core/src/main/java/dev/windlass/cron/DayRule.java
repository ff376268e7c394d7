package dev.windlass.cron;

import java.time.YearMonth;

/** An element of a day field that names other dates in each month. Bit d of its answer is the d-th day. */
sealed interface DayRule {

    long days(YearMonth month);

    /** {@code L}, and {@code L-3} for three days before it. */
    record LastDay(int before) implements DayRule {
        @Override
        public long days(YearMonth month) {
            int day = month.lengthOfMonth() - before;
            return day < 1 ? 0 : 1L << day;
        }
    }

    /** {@code LW}: the last day from Monday to Friday. */
    record LastWorkday() implements DayRule {
        @Override
        public long days(YearMonth month) {
            int last = month.lengthOfMonth();
            int weekday = weekday(month, last);
            return 1L << (weekday == 0 ? last - 2 : weekday == 6 ? last - 1 : last);
        }
    }

    /** {@code 15W}: the day from Monday to Friday that is nearest, in the same month. */
    record NearestWorkday(int day) implements DayRule {
        @Override
        public long days(YearMonth month) {
            int last = month.lengthOfMonth();
            if (day > last) {
                return 0;
            }
            return 1L
                    << switch (weekday(month, day)) {
                        case 6 -> day == 1 ? 3 : day - 1;
                        case 0 -> day == last ? day - 2 : day + 1;
                        default -> day;
                    };
        }
    }

    /** {@code FRIL}: the last Friday. */
    record LastOf(int dayOfWeek) implements DayRule {
        @Override
        public long days(YearMonth month) {
            int last = month.lengthOfMonth();
            return 1L << (last - Math.floorMod(weekday(month, last) - dayOfWeek, 7));
        }
    }

    /** {@code FRI#3}: the third Friday. */
    record NthOf(int dayOfWeek, int n) implements DayRule {
        @Override
        public long days(YearMonth month) {
            int day = 1 + Math.floorMod(dayOfWeek - weekday(month, 1), 7) + 7 * (n - 1);
            return day > month.lengthOfMonth() ? 0 : 1L << day;
        }
    }

    /** Counted from Sunday, as cron does. */
    private static int weekday(YearMonth month, int day) {
        return month.atDay(day).getDayOfWeek().getValue() % 7;
    }
}
