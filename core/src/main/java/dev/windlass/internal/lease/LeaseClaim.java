package dev.windlass.internal.lease;

import dev.windlass.internal.support.LeaseLimits;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What one acquisition asks for.
 *
 * @param permits how many there are of the semaphore; 0 for a lease
 * @param owner who asks, for people
 * @param holder who asks, for the database: fresh for each acquisition, so that an old one never touches a new one
 * @param renewAt the part of the duration after which it is renewed; null for that of the options
 */
record LeaseClaim(
        String name,
        int permits,
        String owner,
        Duration duration,
        UUID holder,
        @Nullable Double renewAt) {
    LeaseClaim {
        LeaseLimits.checkName(name);
        LeaseLimits.checkOwner(owner);
        LeaseLimits.checkDuration(duration);
    }

    LeaseClaim(String name, int permits, String owner, Duration duration, UUID holder) {
        this(name, permits, owner, duration, holder, null);
    }

    static LeaseClaim of(String name, int permits, String owner, Duration duration) {
        return new LeaseClaim(name, permits, owner, duration, UUID.randomUUID());
    }

    /** The same for another try to get it. */
    LeaseClaim again() {
        return new LeaseClaim(name, permits, owner, duration, UUID.randomUUID(), renewAt);
    }

    @Override
    public String toString() {
        return permits == 0 ? "lease " + name : "permit of " + name;
    }
}
