package dev.windlass.internal.database;

import dev.windlass.internal.support.InWords;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection that is being made, on a thread of its own: a server that accepts a connection and says no more would hold whoever asks
 * for one for ever, where its data source has no time limit, and an interrupt would not help.
 */
public final class Login {
    /** As the standard has it. */
    public static final String CANNOT_CONNECT = "08001";

    private final CompletableFuture<Connection> connection = new CompletableFuture<>();

    private Login() {}

    public static Login by(Callable<Connection> opening) {
        Login login = new Login();
        Thread thread = new Thread(() -> login.run(opening), "windlass-login");
        thread.setDaemon(true);
        thread.start();
        return login;
    }

    private void run(Callable<Connection> opening) {
        try {
            connection.complete(opening.call());
        } catch (Throwable e) {
            connection.completeExceptionally(e);
        }
    }

    /**
     * Waits for it, not for ever.
     *
     * @throws Unanswered if it takes too long; then it goes on, and {@link #whenItEnds} tells of its end
     */
    public Connection await(Duration longest) throws SQLException {
        try {
            return connection.get(longest.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new Unanswered("the server has not answered a login for " + InWords.of(longest), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Unanswered("interrupted while waiting for a connection", e);
        } catch (ExecutionException e) {
            throw thrown(Objects.requireNonNull(e.getCause()));
        }
    }

    private static SQLException thrown(Throwable cause) {
        if (cause instanceof SQLException known) {
            return known;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) cause;
    }

    /**
     * Of one that nobody waits for any more.
     *
     * @param ended gets the connection, if there is one after all
     */
    public void whenItEnds(Consumer<@Nullable Connection> ended) {
        var unused = connection.whenComplete((late, failure) -> ended.accept(late));
    }

    /** It has been given up. */
    public static final class Unanswered extends SQLTransientConnectionException {
        private static final long serialVersionUID = 1L;

        Unanswered(String text, Throwable cause) {
            super(text, CANNOT_CONNECT, cause);
        }
    }
}
