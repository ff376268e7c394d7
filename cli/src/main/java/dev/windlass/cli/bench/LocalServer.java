package dev.windlass.cli.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a server that runs on this machine takes of it. Of one elsewhere, nothing can be told. */
record LocalServer(ProcessHandle process) {
    private static final double TICKS_PER_SECOND = 100;
    /** In /proc/PID/stat, after the name of the command: in user and kernel mode, and the same of children that have ended. */
    private static final int USER_TICKS = 11;

    static Optional<LocalServer> of(Connection connection) throws SQLException {
        boolean isNear = Boolean.parseBoolean(
                BenchServer.text(
                        connection,
                        "select (coalesce(inet_server_addr(), '127.0.0.1') <<= '127.0.0.0/8' or inet_server_addr() = '::1')::text"));
        long backend = BenchServer.number(connection, "select pg_backend_pid()");
        return isNear
                ? ProcessHandle.of(backend)
                        .flatMap(ProcessHandle::parent)
                        .filter(LocalServer::isServer)
                        .map(LocalServer::new)
                : Optional.empty();
    }

    /** A tunnel looks near as well; then the process is another, or there is none. */
    private static boolean isServer(ProcessHandle process) {
        return process.info().command().orElse("").endsWith("postgres");
    }

    static OptionalLong freeDisk(Connection connection) throws SQLException {
        @Nullable String data = BenchServer.text(connection, "select current_setting('data_directory', true)");
        if (data == null || of(connection).isEmpty()) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Files.getFileStore(Path.of(data)).getUsableSpace());
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    /** Seconds of processor time since its start, with those of sessions that have ended. */
    double seconds() {
        return Stream.concat(Stream.of(process), process.children())
                        .mapToLong(each -> ticks(each, each.equals(process) ? 4 : 2))
                        .sum()
                / TICKS_PER_SECOND;
    }

    private static long ticks(ProcessHandle process, int fields) {
        try {
            String line = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
            return Stream.of(line.substring(line.lastIndexOf(')') + 2).split(" "))
                    .skip(USER_TICKS)
                    .limit(fields)
                    .mapToLong(Long::parseLong)
                    .sum();
        } catch (IOException e) {
            return 0; // it has ended, or this is another system
        }
    }
}
