package dev.windlass.internal.queue;

import java.time.Instant;
import java.util.UUID;

/** A place in the order in which ready work is claimed: by time, then by id, as the database compares them. */
public record Position(Instant at, UUID id) implements Comparable<Position> {
    public static final Position START = new Position(Instant.MIN, new UUID(0, 0));

    @Override
    public int compareTo(Position other) {
        int byTime = at.compareTo(other.at);
        if (byTime != 0) {
            return byTime;
        }
        int byHigh = Long.compareUnsigned(id.getMostSignificantBits(), other.id.getMostSignificantBits());
        return byHigh != 0
                ? byHigh
                : Long.compareUnsigned(id.getLeastSignificantBits(), other.id.getLeastSignificantBits());
    }
}
