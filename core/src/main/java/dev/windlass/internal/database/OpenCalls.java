package dev.windlass.internal.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * The calls of loops that are under way, so that a node that ends need not wait for a database that does not answer.
 *
 * <p>Guarded by itself: a connection that has gone back to its pool is somebody else's, and must not be broken any more.
 */
final class OpenCalls {
    private final Set<Connection> underWay = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean ended;

    /** Who waited for a connection until the node had ended must not claim with it. */
    synchronized void begin(Connection connection) throws SQLException {
        if (ended) {
            throw new SQLException("the node has been closed", "08003");
        }
        underWay.add(connection);
    }

    synchronized boolean haveEnded() {
        return ended;
    }

    synchronized void ended(Connection connection) {
        underWay.remove(connection);
    }

    synchronized void breakOff(Statements statements) {
        if (!underWay.isEmpty()) {
            statements.breakOff(underWay);
        }
    }

    synchronized void end(Statements statements) {
        ended = true;
        breakOff(statements);
    }
}
