package dev.windlass.internal.database;

import dev.windlass.base.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How one of the users of a database calls it.
 *
 * @param name of the user, in logs and errors
 * @param answerMillis after which time without an answer a call is given up; 0: never
 * @param later when calls are given up at the server, too
 * @param longestLogin how long a connection is waited for; null: as long as the data source takes
 */
record Manner(
        String name,
        int answerMillis,
        boolean autoCommitAllowed,
        boolean transactionRequired,
        RetryPolicy retries,
        Later later,
        @Nullable Duration longestLogin) {

    static Manner usual(String name) {
        return new Manner(name, 0, false, false, RetryPolicy.ofCalls(), Later.NEVER, null);
    }

    Manner withName(String other) {
        return new Manner(other, answerMillis, autoCommitAllowed, transactionRequired, retries, later, longestLogin);
    }

    Manner withAnswerWithin(Duration time) {
        return new Manner(
                name, (int) time.toMillis(), autoCommitAllowed, transactionRequired, retries, later, longestLogin);
    }

    Manner withAutoCommitAllowed(boolean allowed) {
        return new Manner(name, answerMillis, allowed, transactionRequired, retries, later, longestLogin);
    }

    Manner withTransactionRequired(boolean required) {
        return new Manner(name, answerMillis, autoCommitAllowed, required, retries, later, longestLogin);
    }

    Manner withRetries(RetryPolicy other) {
        return new Manner(name, answerMillis, autoCommitAllowed, transactionRequired, other, later, longestLogin);
    }

    Manner withLater(Later other) {
        return new Manner(name, answerMillis, autoCommitAllowed, transactionRequired, retries, other, longestLogin);
    }

    Manner withLongestLogin(Duration longest) {
        return new Manner(name, answerMillis, autoCommitAllowed, transactionRequired, retries, later, longest);
    }
}
