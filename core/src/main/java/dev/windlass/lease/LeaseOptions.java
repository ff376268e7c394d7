package dev.windlass.lease;

import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * How leases work.
 *
 * @param tableName the table; what belongs to it has names that start with it
 * @param renewAt the part of a lease's duration after which it is renewed, at the latest: 0.1 to 0.9
 * @param retention how long a lease that nobody holds any more can still be seen
 */
public record LeaseOptions(String tableName, double renewAt, Duration retention) {
    private static final double EARLIEST = 0.1;
    private static final double LATEST = 0.9;

    public LeaseOptions {
        Require.identifier("table name", tableName);
        checkRenewAt(renewAt);
        Require.notNegative("retention", retention);
    }

    static void checkRenewAt(double renewAt) {
        if (!(renewAt >= EARLIEST && renewAt <= LATEST)) {
            throw new IllegalArgumentException("expected a part of the lease from 0.1 to 0.9, got " + renewAt);
        }
    }

    public static LeaseOptions defaults() {
        return new LeaseOptions("lease", 0.6, Duration.ofDays(7));
    }

    public LeaseOptions withTableName(String tableName) {
        return new LeaseOptions(tableName, renewAt, retention);
    }

    public LeaseOptions withRenewAt(double renewAt) {
        return new LeaseOptions(tableName, renewAt, retention);
    }

    public LeaseOptions withRetention(Duration retention) {
        return new LeaseOptions(tableName, renewAt, retention);
    }
}
