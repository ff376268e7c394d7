package dev.windlass.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real PostgreSQL server of this JVM's own, on 127.0.0.1 only.
 *
 * <p>It can be used from many threads; the methods that change its state run one at a time. Every wait is bounded, and
 * failures come as {@link EmbeddedPostgresException} with what to do next.
 */
public final class EmbeddedPostgres implements AutoCloseable {

    static final String USER = "postgres";

    private static final Logger log = LoggerFactory.getLogger(EmbeddedPostgres.class);

    /** How often a free port may be taken by somebody else between its choice and the server's start. */
    private static final int PORT_ATTEMPTS = 5;

    private static @Nullable EmbeddedPostgres shared;

    private final Options options;
    private final Account account;
    private final Binaries binaries;
    private final DataDirectory directory;
    private final Thread exitHook = new Thread(this::close, "windlass-postgresql-exit");

    private int port;
    private String password = "";
    private @Nullable Server server;
    private boolean closed;

    private EmbeddedPostgres(Options options, Account account) throws IOException {
        this.options = options;
        this.account = account;
        this.binaries = Binaries.unpacked(account);
        this.directory = DataDirectory.open(options.dataDirectory().orElse(null));
    }

    /** Starts a throw-away server with the default options. */
    public static EmbeddedPostgres start() {
        return start(Options.defaults());
    }

    /** Starts a server and returns when it accepts connections; a failed start leaves nothing running. */
    public static EmbeddedPostgres start(Options options) {
        return start(options, Account.choose());
    }

    static EmbeddedPostgres start(Options options, Account account) {
        try {
            EmbeddedPostgres postgres = new EmbeddedPostgres(options, account);
            postgres.open();
            return postgres;
        } catch (IOException e) {
            throw new EmbeddedPostgresException("PostgreSQL could not be started: " + FileTrouble.describe(e), e);
        }
    }

    /** Returns the one throw-away server of this JVM; it starts with the first call and stops when the JVM ends. */
    public static synchronized EmbeddedPostgres shared() {
        EmbeddedPostgres current = shared;
        if (current == null || current.isClosed()) {
            current = start();
            shared = current;
        }
        return current;
    }

    /** Returns the URL of the database {@code postgres}, without user and password. */
    public String jdbcUrl() {
        return jdbcUrl("postgres");
    }

    /** Returns the URL of a database of this server, without user and password. */
    public String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port() + "/" + database;
    }

    /** Returns the port, which stays the same over {@link #restart()}. */
    public synchronized int port() {
        return port;
    }

    /** Returns the name of the superuser. */
    public String user() {
        return USER;
    }

    /** Returns the password of {@link #user()}: empty for a throw-away server, which asks for none. */
    public synchronized String password() {
        return password;
    }

    /** Returns a data source without a pool, for the database {@code postgres}. */
    public DataSource dataSource() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(jdbcUrl());
        source.setUser(user());
        source.setPassword(password());
        return source;
    }

    /** Whether the server process is alive. */
    public synchronized boolean isRunning() {
        return server != null && server.isRunning();
    }

    /** Kills the server as {@code kill -9} does, for crash tests; returns when its port and memory are free again. */
    public synchronized void kill() {
        if (server != null) {
            server.kill();
            server = null;
        }
    }

    /** Stops the server in an orderly way without waiting for its sessions to end; the data stays. */
    public synchronized void stop() {
        if (server != null) {
            server.stop(binaries, directory.data());
            server = null;
        }
    }

    /** Starts the server again on the same data and port, after {@link #kill()} or {@link #stop()} or while it runs. */
    public synchronized void restart() {
        if (closed) {
            throw new EmbeddedPostgresException("expected an open server, this one is closed; start a new one");
        }
        stop();
        try {
            directory.prepare(binaries, account);
            launch(port);
        } catch (IOException | Server.PortTaken e) {
            throw new EmbeddedPostgresException(
                    "PostgreSQL could not be started again on port " + port + ": " + FileTrouble.describe(e), e);
        }
    }

    /** Stops the server, and deletes the data of a throw-away one; a second call does nothing. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        forgetExitHook();
        stop();
        try {
            directory.close();
        } catch (IOException e) {
            log.warn("could not clean up after PostgreSQL", e);
        }
    }

    synchronized long pid() {
        return server == null ? -1 : server.pid();
    }

    Path logFile() {
        return directory.log();
    }

    Path data() {
        return directory.data();
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private synchronized void open() throws IOException {
        if (options.stopAtExit()) {
            Runtime.getRuntime().addShutdownHook(exitHook);
        }
        try {
            directory.prepare(binaries, account);
            password = directory.password();
            launchOnFreePort();
            directory.rememberPort(port);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
        log.info("PostgreSQL is ready on port {} with its data in {}", port, directory.data());
    }

    private void launchOnFreePort() throws IOException {
        for (int attempt = 1; attempt <= PORT_ATTEMPTS; attempt++) {
            try {
                launch(directory.choosePort(options.port()));
                return;
            } catch (Server.PortTaken e) {
                if (options.port() != 0) {
                    break;
                }
            }
        }
        throw new EmbeddedPostgresException(
                "port %d is taken by another program; stop it or give another port (0 for any free one)"
                        .formatted(options.port()));
    }

    private void launch(int onPort) throws IOException, Server.PortTaken {
        server = Server.start(binaries, account, directory, onPort, options.serverSettings(binaries.version()));
        port = onPort;
    }

    private void forgetExitHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(exitHook);
        } catch (IllegalStateException e) {
            log.debug("the JVM is already ending", e);
        }
    }

    /**
     * How to start a server.
     *
     * @param dataDirectory where the data lives from start to start; empty for a temporary directory, deleted at close
     * @param port the port to listen on, 0 for a free one (a data directory keeps its port as long as that is free)
     * @param fsync false for throw-away speed, true for data that survives a crash of the server and the machine
     * @param stopAtExit whether a shutdown hook stops the server; false when the caller closes it after its own work,
     *     because hooks run all at once
     * @param settings further settings of {@code postgresql.conf}, stronger than ours
     */
    public record Options(
            Optional<Path> dataDirectory, int port, boolean fsync, boolean stopAtExit, Map<String, String> settings) {

        private static final int HIGHEST_PORT = 65_535;

        /** The first version that has them. */
        private static final int IO_WORKERS = 18;

        public Options {
            if (port < 0 || port > HIGHEST_PORT) {
                throw new IllegalArgumentException("expected a port from 0 to 65535, got: " + port);
            }
            settings = Map.copyOf(settings);
        }

        /** Returns a throw-away server: temporary directory, free port, no fsync, stopped when the JVM ends. */
        public static Options defaults() {
            return new Options(Optional.empty(), 0, false, true, Map.of());
        }

        /** Keeps the data in this directory, which is made if it is not there, and asks for a password. */
        public Options withDataDirectory(Path newDataDirectory) {
            return new Options(Optional.of(newDataDirectory), port, fsync, stopAtExit, settings);
        }

        /** Listens on this port; 0 means any free one. */
        public Options withPort(int newPort) {
            return new Options(dataDirectory, newPort, fsync, stopAtExit, settings);
        }

        /** Chooses between speed (false) and data that survives a crash (true). */
        public Options withFsync(boolean newFsync) {
            return new Options(dataDirectory, port, newFsync, stopAtExit, settings);
        }

        /** Chooses whether the JVM's end stops the server by a shutdown hook of its own. */
        public Options withStopAtExit(boolean newStopAtExit) {
            return new Options(dataDirectory, port, fsync, newStopAtExit, settings);
        }

        /** Adds one setting of {@code postgresql.conf}. */
        public Options withSetting(String name, String value) {
            Map<String, String> more = new LinkedHashMap<>(settings);
            more.put(name, value);
            return withSettings(more);
        }

        /** Replaces the further settings of {@code postgresql.conf}. */
        public Options withSettings(Map<String, String> newSettings) {
            return new Options(dataDirectory, port, fsync, stopAtExit, newSettings);
        }

        Map<String, String> serverSettings(int version) {
            Map<String, String> all = new LinkedHashMap<>(Map.of(
                    "listen_addresses", "127.0.0.1",
                    "unix_socket_directories", "",
                    "max_connections", "200"));
            if (!fsync) {
                all.putAll(Map.of(
                        "fsync", "off",
                        "synchronous_commit", "off",
                        "full_page_writes", "off"));
            }
            if (!fsync && version >= IO_WORKERS) {
                // Reads come from memory here, three I/O workers would only compete for the cores.
                all.put("io_method", "sync");
            }
            all.putAll(settings);
            return all;
        }
    }
}
