package dev.windlass.internal.health;

import dev.windlass.health.HealthCheck;
import dev.windlass.health.HealthFinding;
import dev.windlass.internal.database.Database;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;

/** Whether the database answers, and after which time. */
public final class DatabaseCheck implements HealthCheck {
    private final Database database;
    private final Duration timeout;

    public DatabaseCheck(Database database, Duration timeout) {
        this.database = database.answeringWithin(timeout).givingUpLogins(timeout);
        this.timeout = timeout;
    }

    @Override
    public HealthFinding check() throws SQLException {
        long start = System.nanoTime();
        boolean valid = database.once(connection -> connection.isValid((int) timeout.toSeconds() + 1));
        return valid
                ? HealthFinding.healthy(
                        String.format(Locale.ROOT, "it answers after %.1f ms", (System.nanoTime() - start) / 1e6))
                : HealthFinding.unhealthy("it does not answer");
    }
}
