package dev.windlass.embedded;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What Java does not say about a process. */
final class Processes {

    private Processes() {}

    /**
     * Whether the process has ended. Java calls a zombie alive, and the children of a killed server stay zombies for ever
     * where process 1 of the container does not reap them.
     */
    static boolean isGone(ProcessHandle handle) {
        return !handle.isAlive() || isZombie(handle);
    }

    static Optional<Path> workingDirectory(ProcessHandle handle) {
        try {
            return Optional.of(proc(handle, "cwd").toRealPath());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Sends a signal that Java has no method for; the shell is there even where the kill program is not. */
    static void signal(ProcessHandle handle, String name) {
        Command.probe(List.of("sh", "-c", "kill -" + name + " " + handle.pid()));
    }

    private static boolean isZombie(ProcessHandle handle) {
        try {
            // Not as UTF-8: the name of the program in there can be any bytes.
            String stat = Files.readString(proc(handle, "stat"), StandardCharsets.ISO_8859_1);
            return stat.startsWith(") Z", stat.lastIndexOf(')'));
        } catch (IOException e) {
            return false;
        }
    }

    private static Path proc(ProcessHandle handle, String name) {
        return Path.of("/proc", Long.toString(handle.pid()), name);
    }
}
