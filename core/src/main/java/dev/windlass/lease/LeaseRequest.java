package dev.windlass.lease;

import dev.windlass.internal.support.LeaseLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A lease that is wanted, for those who want to say more than its name and duration.
 *
 * @param owner who wants it, for people who look who holds it: up to 255 characters; null for the name of the node
 * @param renewAt the part of the duration after which it is renewed, at the latest: 0.1 to 0.9; null for that of the options
 */
public record LeaseRequest(
        String name,
        Duration duration,
        @Nullable String owner,
        @Nullable Double renewAt) {

    public LeaseRequest {
        LeaseLimits.checkName(name);
        LeaseLimits.checkDuration(duration);
        if (owner != null) {
            LeaseLimits.checkOwner(owner);
        }
        if (renewAt != null) {
            LeaseOptions.checkRenewAt(renewAt);
        }
    }

    public static LeaseRequest of(String name, Duration duration) {
        return new LeaseRequest(name, duration, null, null);
    }

    public LeaseRequest withOwner(String owner) {
        return new LeaseRequest(name, duration, LeaseLimits.checkOwner(owner), renewAt);
    }

    public LeaseRequest withRenewAt(double renewAt) {
        return new LeaseRequest(name, duration, owner, renewAt);
    }
}
