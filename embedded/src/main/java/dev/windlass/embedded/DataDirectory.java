package dev.windlass.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A directory of ours: {@code data} for PostgreSQL, and next to it {@code password}, {@code port}, {@code server.log} and
 * the {@code lock} that is held from start to close.
 */
final class DataDirectory implements AutoCloseable {

    private static final Set<String> FILES = Set.of("lock", "password", "port", "server.log");

    private static final Duration INITDB_TIMEOUT = Duration.ofMinutes(2);

    /** A server whose JVM was killed gets its own signal to stop at that moment, and needs a little to do so. */
    private static final Duration ORPHAN_TIMEOUT = Duration.ofSeconds(5);

    /** Older servers sort in the same order, and know upper and lower case of ASCII only. */
    private static final int BUILTIN_LOCALES = 17;

    private final Path directory;
    private final boolean temporary;
    private final FileChannel lock;

    private DataDirectory(Path directory, boolean temporary) throws IOException {
        this.directory = directory;
        this.temporary = temporary;
        this.lock = lock();
    }

    static DataDirectory open(@Nullable Path wanted) throws IOException {
        if (wanted == null) {
            return new DataDirectory(Files.createTempDirectory("windlass-postgresql-"), true);
        }
        Path directory = wanted.toAbsolutePath().normalize();
        if (Files.exists(directory.resolve("PG_VERSION"))) {
            throw new EmbeddedPostgresException(
                    "%s is the data directory of a PostgreSQL server; expected a new directory or one made by Windlass"
                            .formatted(directory));
        }
        refuseForeign(directory);
        return new DataDirectory(PrivateFiles.createDirectories(directory), false);
    }

    /** What is not ours is left as it is: a directory with anything in it must have been made here. */
    private static void refuseForeign(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        boolean locked = Files.isRegularFile(directory.resolve("lock"));
        if (locked && Files.exists(directory.resolve("data/PG_VERSION"))) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                if (!locked || !isOurs(entry.getFileName().toString())) {
                    throw new EmbeddedPostgresException(
                            "expected a new or empty directory, or one made by Windlass, but %s has %s in it; give another --data directory"
                                    .formatted(directory, entry.getFileName()));
                }
            }
        }
    }

    /** Left by a first start that was interrupted. */
    private static boolean isOurs(String name) {
        return name.startsWith("initialising-")
                || FILES.contains(name)
                || FILES.contains(name.replaceFirst("\\.new$", ""));
    }

    Path data() {
        return directory.resolve("data");
    }

    Path log() {
        return directory.resolve("server.log");
    }

    /** Makes the data ready for the account: initialised, owned, and without a server on it. */
    void prepare(Binaries binaries, Account account) throws IOException {
        account.admit(directory);
        if (!account.canEnter(directory)) {
            throw new EmbeddedPostgresException(
                    "PostgreSQL does not run as root, and the user with id %d that it runs as here cannot enter %s; give another --data directory, for example under /var/lib"
                            .formatted(account.uid(), directory));
        }
        if (Files.exists(data())) {
            refuseRunning(ORPHAN_TIMEOUT);
            refuseOtherVersion(binaries);
            disownStalePid();
            account.own(data());
        } else {
            initialise(binaries, account);
        }
    }

    String password() throws IOException {
        return temporary ? "" : Files.readString(passwordFile());
    }

    /** The wanted port, or the one of the last time if it is free, or any free one. */
    int choosePort(int wanted) throws IOException {
        if (wanted != 0) {
            return wanted;
        }
        if (Files.exists(portFile())) {
            int remembered = Integer.parseInt(Files.readString(portFile()).strip());
            if (isFree(remembered)) {
                return remembered;
            }
        }
        return freePort();
    }

    void rememberPort(int port) throws IOException {
        if (!temporary) {
            PrivateFiles.write(portFile(), Integer.toString(port));
        }
    }

    /** Gives up the lock, and the files of a temporary directory. */
    @Override
    public void close() throws IOException {
        lock.close();
        if (temporary) {
            PrivateFiles.deleteTree(directory);
        }
    }

    static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            // As PostgreSQL binds: connections of the last server that linger in TIME_WAIT are no obstacle.
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private FileChannel lock() throws IOException {
        FileChannel channel =
                FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (!isLocked(channel)) {
            channel.close();
            throw Postmaster.read(data())
                    .map(this::alreadyRunning)
                    .orElseGet(() -> new EmbeddedPostgresException(
                            "another process is just starting PostgreSQL on %s; stop it or give another --data directory"
                                    .formatted(directory)));
        }
        return channel;
    }

    private static boolean isLocked(FileChannel channel) throws IOException {
        try {
            FileLock held = channel.tryLock();
            return held != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    void refuseRunning(Duration patience) {
        Await.until(patience, () -> running().isEmpty());
        running().ifPresent(other -> {
            throw alreadyRunning(other);
        });
    }

    private void refuseOtherVersion(Binaries binaries) throws IOException {
        String found = Files.readString(data().resolve("PG_VERSION")).strip();
        if (!found.equals(Integer.toString(binaries.version()))) {
            throw new EmbeddedPostgresException(
                    "expected data of PostgreSQL %d in %s, found data of PostgreSQL %s; give another --data directory, or move the data with pg_dump"
                            .formatted(binaries.version(), directory, found));
        }
    }

    private Optional<Postmaster> running() {
        return Postmaster.read(data()).filter(other -> other.isAlive(data()));
    }

    private EmbeddedPostgresException alreadyRunning(Postmaster other) {
        return new EmbeddedPostgresException(
                "PostgreSQL on %s is already running with pid %d on port %d; stop it or give another --data directory"
                        .formatted(directory, other.pid(), other.port()));
    }

    /**
     * Puts our own pid into the lock file that a killed server left, because PostgreSQL ignores its parent's. Otherwise it
     * would not start when its old pid now belongs to another program of the same user: after the restart of a container,
     * where the same low numbers come again, that is the normal case. The file stays, since PostgreSQL finds in it the
     * shared memory that backends of the old server may still use.
     */
    private void disownStalePid() throws IOException {
        Path file = Postmaster.file(data());
        if (Files.exists(file)) {
            List<String> lines = new ArrayList<>(Files.readAllLines(file));
            if (lines.isEmpty()) {
                return;
            }
            lines.set(0, Long.toString(ProcessHandle.current().pid()));
            Files.write(file, lines);
        }
    }

    /** Initialises next to the final place and renames, so that {@code data} is whole as soon as it exists. */
    private void initialise(Binaries binaries, Account account) throws IOException {
        deleteInterrupted();
        Path fresh = Files.createTempDirectory(directory, "initialising-");
        try {
            String password = randomPassword();
            PrivateFiles.write(fresh.resolve("password"), password);
            account.own(fresh);
            initdb(binaries, account, fresh);
            PrivateFiles.write(passwordFile(), password);
            PrivateFiles.move(fresh.resolve("data"), data());
        } finally {
            PrivateFiles.deleteTree(fresh);
        }
    }

    private void deleteInterrupted() throws IOException {
        try (DirectoryStream<Path> interrupted = Files.newDirectoryStream(directory, "initialising-*")) {
            for (Path tree : interrupted) {
                PrivateFiles.deleteTree(tree);
            }
        }
    }

    private void initdb(Binaries binaries, Account account, Path fresh) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                binaries.program("initdb").toString(),
                "--pgdata=" + fresh.resolve("data"),
                "--username=" + EmbeddedPostgres.USER,
                "--pwfile=" + fresh.resolve("password"),
                "--auth=" + (temporary ? "trust" : "scram-sha-256"),
                "--encoding=UTF8",
                "--locale=C",
                "--no-instructions"));
        if (binaries.version() >= BUILTIN_LOCALES) {
            command.addAll(List.of("--locale-provider=builtin", "--builtin-locale=C.UTF-8"));
        }
        if (temporary) {
            command.add("--no-sync");
        }
        Process process = Command.start(account.wrap(command), binaries.home(), log());
        if (!Await.until(INITDB_TIMEOUT, () -> !process.isAlive())) {
            process.destroyForcibly();
        }
        if (process.isAlive() || process.exitValue() != 0) {
            throw new EmbeddedPostgresException(
                    "initdb failed for %s; its last lines:%n%s".formatted(directory, new ServerLog(log()).tail()));
        }
    }

    private static String randomPassword() {
        byte[] bytes = new byte[24];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private Path passwordFile() {
        return directory.resolve("password");
    }

    private Path portFile() {
        return directory.resolve("port");
    }
}
