package dev.windlass.cron;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAdjusters;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * What the package promises, done slowly: looks at every minute of a while, at that of the real time for interval jobs, at
 * that of the local time for the others. Shares nothing with the code under test, and expects a valid expression of six
 * fields.
 */
final class Oracle {
    private static final List<String> MONTHS =
            List.of("", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC");
    private static final List<String> WEEK = List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

    private final String[] fields;
    private final List<Integer> seconds;
    private final List<Integer> minutes;
    private final List<Integer> hours;
    private final List<Integer> months;
    private final Map<LocalDate, Boolean> dates = new HashMap<>();

    Oracle(String expression) {
        fields = expression.split(" ", -1);
        seconds = values(fields[0], 0, 59, List.of());
        minutes = values(fields[1], 0, 59, List.of());
        hours = values(fields[2], 0, 23, List.of());
        months = values(fields[4], 1, 12, MONTHS);
    }

    NavigableSet<Instant> runs(Instant from, Instant to, ZoneId zone) {
        NavigableSet<Instant> runs = new TreeSet<>();
        if (isInterval()) {
            for (Instant minute = from; minute.isBefore(to); minute = minute.plus(1, ChronoUnit.MINUTES)) {
                LocalDateTime local = LocalDateTime.ofInstant(minute, zone);
                if (matches(local)) {
                    for (int second : seconds) {
                        runs.add(minute.plusSeconds(second));
                    }
                }
            }
        } else {
            // Two days wider than asked for, as a gap can move a run by one.
            LocalDateTime end = LocalDateTime.ofInstant(to, ZoneOffset.UTC).plusDays(2);
            LocalDateTime local = LocalDateTime.ofInstant(from, ZoneOffset.UTC).minusDays(2);
            for (; local.isBefore(end); local = local.plusMinutes(1)) {
                if (matches(local)) {
                    for (int second : seconds) {
                        runs.add(local.withSecond(second).atZone(zone).toInstant());
                    }
                }
            }
        }
        return runs.subSet(from, true, to, false);
    }

    private boolean isInterval() {
        boolean minute = fields[1].contains("*") || fields[1].contains("/");
        boolean hour = fields[2].contains("*") || fields[2].contains("/") || fields[2].contains("-");
        return (minute && minutes.size() > 1) || (hour && hours.size() > 1);
    }

    boolean matches(LocalDateTime local) {
        return minutes.contains(local.getMinute()) && hours.contains(local.getHour()) && matches(local.toLocalDate());
    }

    boolean matches(LocalDate date) {
        return dates.computeIfAbsent(date, this::look);
    }

    private boolean look(LocalDate date) {
        if (!months.contains(date.getMonthValue())) {
            return false;
        }
        String day = fields[3];
        String week = fields[5];
        if (day.equals("?")) {
            return matchesWeek(week, date);
        }
        if (week.equals("?")) {
            return matchesDay(day, date);
        }
        if (day.contains("*") || week.contains("*")) {
            return matchesDay(day, date) && matchesWeek(week, date);
        }
        return matchesDay(day, date) || matchesWeek(week, date);
    }

    private static boolean matchesDay(String field, LocalDate date) {
        for (String element : field.split(",", -1)) {
            if (matchesDayElement(element, date)) {
                return true;
            }
        }
        return false;
    }

    private static boolean matchesDayElement(String element, LocalDate date) {
        LocalDate last = date.with(TemporalAdjusters.lastDayOfMonth());
        if (element.equals("L")) {
            return date.equals(last);
        }
        if (element.equals("LW")) {
            return date.equals(nearestWorkday(last));
        }
        if (element.startsWith("L-")) {
            return date.plusDays(Integer.parseInt(element.substring(2))).equals(last);
        }
        if (element.endsWith("W")) {
            int day = Integer.parseInt(element.substring(0, element.length() - 1));
            return day <= last.getDayOfMonth() && date.equals(nearestWorkday(date.withDayOfMonth(day)));
        }
        return values(element, 1, 31, List.of()).contains(date.getDayOfMonth());
    }

    private static LocalDate nearestWorkday(LocalDate day) {
        return IntStream.rangeClosed(1, day.lengthOfMonth())
                .mapToObj(day::withDayOfMonth)
                .filter(other -> other.getDayOfWeek() != DayOfWeek.SATURDAY && other.getDayOfWeek() != DayOfWeek.SUNDAY)
                .min(Comparator.comparing(other -> Math.abs(ChronoUnit.DAYS.between(other, day))))
                .orElseThrow();
    }

    private static boolean matchesWeek(String field, LocalDate date) {
        for (String element : field.split(",", -1)) {
            if (matchesWeekElement(element, date)) {
                return true;
            }
        }
        return false;
    }

    private static boolean matchesWeekElement(String element, LocalDate date) {
        if (element.contains("#")) {
            String[] parts = element.split("#", -1);
            DayOfWeek day = dayOfWeek(parts[0]);
            LocalDate nth = date.with(TemporalAdjusters.dayOfWeekInMonth(Integer.parseInt(parts[1]), day));
            return date.equals(nth);
        }
        if (element.endsWith("L")) {
            DayOfWeek day = dayOfWeek(element.substring(0, element.length() - 1));
            return date.equals(date.with(TemporalAdjusters.lastInMonth(day)));
        }
        List<Integer> days = values(element, 0, 7, WEEK);
        int day = date.getDayOfWeek().getValue();
        return days.contains(day) || (day == 7 && days.contains(0));
    }

    private static DayOfWeek dayOfWeek(String text) {
        int number = value(text, WEEK);
        return DayOfWeek.of(number == 0 ? 7 : number);
    }

    private static List<Integer> values(String field, int min, int max, List<String> names) {
        List<Integer> values = new ArrayList<>();
        for (String element : field.split(",", -1)) {
            String[] stepped = element.split("/", -1);
            int step = stepped.length > 1 ? Integer.parseInt(stepped[1]) : 1;
            String[] ends = stepped[0].split("-", -1);
            int from = stepped[0].equals("*") ? min : value(ends[0], names);
            int to = stepped[0].equals("*") || (ends.length == 1 && stepped.length > 1)
                    ? max
                    : value(ends[ends.length - 1], names);
            // Sunday is also the seventh day, when it ends a range.
            int end = stepped[0].endsWith("-SUN") && from > 0 ? 7 : to;
            for (int value = from; value <= end; value += step) {
                values.add(value);
            }
        }
        return List.copyOf(new TreeSet<>(values));
    }

    private static int value(String text, List<String> names) {
        return names.contains(text) ? names.indexOf(text) : Integer.parseInt(text);
    }
}
