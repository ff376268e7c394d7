package dev.windlass.internal.database;

/** The types of routine arguments; an engine decides how each is written and bound. */
public enum SqlType {
    BOOLEAN,
    BOOLEANS,
    INTEGER,
    INTEGERS,
    LONG,
    LONGS,
    TEXT,
    TEXTS,
    JSON,
    UUID,
    UUIDS,
    INSTANT,
    INSTANTS,
    DURATION,
    DURATIONS
}
