package dev.windlass.cron;

/** The times of a day that match, as seconds of the day. */
record Times(long hours, long minutes, long seconds) {
    static final int NONE = Bits.NONE;

    int first() {
        return at(Bits.lowest(hours), Bits.lowest(minutes), Bits.lowest(seconds));
    }

    int last() {
        return at(Bits.highest(hours), Bits.highest(minutes), Bits.highest(seconds));
    }

    /** The first one at or after a second of the day, or {@link #NONE}. */
    int atOrAfter(int time) {
        int hour = time / 3600;
        int minute = time / 60 % 60;
        if (Bits.contains(hours, hour)) {
            if (Bits.contains(minutes, minute)) {
                int second = Bits.atOrAfter(seconds, time % 60);
                if (second != Bits.NONE) {
                    return at(hour, minute, second);
                }
            }
            int laterMinute = Bits.atOrAfter(minutes, minute + 1);
            if (laterMinute != Bits.NONE) {
                return at(hour, laterMinute, Bits.lowest(seconds));
            }
        }
        int laterHour = Bits.atOrAfter(hours, hour + 1);
        return laterHour == Bits.NONE ? NONE : at(laterHour, Bits.lowest(minutes), Bits.lowest(seconds));
    }

    /** The last one at or before a second of the day, or {@link #NONE}. */
    int atOrBefore(int time) {
        int hour = time / 3600;
        int minute = time / 60 % 60;
        if (Bits.contains(hours, hour)) {
            if (Bits.contains(minutes, minute)) {
                int second = Bits.atOrBefore(seconds, time % 60);
                if (second != Bits.NONE) {
                    return at(hour, minute, second);
                }
            }
            int earlierMinute = Bits.atOrBefore(minutes, minute - 1);
            if (earlierMinute != Bits.NONE) {
                return at(hour, earlierMinute, Bits.highest(seconds));
            }
        }
        int earlierHour = Bits.atOrBefore(hours, hour - 1);
        return earlierHour == Bits.NONE ? NONE : at(earlierHour, Bits.highest(minutes), Bits.highest(seconds));
    }

    private static int at(int hour, int minute, int second) {
        return hour * 3600 + minute * 60 + second;
    }
}
