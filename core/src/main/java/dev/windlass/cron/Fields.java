package dev.windlass.cron;

/** An expression taken apart. */
record Fields(
        FieldValues second,
        FieldValues minute,
        FieldValues hour,
        FieldValues dayOfMonth,
        FieldValues month,
        FieldValues dayOfWeek) {

    Days days() {
        return new Days(dayOfMonth, month, dayOfWeek);
    }

    Times times() {
        return new Times(hour.bits(), minute.bits(), second.bits());
    }

    /** Whether it says how often rather than when; see the package's description. */
    boolean interval() {
        return minute.recurs() || hour.recurs();
    }
}
