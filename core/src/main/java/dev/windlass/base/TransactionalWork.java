package dev.windlass.base;

import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/**
 * Work that runs in a transaction.
 *
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface TransactionalWork<T extends @Nullable Object, X extends Exception> {
    T run(Connection connection) throws X;
}
