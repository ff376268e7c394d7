package dev.windlass.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What the server says about itself in {@code postmaster.pid}. */
record Postmaster(long pid, int port, String status) {

    private static final int PORT_LINE = 3;
    private static final int STATUS_LINE = 7;

    static Path file(Path data) {
        return data.resolve("postmaster.pid");
    }

    /** Empty when there is no server, or one so young that it has not finished writing the file. */
    static Optional<Postmaster> read(Path data) {
        try {
            List<String> lines = Files.readAllLines(file(data));
            return Optional.of(new Postmaster(
                    Long.parseLong(lines.get(0).strip()),
                    Integer.parseInt(lines.get(PORT_LINE).strip()),
                    lines.size() > STATUS_LINE ? lines.get(STATUS_LINE).strip() : ""));
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    boolean isReady() {
        return status.equals("ready");
    }

    /** Whether the pid still is a server on this data, and not some other program that got the same number. */
    boolean isAlive(Path data) {
        return ProcessHandle.of(pid)
                .filter(handle -> !Processes.isGone(handle))
                .filter(Postmaster::isPostgres)
                .filter(handle -> Processes.workingDirectory(handle)
                        .map(directory -> directory.equals(real(data)))
                        .orElse(true))
                .isPresent();
    }

    private static boolean isPostgres(ProcessHandle handle) {
        return handle.info()
                .command()
                .map(command -> command.matches(".*postgres(\\.exe)?( \\(deleted\\))?"))
                .orElse(false);
    }

    private static Path real(Path data) {
        try {
            return data.toRealPath();
        } catch (IOException e) {
            return data;
        }
    }
}
