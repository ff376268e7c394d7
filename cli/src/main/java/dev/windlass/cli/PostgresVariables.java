package dev.windlass.cli;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Pattern;
import org.postgresql.Driver;

/**
 * What PostgreSQL's own programs take from their surroundings: PGHOST and the like, and the service file, which the driver reads.
 * The driver by itself knows neither the variables nor PGSERVICE.
 */
final class PostgresVariables {
    private static final Pattern WITHOUT_ADDRESS = Pattern.compile("jdbc:postgresql:/{0,3}");
    private static final String DEFAULT_PORT = "5432";

    private final Map<String, String> environment;

    PostgresVariables(Map<String, String> environment) {
        this.environment = environment;
    }

    /** Whether a URL leaves everything to the variables. */
    static boolean isLeftOpen(String url) {
        return WITHOUT_ADDRESS.matcher(url).matches();
    }

    /** The database they name, if they name one; a user or a port alone does not. */
    Optional<String> url() {
        if (value("PGSERVICE").isPresent()) {
            return value("PGSERVICE").map(this::serviceUrl);
        }
        boolean named = value("PGHOST").isPresent() || value("PGDATABASE").isPresent();
        return named ? Optional.of(address() + sslParameters()) : Optional.empty();
    }

    Optional<String> user() {
        return value("PGUSER");
    }

    Optional<String> password() {
        return value("PGPASSWORD");
    }

    /** An empty variable counts as none, as for PostgreSQL's own programs. */
    private Optional<String> value(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
    }

    Path home() {
        return Path.of(value("HOME").orElseGet(() -> System.getProperty("user.home")));
    }

    Path passwordFile() {
        return value("PGPASSFILE").map(Path::of).orElseGet(() -> home().resolve(".pgpass"));
    }

    private Path serviceFile() {
        return value("PGSERVICEFILE").map(Path::of).orElseGet(() -> home().resolve(".pg_service.conf"));
    }

    private String serviceUrl(String service) {
        Path file = serviceFile();
        if (Files.exists(file)) {
            System.setProperty("org.postgresql.pgservicefile", file.toString());
        }
        String url = "jdbc:postgresql://?service=" + encoded(service);
        if (Driver.parseURL(url, new Properties()) == null) {
            throw new IllegalArgumentException("expected the service '" + service + "' that PGSERVICE names in " + file
                    + ", found none; add it there, let PGSERVICEFILE name another file, or give --url");
        }
        return url;
    }

    private String address() {
        List<String> hosts = List.of(value("PGHOST").orElse("localhost").split(",", -1));
        List<String> ports = List.of(value("PGPORT").orElse(DEFAULT_PORT).split(",", -1));
        if (ports.size() != 1 && ports.size() != hosts.size()) {
            throw new IllegalArgumentException("expected one port in PGPORT, or as many as PGHOST has hosts, got "
                    + ports.size() + " ports for " + hosts.size() + " hosts");
        }
        List<String> addresses = new ArrayList<>();
        for (int i = 0; i < hosts.size(); i++) {
            addresses.add(host(hosts.get(i)) + ":" + ports.get(ports.size() == 1 ? 0 : i));
        }
        return "jdbc:postgresql://" + String.join(",", addresses) + "/"
                + value("PGDATABASE").map(PostgresVariables::encoded).orElse("");
    }

    private static String host(String host) {
        if (host.startsWith("/") || host.startsWith("@")) {
            throw new IllegalArgumentException("expected the name of a host in PGHOST, got the Unix socket '" + host
                    + "', which Java's driver cannot use; give --url, or set PGHOST=localhost");
        }
        return host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host;
    }

    private String sslParameters() {
        List<String> parameters = new ArrayList<>();
        value("PGSSLMODE").ifPresent(mode -> parameters.add("sslmode=" + encoded(mode)));
        value("PGSSLROOTCERT").ifPresent(file -> parameters.add("sslrootcert=" + encoded(file)));
        return parameters.isEmpty() ? "" : "?" + String.join("&", parameters);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
