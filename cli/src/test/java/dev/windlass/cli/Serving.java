package dev.windlass.cli;

import static dev.windlass.cli.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;

/** {@code windlass serve} in this JVM, on a thread of its own, until it is closed; {@link ServeProcess} is one in another JVM. */
final class Serving implements AutoCloseable {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final StringWriter out = new StringWriter();
    private final AtomicInteger exitCode = new AtomicInteger(-1);
    private final Thread thread;
    private boolean asked;

    private Serving(List<String> words) {
        CommandLine command =
                Main.commandLine(Map.of("WINDLASS_USER", "postgres")).setOut(new PrintWriter(out));
        thread = new Thread(() -> exitCode.set(command.execute(words.toArray(String[]::new))), "serve");
    }

    /** On a database that is given, and when it is ready. */
    static Serving ready(String url, String schema, String... more) {
        List<String> words = new ArrayList<>(List.of("serve", "--url", url, "--schema", schema));
        words.addAll(List.of(more));
        Serving serving = new Serving(words);
        serving.thread.start();
        eventually().until(() -> serving.out().contains("Stop it with Ctrl-C"));
        return serving;
    }

    String out() {
        return out.toString();
    }

    HttpResponse<String> get(String path) throws Exception {
        return HTTP.send(
                HttpRequest.newBuilder(URI.create(address() + path))
                        .timeout(PATIENCE)
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private String address() {
        Matcher told = Pattern.compile("http://127\\.0\\.0\\.1:\\d+").matcher(out());
        assertThat(told.find()).as(out()).isTrue();
        return told.group();
    }

    /** As Ctrl-C does, and once: a second one would end the grace of what is under way. Waits for nothing. */
    void askToStop() {
        if (!asked) {
            asked = true;
            thread.interrupt();
        }
    }

    @Override
    public void close() {
        askToStop();
        eventually().until(() -> !thread.isAlive());
        assertThat(exitCode).as(out()).hasValue(0);
    }
}
