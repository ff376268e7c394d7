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

    @Override
    public String toString() {
        return isCut ? number + "+" : Long.toString(number);
    }
}
