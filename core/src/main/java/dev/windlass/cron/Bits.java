package dev.windlass.cron;

import java.util.stream.IntStream;

/** Sets of small numbers, as the bits of a long. */
final class Bits {
    static final int NONE = -1;

    private Bits() {}

    static int atOrAfter(long bits, int from) {
        long rest = bits & (-1L << from);
        return rest == 0 ? NONE : Long.numberOfTrailingZeros(rest);
    }

    static int atOrBefore(long bits, int to) {
        if (to < 0) {
            return NONE;
        }
        long rest = bits & (-1L >>> (63 - to));
        return rest == 0 ? NONE : 63 - Long.numberOfLeadingZeros(rest);
    }

    static int lowest(long bits) {
        return Long.numberOfTrailingZeros(bits);
    }

    static int highest(long bits) {
        return 63 - Long.numberOfLeadingZeros(bits);
    }

    static long range(int from, int to) {
        return (-1L << from) & (-1L >>> (63 - to));
    }

    static boolean contains(long bits, int value) {
        return (bits >>> value & 1) != 0;
    }

    static int[] values(long bits) {
        return IntStream.range(0, 64).filter(value -> contains(bits, value)).toArray();
    }
}
