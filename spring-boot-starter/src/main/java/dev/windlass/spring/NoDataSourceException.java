package dev.windlass.spring;

/** Windlass cannot tell which data source is meant. */
final class NoDataSourceException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    NoDataSourceException(String... beans) {
        super("expected one data source, or a primary one, for Windlass, got " + String.join(", ", beans));
    }
}
