package dev.windlass.benchmarks.system;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** The PostgreSQL server under measurement, and as whom to go there. */
public record Server(String url, String user, String password) {
    public Server {
        if (!url.startsWith("jdbc:postgresql:")) {
            throw new IllegalArgumentException("expected a URL that begins with jdbc:postgresql:, got " + url);
        }
    }

    /** The same, whose connections have their statements counted; needs pg_stat_statements and a superuser. */
    public Server counting() {
        String option = "options=-c%20pg_stat_statements.track%3Dtop";
        return new Server(url + (url.contains("?") ? "&" : "?") + option, user, password);
    }

    /** Connections whose unqualified names are of this schema. */
    public HikariDataSource pool(String schema, int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        if (!user.isEmpty()) {
            config.setUsername(user);
            config.setPassword(password);
        }
        config.setMaximumPoolSize(size);
        config.addDataSourceProperty("currentSchema", schema);
        config.addDataSourceProperty("ApplicationName", "windlass-benchmarks");
        return new HikariDataSource(config);
    }
}
