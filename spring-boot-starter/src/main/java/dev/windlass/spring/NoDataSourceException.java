package dev.windlass.spring;

/** Windlass cannot tell which data source is meant, or there is none. */
final class NoDataSourceException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    static final String ADD_ONE =
            "Add spring-boot-starter-jdbc (or spring-boot-starter-data-jpa) and the driver of the database, and set"
                    + " spring.datasource.url. Or make a bean of type DataSource. If this application is to do without Windlass,"
                    + " set windlass.enabled=false.";

    private final String action;

    private NoDataSourceException(String what, String action) {
        super(what);
        this.action = action;
    }

    static NoDataSourceException oneOf(String... beans) {
        return new NoDataSourceException(
                "expected one data source, or a primary one, for Windlass, got " + String.join(", ", beans),
                "Name the bean by windlass.data-source, or make one of them @Primary.");
    }

    /**
     * @param need a sentence without its end
     */
    static NoDataSourceException noneFor(String need) {
        return new NoDataSourceException("expected a data source for Windlass, since " + need + ", got none", ADD_ONE);
    }

    /** What to do. */
    String action() {
        return action;
    }
}
