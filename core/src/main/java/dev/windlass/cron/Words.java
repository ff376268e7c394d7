package dev.windlass.cron;

import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** English for lists and numbers. */
final class Words {
    private Words() {}

    /** "a", "a and b", "a, b and c". */
    static String list(List<String> words) {
        int last = words.size() - 1;
        return last == 0 ? words.get(0) : String.join(", ", words.subList(0, last)) + " and " + words.get(last);
    }

    static String list(long bits, IntFunction<String> word) {
        return list(IntStream.of(Bits.values(bits)).mapToObj(word).collect(Collectors.toList()));
    }

    /** "minute 5", "minutes 5 and 10", "minutes 5 to 10". */
    static String counted(String unit, long bits) {
        if (Long.bitCount(bits) == 1) {
            return unit + " " + Bits.lowest(bits);
        }
        return unit + "s " + (isRun(bits) ? span(bits, Integer::toString) : list(bits, Integer::toString));
    }

    static String span(long bits, IntFunction<String> word) {
        return word.apply(Bits.lowest(bits)) + " to " + word.apply(Bits.highest(bits));
    }

    /** Whether the numbers follow each other, and are enough of them for it to be worth saying. */
    static boolean isRun(long bits) {
        return Long.bitCount(bits) > 2 && bits == Bits.range(Bits.lowest(bits), Bits.highest(bits));
    }

    /** "1st", "2nd", "3rd", "4th". */
    static String ordinal(int number) {
        int tens = number % 100 / 10;
        return number
                + switch (tens == 1 ? 0 : number % 10) {
                    case 1 -> "st";
                    case 2 -> "nd";
                    case 3 -> "rd";
                    default -> "th";
                };
    }
}
