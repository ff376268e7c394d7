package dev.windlass.cron;

import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Valid expressions of six fields, of every kind. */
final class RandomExpressions {
    private static final List<String> MONTHS =
            List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC");
    private static final List<String> WEEK = List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

    private final Random random;

    RandomExpressions(Random random) {
        this.random = random;
    }

    String any() {
        return oneOf(() -> "0", () -> "0", () -> "0", () -> list(() -> number(0, 59)), () -> "*/20", () -> "50-55")
                + " " + withoutSeconds();
    }

    private String withoutSeconds() {
        String minute = oneOf(() -> plain(0, 59), () -> "0", () -> "30", () -> number(0, 59), () -> "*/15");
        // Clocks are changed at night, so this is where the interesting hours are.
        String hour =
                oneOf(() -> plain(0, 23), () -> number(0, 4), () -> number(0, 4) + "," + number(0, 4), () -> "*/2");
        return minute + " " + hour + " " + anyDate();
    }

    /** Day of month, month, day of week. */
    String anyDate() {
        String month = oneOf(() -> "*", () -> "*", () -> plain(1, 12), () -> list(() -> pick(MONTHS)));
        return switch (random.nextInt(6)) {
            case 0 -> "* " + month + " *";
            case 1 -> list(this::dayOfMonth) + " " + month + " ?";
            case 2 -> "? " + month + " " + list(this::dayOfWeek);
            case 3 -> list(this::dayOfMonth) + " " + month + " " + list(this::dayOfWeek);
            case 4 -> "*/" + number(1, 12) + " " + month + " " + list(this::dayOfWeek);
            default -> list(this::dayOfMonth) + " " + month + " */" + number(1, 6);
        };
    }

    private String dayOfMonth() {
        return oneOf(
                () -> element(1, 31),
                () -> number(1, 31),
                () -> "L",
                () -> "LW",
                () -> "L-" + number(1, 30),
                () -> number(1, 31) + "W");
    }

    private String dayOfWeek() {
        return oneOf(
                () -> element(0, 7),
                () -> pick(WEEK),
                () -> WEEK.get(random.nextInt(3)) + "-" + WEEK.get(3 + random.nextInt(4)),
                () -> oneOf(() -> "THU-SUN", () -> "MON-SUN", () -> "FRI/2"),
                () -> oneOf(() -> number(0, 7), () -> pick(WEEK)) + "L",
                () -> oneOf(() -> number(0, 7), () -> pick(WEEK)) + "#" + number(1, 5));
    }

    private String plain(int min, int max) {
        return oneOf(() -> "*", () -> "*/" + number(1, max - min), () -> list(() -> element(min, max)));
    }

    private String element(int min, int max) {
        int from = min + random.nextInt(max - min + 1);
        int to = from + random.nextInt(max - from + 1);
        int step = 1 + random.nextInt(Math.max(1, Math.min(6, max - min)));
        return oneOf(
                () -> "" + from,
                () -> "" + from,
                () -> from + "-" + to,
                () -> from + "-" + to + "/" + step,
                () -> from + "/" + step);
    }

    private String list(Supplier<String> element) {
        return Stream.generate(element)
                .limit(1 + Math.max(0, random.nextInt(5) - 2))
                .collect(Collectors.joining(","));
    }

    private String number(int min, int max) {
        return Integer.toString(min + random.nextInt(max - min + 1));
    }

    private String pick(List<String> words) {
        return words.get(random.nextInt(words.size()));
    }

    @SafeVarargs
    private String oneOf(Supplier<String>... choices) {
        return choices[random.nextInt(choices.length)].get();
    }
}
