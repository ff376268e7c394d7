package dev.windlass.internal.health;

import dev.windlass.health.HealthCheck;
import dev.windlass.health.HealthFinding;
import dev.windlass.internal.database.Database;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;

/**
 * Whether the database answers, and after which time, and can be written to. One that has become a standby answers as before. Neither is one
 * well that others have just found to be away, though it answers here.
 */
public final class DatabaseCheck implements HealthCheck {
    private final Database database;

    public DatabaseCheck(Database database, Duration timeout) {
        this.database = database.answeringWithin(timeout).givingUpLogins(timeout);
    }

    @Override
    public HealthFinding check() throws SQLException {
        long start = System.nanoTime();
        boolean away = database.isAway();
        boolean readOnly = database.once(database.dialect()::isReadOnly);
        if (readOnly) {
            return HealthFinding.unhealthy(
                    "it is read-only, and nothing can be written: is it a standby, or was it a primary before a"
                            + " failover? Let the URL lead to the primary (targetServerType=primary), or end"
                            + " default_transaction_read_only");
        }
        return away
                ? HealthFinding.unhealthy("it answers here, but was away for who used it last; the log tells why")
                : HealthFinding.healthy(
                        String.format(Locale.ROOT, "it answers after %.1f ms", (System.nanoTime() - start) / 1e6));
    }
}
