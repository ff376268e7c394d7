package dev.windlass.internal.lease;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What the database says to somebody who wants a lease.
 *
 * @param owner who holds it now; null when somebody is just changing it
 * @param fencingToken of that owner; 0 when there is none
 */
record AcquireAnswer(
        boolean acquired, @Nullable String owner, long fencingToken, Instant expiresAt, Instant serverTime) {

    /** Whether somebody is just changing it, so that nobody can tell who has it; ask again soon. */
    boolean isUnsettled() {
        return owner == null;
    }

    /** When it is worth asking again, if nobody gives it back before; two times of the database, and so without its clock. */
    Duration untilExpiry() {
        Duration left = Duration.between(serverTime, expiresAt);
        return left.isNegative() ? Duration.ZERO : left;
    }
}
