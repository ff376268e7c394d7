package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A copy of the example in Node with its dependencies. */
record NodeExample(Path directory) {
    private static final Path SOURCE = Path.of("node").toAbsolutePath();
    private static final Path COPY = Path.of("target/node-example").toAbsolutePath();
    private static final Pattern REGISTRY_AWAY =
            Pattern.compile("code (E[A-Z_]*(CONN|NOTFOUND|AGAIN|TIMEDOUT|UNREACH|SOCKET)[A-Z_]*|E40[137]|E5\\d\\d)");

    /** Skips the test on a machine without Node, npm, or a way to the registry. */
    static NodeExample install() throws IOException, InterruptedException {
        Tool.needed("node");
        Tool.needed("npm");
        Files.createDirectories(COPY);
        try (Stream<Path> files = Files.list(SOURCE)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, COPY.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        Files.copy(
                Path.of("src/test/resources/node/test-worker.js"),
                COPY.resolve("test-worker.js"),
                StandardCopyOption.REPLACE_EXISTING);
        Tool.Ran ran = run(COPY, "npm", "ci", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=20000");
        Assumptions.assumeFalse(
                REGISTRY_AWAY.matcher(ran.output()).find(),
                "skipped: npm cannot reach its registry: " + ran.output().strip());
        assertThat(ran.exitCode()).as(ran.output()).isZero();
        return new NodeExample(COPY);
    }

    Tool.Ran run(String script, String... arguments) throws IOException, InterruptedException {
        return run(directory, command(script, arguments));
    }

    Process start(String script, String... arguments) throws IOException {
        return Tool.start(
                directory, logOf(script), EmbeddedPostgres.shared().user(), List.of(command(script, arguments)));
    }

    /** What the last process that was started with this script has said. */
    String log(String script) throws IOException {
        return Files.readString(logOf(script));
    }

    private Path logOf(String script) {
        return directory.resolve(script + ".log");
    }

    private static String[] command(String script, String... arguments) {
        return Stream.concat(Stream.of("node", script), Stream.of(arguments)).toArray(String[]::new);
    }

    private static Tool.Ran run(Path directory, String... command) throws IOException, InterruptedException {
        return Tool.run(directory, EmbeddedPostgres.shared().user(), List.of(command));
    }
}
