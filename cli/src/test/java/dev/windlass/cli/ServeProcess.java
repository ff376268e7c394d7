package dev.windlass.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.awaitility.Awaitility;

/** {@code windlass serve} in a JVM of its own, as a user starts it. */
final class ServeProcess implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 90;

    private final Process process;
    private final Path data;
    private final Path out;
    private final Path err;

    private ServeProcess(Process process, Path data, Path out, Path err) {
        this.process = process;
        this.data = data;
        this.out = out;
        this.err = err;
    }

    /** On a database of its own. */
    static ServeProcess start(Path directory, String... more) throws IOException {
        List<String> words = new ArrayList<>(List.of("--data", data(directory).toString()));
        words.addAll(List.of(more));
        return launch(directory, words);
    }

    private static Path data(Path directory) {
        return directory.resolve("data directory");
    }

    private static ServeProcess launch(Path directory, List<String> words) throws IOException {
        Path out = Files.createTempFile(directory, "serve", ".out");
        Path err = Files.createTempFile(directory, "serve", ".err");
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "serve"));
        command.addAll(words);
        Process process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        return new ServeProcess(process, data(directory), out, err);
    }

    static ServeProcess ready(Path directory, String... more) throws IOException {
        ServeProcess serve = start(directory, more);
        serve.awaitOutput("is ready");
        return serve;
    }

    /** On a database that is given. */
    static ServeProcess readyOn(String url, Path directory) throws IOException {
        ServeProcess serve = launch(directory, List.of("--url", url, "--user", "postgres"));
        serve.awaitOutput("is ready");
        return serve;
    }

    void awaitOutput(String pattern) {
        awaitIn(out, pattern);
    }

    void awaitError(String pattern) {
        awaitIn(err, pattern);
    }

    private void awaitIn(Path file, String pattern) {
        Pattern expected = Pattern.compile(pattern);
        Awaitility.await()
                .atMost(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .failFast("it ended: " + err, () -> !process.isAlive())
                .until(() -> expected.matcher(Files.readString(file)).find());
    }

    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid())
                .inheritIO()
                .start()
                .waitFor();
    }

    int exitCode() throws InterruptedException {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("it did not end");
        }
        return process.exitValue();
    }

    String out() throws IOException {
        return Files.readString(out);
    }

    String err() throws IOException {
        return Files.readString(err);
    }

    Path data() {
        return data;
    }

    String url() throws IOException {
        Matcher line = Pattern.compile("url +(jdbc:\\S+)").matcher(out());
        if (!line.find()) {
            throw new IllegalStateException("no url in the output");
        }
        return line.group(1);
    }

    String password() throws IOException {
        return Files.readString(data.resolve("password"));
    }

    DataSource dataSource() throws IOException {
        return new Target(url(), "postgres", password()).dataSource();
    }

    @Override
    public void close() {
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
