package dev.windlass.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** {@code windlass} on a terminal of its own, made by the program {@code script}. */
final class Screen implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 90;

    private final Process process;
    private final Path shown;

    private Screen(Process process, Path shown) {
        this.process = process;
        this.shown = shown;
    }

    static boolean isPossible() {
        return Files.isExecutable(Path.of("/usr/bin/script"));
    }

    /** Where a shell finds the program. */
    static String windlass() {
        return Stream.of(
                        ProcessHandle.current().info().command().orElse("java"),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName())
                .map(Screen::quoted)
                .collect(Collectors.joining(" "));
    }

    static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }

    /**
     * Runs one command of the shell on a terminal with so many columns. The shell makes way for it: some shells die of a
     * Ctrl-C that the command outlives, and the exit code would be theirs.
     */
    static Screen of(Path directory, int columns, Map<String, String> environment, String command) throws IOException {
        Path shown = Files.createTempFile(directory, "screen", ".txt");
        ProcessBuilder builder = new ProcessBuilder(List.of(
                        "/usr/bin/script", "-qefc", "stty cols " + columns + " rows 50; exec " + command, "/dev/null"))
                .redirectOutput(shown.toFile());
        builder.environment().remove("COLUMNS");
        builder.environment().putAll(environment);
        return new Screen(builder.start(), shown);
    }

    String text() throws IOException {
        return Files.readString(shown);
    }

    Screen await(String text) {
        Awaitility.await()
                .atMost(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .failFast(() -> {
                    if (!process.isAlive() && !text().contains(text)) {
                        throw new AssertionError("it ended, and showed: " + text());
                    }
                })
                .until(() -> text().contains(text));
        return this;
    }

    void type(String keys) throws IOException {
        OutputStream keyboard = process.getOutputStream();
        keyboard.write(keys.getBytes(StandardCharsets.UTF_8));
        keyboard.flush();
    }

    int exitCode() throws InterruptedException {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("it did not end");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroy);
        process.destroy();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
