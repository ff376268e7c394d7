package dev.windlass.internal.database;

import org.jspecify.annotations.Nullable;

/**
 * An argument of a call.
 *
 * @param name that of the parameter; null if it is told by its place
 */
public record Argument(
        @Nullable String name, SqlType type, @Nullable Object value) {}
