package dev.windlass.operator;

import dev.windlass.internal.support.Place;

/**
 * Where a page of a list ended; the next one begins after it. It outlives what stood there, and its text can be kept or printed and
 * given back later, by another process too. What the text says is the library's own.
 *
 * @param text as {@link Page#next} gave it
 */
public record PagePosition(String text) {

    public PagePosition {
        Place.of(text); // refuses what no list has given
    }

    @Override
    public String toString() {
        return text;
    }
}
