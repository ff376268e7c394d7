package dev.windlass.internal.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections for those who must go on, whatever a data source does: one that does not answer in time is given up, and closed if it comes
 * after all. It takes a thread for each login, so it is for those who connect rarely. Thread-safe.
 */
final class Logins {
    private static final Logger log = LoggerFactory.getLogger(Database.class);

    private final Callable<Connection> source;
    private final HangingLogins hanging = new HangingLogins();

    Logins(Callable<Connection> source) {
        this.source = source;
    }

    Connection within(Duration longest) throws SQLException {
        synchronized (this) {
            if (!hanging.mayLogIn(System.nanoTime())) {
                throw new SQLTransientConnectionException(
                        "the server does not answer logins; the next is tried later", Login.CANNOT_CONNECT);
            }
        }
        Login login = Login.by(source);
        try {
            return login.await(longest);
        } catch (Login.Unanswered e) {
            synchronized (this) {
                hanging.oneHangs(System.nanoTime());
            }
            login.whenItEnds(this::hasEnded);
            throw e;
        }
    }

    private void hasEnded(@Nullable Connection late) {
        synchronized (this) {
            hanging.oneHasEnded(System.nanoTime());
        }
        if (late != null) {
            try (late) {
                log.debug("a connection came after it had been given up");
            } catch (SQLException e) {
                log.debug("a connection that came too late could not be closed", e);
            }
        }
    }
}
