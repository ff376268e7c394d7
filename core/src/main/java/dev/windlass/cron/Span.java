package dev.windlass.cron;

/** An element of a field that names its values: {@code *}, {@code 5}, {@code 9-17}, and these with steps. */
record Span(int from, int to, int step, Form form) {

    enum Form {
        STAR,
        VALUE,
        RANGE,
        STEPS
    }

    /** One bit for each value; Sunday is bit 0 in whatever way it was written. */
    long bits(Field field) {
        long bits = 0;
        for (int value = from; value <= to; value += step) {
            bits |= 1L << (field == Field.DAY_OF_WEEK ? value % 7 : value);
        }
        return bits;
    }

    /** Whether it says how often rather than when; see the package's description. */
    boolean recurs(Field field) {
        return switch (form) {
            case STAR, STEPS -> true;
            case RANGE -> field == Field.HOUR;
            case VALUE -> false;
        };
    }
}
