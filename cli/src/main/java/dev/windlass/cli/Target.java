package dev.windlass.cli;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.ds.PGSimpleDataSource;

/** A database, and as whom to go there. */
record Target(String url, @Nullable String user, @Nullable String password) {
    private static final String SCHEME = "jdbc:postgresql:";
    private static final int CONNECT_SECONDS = 10;
    private static final Pattern PARTS =
            Pattern.compile("jdbc:postgresql:(?<server>(//[^/?]*+)?+)[^?]*(?<parameters>(\\?.*)?)");

    Target {
        if (!url.startsWith(SCHEME) || Driver.parseURL(url, new Properties()) == null) {
            throw new IllegalArgumentException(
                    "expected a URL such as jdbc:postgresql://host:5432/database, got " + Secrets.mask(url));
        }
    }

    /** Without a pool. */
    DataSource dataSource() {
        return source(CONNECT_SECONDS);
    }

    /** The same for those who wait for no answer longer than this, unless the URL says otherwise. */
    DataSource answeringWithin(Duration patience) {
        int seconds = Math.toIntExact(patience.toSeconds());
        PGSimpleDataSource source = source(seconds);
        if (source.getSocketTimeout() == 0) {
            source.setSocketTimeout(seconds);
        }
        return source;
    }

    private PGSimpleDataSource source(int connectSeconds) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        source.setUser(userName());
        if (password != null) {
            source.setPassword(password);
        }
        if (source.getLoginTimeout() == 0) {
            source.setLoginTimeout(connectSeconds);
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

    boolean hasPassword() {
        return password != null || passwordInUrl().isPresent();
    }

    /** In the URL itself, or in the service it names. */
    Optional<String> passwordInUrl() {
        return Optional.ofNullable(parsed().getProperty("password"));
    }

    private Properties parsed() {
        return Objects.requireNonNull(Driver.parseURL(url, new Properties()));
    }

    /**
     * The same on another database of the server.
     *
     * @throws IllegalArgumentException if the URL names its database in a way that cannot be replaced
     */
    Target withDatabase(String name) {
        Matcher parts = PARTS.matcher(url);
        Target target = parts.matches() ? withUrl(parts, name) : this;
        Properties expected = parsed();
        expected.setProperty("PGDBNAME", name);
        if (!target.parsed().equals(expected)) {
            throw new IllegalArgumentException("expected a URL such as jdbc:postgresql://host:5432/database, in which"
                    + " another database can be named, got " + Secrets.mask(url));
        }
        return target;
    }

    private Target withUrl(Matcher parts, String database) {
        String server = parts.group("server");
        String name = URLEncoder.encode(database, StandardCharsets.UTF_8);
        return new Target(
                SCHEME + server + (server.isEmpty() ? "" : "/") + name + parts.group("parameters"), user, password);
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
