package dev.windlass.cli;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.ds.PGSimpleDataSource;

/** A database, and as whom to go there. */
record Target(String url, @Nullable String user, @Nullable String password) {
    private static final String SCHEME = "jdbc:postgresql:";
    private static final int CONNECT_SECONDS = 10;

    Target {
        if (!url.startsWith(SCHEME) || Driver.parseURL(url, new Properties()) == null) {
            throw new IllegalArgumentException(
                    "expected a URL such as jdbc:postgresql://host:5432/database, got " + Secrets.mask(url));
        }
    }

    /** Without a pool. */
    DataSource dataSource() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        source.setUser(userName());
        if (password != null) {
            source.setPassword(password);
        }
        if (source.getLoginTimeout() == 0) {
            source.setLoginTimeout(CONNECT_SECONDS);
        }
        source.setApplicationName("windlass");
        return source;
    }

    Connection connect() {
        try {
            return dataSource().getConnection();
        } catch (SQLException e) {
            throw CommandFailure.of("connect to " + this, e);
        }
    }

    /** Fails with a sentence when the database cannot be reached; what comes later is waited for, this is not. */
    void check() {
        try (Connection connection = connect()) {
            connection.getMetaData();
        } catch (SQLException e) {
            throw CommandFailure.of("use " + this, e);
        }
    }

    /** Whom the driver logs in as: the option, the URL's parameter, or the user of the operating system. */
    String userName() {
        return user != null ? user : parsed().getProperty("user", System.getProperty("user.name"));
    }

    /** Named after the user, unless the URL says otherwise. */
    String databaseName() {
        return parsed().getProperty("PGDBNAME", userName());
    }

    boolean hasUser() {
        return user != null || parsed().getProperty("user") != null;
    }

    /** In the URL itself, or in the service it names. */
    Optional<String> passwordInUrl() {
        return Optional.ofNullable(parsed().getProperty("password"));
    }

    private Properties parsed() {
        return Objects.requireNonNull(Driver.parseURL(url, new Properties()));
    }

    Target withUser(@Nullable String newUser) {
        return new Target(url, newUser, password);
    }

    Target withPassword(@Nullable String newPassword) {
        return new Target(url, user, newPassword);
    }

    @Override
    public String toString() {
        return Secrets.mask(url) + (user == null ? "" : " as user " + user);
    }
}
