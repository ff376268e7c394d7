package dev.windlass.cron;

/** An expression in words. */
final class Description {
    private final TimeWords times;
    private final DayWords days;

    Description(Fields fields) {
        times = new TimeWords(fields);
        days = new DayWords(fields);
    }

    String text() {
        if (times.areFew()) {
            return days.text() + (days.areConditional() ? ", " : " ") + times.text();
        }
        return days.areAll() ? times.text() : times.text() + ", " + days.text();
    }
}
