package dev.windlass.embedded;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Programs that are started for the server: the server itself, initdb and the probes for what the system allows. */
final class Command {

    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(10);

    /**
     * The one thread that forks: Linux sends the parent death signal when the forking thread ends, not the JVM, so this
     * thread must live as long as the JVM does.
     */
    private static final ExecutorService PARENT = Executors.newSingleThreadExecutor(Command::parentThread);

    private Command() {}

    /** Starts a program whose output goes to the end of the log, with nothing of the caller's PG* environment. */
    static Process start(List<String> command, Path directory, Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(nullDevice()))
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
        builder.environment().put("LC_ALL", "C");
        // PostgreSQL takes a lock file with this pid for a stale one: see DataDirectory.disownStalePid.
        builder.environment()
                .put("PG_GRANDPARENT_PID", Long.toString(ProcessHandle.current().pid()));
        return fork(builder);
    }

    /** Runs a short command and returns its output, or an empty string when it is missing, fails or hangs. */
    static String probe(List<String> command) {
        try {
            Process process = fork(new ProcessBuilder(command)
                    .directory(new File(File.separator))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .redirectInput(ProcessBuilder.Redirect.from(nullDevice())));
            if (!Await.until(PROBE_TIMEOUT, () -> !process.isAlive())) {
                process.destroyForcibly();
                return "";
            }
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.exitValue() == 0 ? output.strip() : "";
        } catch (IOException e) {
            return "";
        }
    }

    private static Process fork(ProcessBuilder builder) throws IOException {
        var started = PARENT.submit(builder::start);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return started.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Thread parentThread(Runnable work) {
        Thread thread = new Thread(work, "windlass-postgresql-parent");
        thread.setDaemon(true);
        return thread;
    }

    private static File nullDevice() {
        return new File(Platform.isWindows() ? "NUL" : "/dev/null");
    }
}
