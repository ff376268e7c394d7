package dev.windlass.cron;

/** The fields of an expression, in their order. */
enum Field {
    SECOND("second", 0, 59, ""),
    MINUTE("minute", 0, 59, ""),
    HOUR("hour", 0, 23, ""),
    DAY_OF_MONTH("day of month", 1, 31, ""),
    MONTH("month", 1, 12, "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"),
    DAY_OF_WEEK("day of week", 0, 7, "SUN MON TUE WED THU FRI SAT");

    final String label;
    final int min;
    final int max;
    private final String names;

    Field(String label, int min, int max, String names) {
        this.label = label;
        this.min = min;
        this.max = max;
        this.names = names;
    }

    /** The last value of {@code *}: a week's seventh day is its Sunday once more. */
    int last() {
        return this == DAY_OF_WEEK ? 6 : max;
    }

    boolean isDay() {
        return this == DAY_OF_MONTH || this == DAY_OF_WEEK;
    }

    /** The value of a name in capitals, or -1. */
    int named(String name) {
        int index = name.length() == 3 ? names.indexOf(name) : -1;
        return index < 0 ? -1 : min + index / 4;
    }

    /** What a single value can be. */
    String single() {
        return switch (this) {
            case SECOND, MINUTE, HOUR, DAY_OF_MONTH -> "a number from " + min + " to " + max;
            case MONTH -> "a number from 1 to 12 or a name from JAN to DEC";
            case DAY_OF_WEEK -> "a number from 0 to 7 (0 and 7 are Sunday) or a name from MON to SUN";
        };
    }

    /** What the field can be made of. */
    String allowed() {
        String common = single() + ", a range, steps (*/n, a/n, a-b/n), a list of these, or *";
        return switch (this) {
            case SECOND, MINUTE, HOUR, MONTH -> common;
            case DAY_OF_MONTH -> common + "; also L, L-3, LW, 15W, and ? alone";
            case DAY_OF_WEEK -> common + "; also FRIL (the last), FRI#3 (the third), and ? alone";
        };
    }

    /** How the range could be written that someone meant to go round the end of the field. */
    String unwrapped(String from, String to) {
        return switch (this) {
            case SECOND, MINUTE, HOUR, DAY_OF_MONTH -> from + "-" + max + "," + min + "-" + to;
            case MONTH -> from + "-DEC,JAN-" + to;
            case DAY_OF_WEEK -> to.equals("0") ? from + "-7" : from + "-SUN,MON-" + to;
        };
    }
}
