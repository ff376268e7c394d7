package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.windlass.Child;
import dev.windlass.TestDatabase;
import dev.windlass.outbox.OutboxEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Handlers run on virtual threads where the JVM has them. */
final class ThreadsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    void handlersRunOnTheThreadsThisJvmIsBestAt() throws Exception {
        drain(
                ProcessHandle.current().info().command().orElse("java"),
                Runtime.version().feature());
    }

    @Test
    void handlersRunOnVirtualThreadsOfTheNewestJdk() throws Exception {
        Optional<Jdk> newest = Jdk.newest();
        assumeTrue(newest.isPresent() && newest.get().version() >= 21, "no JDK with virtual threads on this machine");
        drain(newest.orElseThrow().java(), newest.orElseThrow().version());
    }

    private static void drain(String java, int version) throws Exception {
        database.passive()
                .outbox()
                .enqueueAll(IntStream.range(0, 200)
                        .mapToObj(n -> OutboxEntry.of("a", "x"))
                        .toList());
        try (Child child = Child.start(java, ChildNode.class, database, "30000")) {
            eventually().until(() -> database.count("status = 2") == 200);
            assertThat(child.end()).isZero();
            assertThat(Interval.printedBy(child)).hasSize(200);
            assertThat(child.lines().stream()
                            .filter(line -> line.startsWith("thread "))
                            .distinct())
                    .containsExactly("thread java.lang." + (version >= 21 ? "VirtualThread" : "Thread"));
        }
    }

    private record Jdk(int version, String java) {

        /** Of those that {@code JAVA_HOME}-like variables name, and those in the usual folder. */
        static Optional<Jdk> newest() throws IOException {
            List<Path> homes = new ArrayList<>();
            homes.add(Path.of(System.getProperty("java.home")));
            for (Map.Entry<String, String> variable : System.getenv().entrySet()) {
                if (variable.getKey().startsWith("JAVA_HOME")) {
                    homes.add(Path.of(variable.getValue()));
                }
            }
            Path usual = Path.of("/usr/lib/jvm");
            if (Files.isDirectory(usual)) {
                try (Stream<Path> found = Files.list(usual)) {
                    found.forEach(homes::add);
                }
            }
            return homes.stream()
                    .map(Jdk::in)
                    .flatMap(Optional::stream)
                    .max((a, b) -> Integer.compare(a.version, b.version));
        }

        private static Optional<Jdk> in(Path home) {
            Path release = home.resolve("release");
            Path java = home.resolve("bin").resolve("java");
            if (!Files.isReadable(release) || !Files.isExecutable(java)) {
                return Optional.empty();
            }
            try (var lines = Files.newBufferedReader(release)) {
                Properties properties = new Properties();
                properties.load(lines);
                String version = properties.getProperty("JAVA_VERSION", "1").replace("\"", "");
                return Optional.of(new Jdk(Runtime.Version.parse(version).feature(), java.toString()));
            } catch (IOException | IllegalArgumentException e) {
                return Optional.empty();
            }
        }
    }
}
