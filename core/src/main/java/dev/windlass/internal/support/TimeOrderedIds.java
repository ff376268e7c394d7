package dev.windlass.internal.support;

import java.security.SecureRandom;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Makes UUIDs of version 7, each greater than the one before, so that the primary key grows at one end.
 *
 * <p>The clock only orders ids; nothing compares it with the database's. When it stands still or steps back, a counter goes on
 * from the last value. Thread-safe.
 */
public final class TimeOrderedIds {
    private final SplittableRandom random = new SplittableRandom(new SecureRandom().nextLong());
    private final LongSupplier clock;
    private long last;

    public TimeOrderedIds() {
        this(System::currentTimeMillis);
    }

    public TimeOrderedIds(LongSupplier clock) {
        this.clock = clock;
    }

    /** 48 bits of milliseconds and 12 bits of counter above 62 random bits. */
    public synchronized UUID next() {
        last = Math.max(last + 1, clock.getAsLong() << 12);
        long high = (last >>> 12) << 16 | 0x7000 | (last & 0xFFF);
        long low = random.nextLong() >>> 2 | Long.MIN_VALUE;
        return new UUID(high, low);
    }

    public List<UUID> next(int count) {
        return Stream.generate(this::next).limit(count).toList();
    }
}
