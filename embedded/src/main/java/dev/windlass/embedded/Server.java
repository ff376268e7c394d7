package dev.windlass.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** One run of the server, from the fork to the end of its last child. */
final class Server {

    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);
    private static final int CHILDREN_TRIES = 20;
    private static final Duration CHILDREN_PAUSE = Duration.ofMillis(250);
    private static final Duration CHILDREN_TIMEOUT = Duration.ofSeconds(5);

    private final Process process;
    private final ProcessHandle postmaster;

    private Server(Process process, ProcessHandle postmaster) {
        this.process = process;
        this.postmaster = postmaster;
    }

    /** Another program has the port; a caller that did not ask for this very port can try the next one. */
    static final class PortTaken extends Exception {
        private static final long serialVersionUID = 1L;
    }

    static Server start(
            Binaries binaries, Account account, DataDirectory directory, int port, Map<String, String> settings)
            throws IOException, PortTaken {
        List<String> command = new ArrayList<>(List.of(
                binaries.program("postgres").toString(),
                "-D",
                directory.data().toString(),
                "-p",
                Integer.toString(port)));
        settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
        for (int tries = 1; ; tries++) {
            ServerLog log = ServerLog.fromNow(directory.log());
            Process process = Command.start(detached(account, command), binaries.home(), directory.log());
            try {
                return new Server(process, awaitReady(process, directory.data(), log));
            } catch (EmbeddedPostgresException e) {
                if (tries == CHILDREN_TRIES || !log.text().contains("pre-existing shared memory block")) {
                    throw e;
                }
                // A child of a server that was killed lives a moment longer, and ends by itself.
                Await.until(CHILDREN_PAUSE, () -> false);
            }
        }
    }

    boolean isRunning() {
        return !Processes.isGone(postmaster);
    }

    long pid() {
        return postmaster.pid();
    }

    /** Kills the postmaster without a chance to clean up; its children notice and end by themselves. */
    void kill() {
        List<ProcessHandle> family = family();
        postmaster.destroyForcibly();
        awaitEnd(family);
    }

    /** Ends the sessions, writes a checkpoint and stops (PostgreSQL's fast shutdown). */
    void stop(Binaries binaries, Path data) {
        List<ProcessHandle> family = family();
        // The number of a server that crashed may already be somebody else's.
        if (isRunning()) {
            requestStop(binaries, data);
        }
        if (!Await.until(STOP_TIMEOUT, () -> !isRunning())) {
            postmaster.destroyForcibly();
        }
        awaitEnd(family);
    }

    private void requestStop(Binaries binaries, Path data) {
        if (Platform.isWindows()) {
            Command.probe(List.of(binaries.program("pg_ctl").toString(), "stop", "-m", "fast", "-D", data.toString()));
        } else {
            Processes.signal(postmaster, "INT");
        }
    }

    /** Out of the reach of the terminal's Ctrl-C, and told to stop by the kernel if this JVM dies without a word. */
    private static List<String> detached(Account account, List<String> command) {
        List<String> inner = new ArrayList<>(Wrappers.DEATH_SIGNAL);
        inner.addAll(command);
        return Stream.concat(Wrappers.SESSION.stream(), account.wrap(inner).stream())
                .toList();
    }

    private static ProcessHandle awaitReady(Process process, Path data, ServerLog log) throws PortTaken {
        Await.until(START_TIMEOUT, () -> !process.isAlive() || isReady(process, data));
        if (isReady(process, data)) {
            return Postmaster.read(data)
                    .flatMap(postmaster -> ProcessHandle.of(postmaster.pid()))
                    .orElseThrow(() -> failed("ended at once", log));
        }
        boolean ended = !process.isAlive();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        if (ended && log.text().contains("could not bind")) {
            throw new PortTaken();
        }
        throw failed(ended ? "did not start" : "was not ready after " + START_TIMEOUT.toSeconds() + " s", log);
    }

    /** The server's own word in its lock file; a connection to the port could reach somebody else's server. */
    private static boolean isReady(Process process, Path data) {
        return Postmaster.read(data)
                .filter(Postmaster::isReady)
                .filter(postmaster -> isOf(process, postmaster.pid()))
                .isPresent();
    }

    private static boolean isOf(Process process, long pid) {
        return process.pid() == pid || process.descendants().anyMatch(child -> child.pid() == pid);
    }

    private static EmbeddedPostgresException failed(String what, ServerLog log) {
        return new EmbeddedPostgresException(
                "PostgreSQL %s; the last lines of %s:%n%s".formatted(what, log.file(), log.tail()));
    }

    private List<ProcessHandle> family() {
        return Stream.concat(Stream.of(postmaster, process.toHandle()), postmaster.descendants())
                .toList();
    }

    /** The next server can have the port and the shared memory only when the last child is gone. */
    private static void awaitEnd(List<ProcessHandle> family) {
        if (!Await.until(CHILDREN_TIMEOUT, () -> family.stream().allMatch(Processes::isGone))) {
            family.forEach(ProcessHandle::destroyForcibly);
            Await.until(CHILDREN_TIMEOUT, () -> family.stream().allMatch(Processes::isGone));
        }
    }
}
