package dev.windlass.cron;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The times of the day in words: "at 18:00", "every 5 minutes from 09:00 to 17:59". */
final class TimeWords {
    private static final int FEW = 6;

    private final long hours;
    private final long minutes;
    private final long seconds;
    private final boolean interval;

    TimeWords(Fields fields) {
        hours = fields.hour().bits();
        minutes = fields.minute().bits();
        seconds = fields.second().bits();
        interval = fields.interval();
    }

    /** Whether the times are named one by one. */
    boolean areFew() {
        int count = Long.bitCount(hours) * Long.bitCount(minutes) * Long.bitCount(seconds);
        boolean named = !interval || (every(hours, 24) == 0 && !Words.isRun(hours) && every(minutes, 60) == 0);
        return named && count <= FEW;
    }

    String text() {
        if (areFew()) {
            return "at " + oneByOne();
        }
        return Long.bitCount(seconds) > 1 ? bySecond() : byMinute() + atSecond();
    }

    private String oneByOne() {
        List<String> times = new ArrayList<>();
        for (int hour : Bits.values(hours)) {
            for (int minute : Bits.values(minutes)) {
                for (int second : Bits.values(seconds)) {
                    times.add(clock(hour, minute) + (seconds == 1 ? "" : String.format(Locale.ROOT, ":%02d", second)));
                }
            }
        }
        return Words.list(times);
    }

    private String bySecond() {
        int step = every(seconds, 60);
        String often = step == 0 ? "at " + Words.counted("second", seconds) : often(step, "second");
        if (every(minutes, 60) == 1) {
            return (step == 0 ? often + " of every minute" : often) + inHours();
        }
        return often + " of " + Words.counted("minute", minutes)
                + (every(hours, 24) == 1 ? " of every hour" : inHours());
    }

    private String byMinute() {
        int step = every(minutes, 60);
        if (step > 0) {
            return often(step, "minute") + inHours();
        }
        if (every(hours, 24) > 0) {
            return often(every(hours, 24), "hour") + (minutes == 1 ? "" : " at " + Words.counted("minute", minutes));
        }
        if (Words.isRun(hours) && Long.bitCount(minutes) == 1) {
            return "every hour from " + Words.span(hours, hour -> clock(hour, Bits.lowest(minutes)));
        }
        return "at " + Words.counted("minute", minutes) + inHours();
    }

    private String atSecond() {
        return seconds == 1 ? "" : ", at " + Words.counted("second", seconds);
    }

    private String inHours() {
        int step = every(hours, 24);
        if (step == 1) {
            return "";
        }
        if (step > 1) {
            return " in every " + Words.ordinal(step) + " hour";
        }
        if (Words.isRun(hours) || Long.bitCount(hours) == 1) {
            return " from " + clock(Bits.lowest(hours), 0) + " to " + clock(Bits.highest(hours), 59);
        }
        return " in " + Words.counted("hour", hours);
    }

    /** The step, if the values come at even distances all round the clock, from 0; otherwise 0. */
    private static int every(long bits, int size) {
        int count = Long.bitCount(bits);
        int step = size / count;
        if (count == 1 || size % count != 0) {
            return 0;
        }
        for (int value = 0; value < size; value += step) {
            if (!Bits.contains(bits, value)) {
                return 0;
            }
        }
        return step;
    }

    private static String often(int step, String unit) {
        return step == 1 ? "every " + unit : "every " + step + " " + unit + "s";
    }

    private static String clock(int hour, int minute) {
        return String.format(Locale.ROOT, "%02d:%02d", hour, minute);
    }
}
