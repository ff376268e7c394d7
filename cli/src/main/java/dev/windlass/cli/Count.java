package dev.windlass.cli;

/**
 * How many there are, or at least how many.
 *
 * @param isCut whether counting stopped there
 */
record Count(long number, boolean isCut) {

    static Count upTo(long limit, long number) {
        return new Count(number, number >= limit);
    }

    Count plus(Count other) {
        return new Count(number + other.number, isCut || other.isCut);
    }

    @Override
    public String toString() {
        return isCut ? number + "+" : Long.toString(number);
    }
}
