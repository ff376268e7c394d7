package dev.windlass.cli;

import dev.windlass.internal.engine.PostgresDialect;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a store has said of itself.
 *
 * @param status its numbers, if they were asked for and could be read
 * @param problem why there is no more to tell; null if there is none
 */
record StoreAnswer(
        StorePlace store,
        StoreCondition condition,
        InstalledComponents installed,
        @Nullable Status status,
        @Nullable String problem) {

    /** Asks a store, by one connection. */
    static StoreAnswer of(StorePlace store, Duration patience, boolean withStatus) {
        try (Connection connection = store.target().answeringWithin(patience).getConnection()) {
            return read(connection, store, patience, withStatus);
        } catch (SQLException e) {
            return failed(store, StoreCondition.UNREACHABLE, words(e, patience));
        } catch (RuntimeException e) {
            return failed(
                    store,
                    StoreCondition.UNREACHABLE,
                    "something went wrong that was not expected: " + CommandFailure.safe(e));
        }
    }

    /** One that has not answered at all. */
    static StoreAnswer silent(StorePlace store, Duration patience) {
        return failed(store, StoreCondition.UNREACHABLE, noAnswer(patience));
    }

    private static StoreAnswer read(Connection connection, StorePlace store, Duration patience, boolean withStatus) {
        try {
            InstalledComponents installed = InstalledComponents.read(connection, store.schema());
            StoreCondition condition = installed.condition(store.schema());
            boolean readable = withStatus && condition == StoreCondition.UP_TO_DATE;
            Status status = readable ? Status.read(connection, store.schema()) : null;
            return new StoreAnswer(store, condition, installed, status, null);
        } catch (SQLException e) {
            boolean away = new PostgresDialect().isOutage(e);
            return failed(store, away ? StoreCondition.UNREACHABLE : StoreCondition.UNREADABLE, words(e, patience));
        }
    }

    private static StoreAnswer failed(StorePlace store, StoreCondition condition, String problem) {
        return new StoreAnswer(store, condition, InstalledComponents.none(), null, Secrets.mask(problem));
    }

    private static String words(SQLException e, Duration patience) {
        return e.getCause() instanceof SocketTimeoutException ? noAnswer(patience) : CommandFailure.said(e);
    }

    private static String noAnswer(Duration patience) {
        return "no answer within " + Span.of(patience);
    }

    List<String> pending() {
        return condition.hasAnswered() ? installed.pending(store.schema()) : List.of();
    }

    /** What stands in the way of its numbers, in a few words. */
    String inWords() {
        if (problem != null) {
            return condition + ": " + problem;
        }
        return condition == StoreCondition.TO_MIGRATE
                ? condition + ": " + String.join(", ", pending())
                : condition.toString();
    }
}
