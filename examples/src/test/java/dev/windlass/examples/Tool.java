package dev.windlass.examples;

import dev.windlass.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Programs that are not part of the build, and that the machine may not have. */
final class Tool {
    private static final int PATIENCE_SECONDS = 120;

    private Tool() {}

    /** Skips the test on a machine without this program. */
    static void needed(String name) {
        String path = System.getenv().getOrDefault("PATH", "");
        boolean there = Stream.of(path.split(java.io.File.pathSeparator))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, name)));
        Assumptions.assumeTrue(there, "skipped: there is no " + name + " on the PATH");
    }

    /** Starts a program that finds the database by the environment, as psql and drivers made like it do. */
    static Process start(Path directory, Path output, String user, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
        builder.environment().put("PGHOST", "127.0.0.1");
        builder.environment()
                .put("PGPORT", String.valueOf(EmbeddedPostgres.shared().port()));
        builder.environment().put("PGUSER", user);
        builder.environment().put("PGDATABASE", "postgres");
        return builder.start();
    }

    /** Runs a program to its end. */
    static Ran run(Path directory, String user, List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile("tool", ".log");
        try {
            Process process = start(directory, output, user, command);
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException("expected " + command + " to end, it runs on");
            }
            return new Ran(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
        } finally {
            Files.delete(output);
        }
    }

    record Ran(int exitCode, String output) {}
}
