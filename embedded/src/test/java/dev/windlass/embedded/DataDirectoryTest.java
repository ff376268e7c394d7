package dev.windlass.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.windlass.embedded.EmbeddedPostgres.Options;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DataDirectoryTest {

    @TempDir
    private Path temp;

    @Test
    void persistentDirectoryKeepsDataPortAndPasswordAndAsksForIt() throws Exception {
        Path directory = temp.resolve("kept");
        int port;
        String password;
        try (EmbeddedPostgres first = start(directory)) {
            port = first.port();
            password = first.password();
            Sql.run(first, "CREATE TABLE kept AS SELECT 42 AS answer");
        }
        try (EmbeddedPostgres second = start(directory)) {
            assertThat(Sql.value(second, "SELECT answer FROM kept")).isEqualTo("42");
            assertThat(second.port()).isEqualTo(port);
            assertThat(second.password()).isEqualTo(password).hasSizeGreaterThan(40);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("password"))))
                    .isEqualTo("rw-------");
            assertThatThrownBy(() -> DriverManager.getConnection(second.jdbcUrl(), second.user(), "guess"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("password authentication failed");
        }
    }

    @Test
    void anotherPortIsTakenWhenTheRememberedOneIsNotFree() throws Exception {
        Path directory = temp.resolve("moved");
        int port;
        try (EmbeddedPostgres first = start(directory)) {
            port = first.port();
        }
        try (ServerSocket squatter = new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
                EmbeddedPostgres second = start(directory)) {
            assertThat(second.port()).isNotEqualTo(squatter.getLocalPort());
            assertThat(second.isRunning()).isTrue();
        }
    }

    @Test
    void directoryThatIsNotOursIsRefusedAndLeftAsItIs() throws Exception {
        Path home = Files.createDirectory(temp.resolve("home"));
        Files.writeString(home.resolve("notes.txt"), "mine");
        Path other = temp.resolve("pgsql");
        Files.writeString(Files.createDirectories(other.resolve("data")).resolve("PG_VERSION"), "18");
        for (Path directory : List.of(home, other)) {
            assertThatThrownBy(() -> start(directory))
                    .isInstanceOf(EmbeddedPostgresException.class)
                    .hasMessageContaining(
                            "expected a new or empty directory, or one made by Windlass, but " + directory);
            assertThat(directory).isDirectoryNotContaining("glob:**lock");
            try (Stream<Path> entries = Files.list(directory)) {
                assertThat(entries).hasSize(1);
            }
        }
    }

    @Test
    void whatIsWrongWithADirectoryIsSaidInWords() throws Exception {
        Path file = Files.createFile(temp.resolve("file"));
        assertThatThrownBy(() -> start(file))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessage("PostgreSQL could not be started: " + file
                        + " is a file, not a directory; give another directory");
        assertThatThrownBy(() -> start(file.resolve("below")))
                .hasMessageContaining("give another directory")
                .hasMessageNotContaining("Exception");
    }

    @Test
    void secondStartOnTheSameDirectoryIsRefused() throws Exception {
        Path directory = temp.resolve("busy");
        try (EmbeddedPostgres postgres = start(directory)) {
            String refusal = "already running with pid %d on port %d; stop it or give another --data directory"
                    .formatted(postgres.pid(), postgres.port());
            assertThatThrownBy(() -> start(directory))
                    .isInstanceOf(EmbeddedPostgresException.class)
                    .hasMessageContaining(refusal);

            // Other directory, same data: free of our lock, as after the death of the JVM that held it.
            Path orphaned = Files.createDirectory(temp.resolve("orphaned"));
            Files.createFile(orphaned.resolve("lock"));
            Files.createSymbolicLink(orphaned.resolve("data"), directory.resolve("data"));
            try (DataDirectory data = DataDirectory.open(orphaned)) {
                assertThatThrownBy(() -> data.refuseRunning(Duration.ZERO)).hasMessageContaining(refusal);
            }
            assertThat(postgres.isRunning()).isTrue();
        }
    }

    @Test
    void ofTwoThatStartAtOnceOnANewDirectoryOneIsRefused() throws Exception {
        Path directory = temp.resolve("raced");
        CompletableFuture<EmbeddedPostgres> one = CompletableFuture.supplyAsync(() -> start(directory));
        CompletableFuture<EmbeddedPostgres> two = CompletableFuture.supplyAsync(() -> start(directory));
        CompletableFuture<EmbeddedPostgres> loser =
                one.handle((server, failure) -> failure != null).join() ? one : two;
        try (EmbeddedPostgres winner = (loser == one ? two : one).join()) {
            assertThatThrownBy(loser::join).hasMessageContaining("stop it or give another --data directory");
            assertThat(directory.resolve("password")).hasContent(winner.password());
            assertThat(Sql.value(winner, "SELECT 1")).isEqualTo("1");
        }
    }

    @Test
    void serverOfAnotherJvmIsRespectedWhileThatLivesAndEndsWithIt() throws Exception {
        assumeTrue(!Wrappers.DEATH_SIGNAL.isEmpty());
        Path directory = temp.resolve("other");
        try (OtherJvm other = OtherJvm.startingServerOn(directory)) {
            String[] pidAndPort = other.firstLine().split(" ", -1);
            assertThatThrownBy(() -> start(directory))
                    .hasMessageContaining("already running with pid %s on port %s", (Object[]) pidAndPort);
            other.kill();
            try (EmbeddedPostgres mine = start(directory)) {
                assertThat(mine.port()).hasToString(pidAndPort[1]);
                assertThat(Long.toString(mine.pid())).isNotEqualTo(pidAndPort[0]);
            }
        }
    }

    @Test
    void lockFileOfAKilledServerIsIgnoredWhenItsPidIsAnotherProgramNow() throws Exception {
        Process other = new ProcessBuilder("sleep", "60").start();
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
            postgres.kill();
            Path file = Postmaster.file(postgres.data());
            List<String> lines = new ArrayList<>(Files.readAllLines(file));
            lines.set(0, Long.toString(other.pid()));
            Files.write(file, lines);

            postgres.restart();

            assertThat(Sql.value(postgres, "SELECT 1")).isEqualTo("1");
        } finally {
            other.destroyForcibly();
        }
    }

    @Test
    void interruptedInitialisationIsDoneAgain() throws Exception {
        Path directory = temp.resolve("interrupted");
        CompletableFuture<EmbeddedPostgres> first = CompletableFuture.supplyAsync(() -> start(directory));
        Await.until(Duration.ofSeconds(10), () -> isHalfInitialised(directory));
        initdb(directory).forEach(ProcessHandle::destroyForcibly);
        assertThatThrownBy(first::join).hasMessageContaining("initdb failed");
        assertThat(directory.resolve("data")).doesNotExist();

        // What a JVM leaves that is killed together with its initdb.
        Path leftover = Files.createDirectories(directory.resolve("initialising-1/data"));
        Files.writeString(leftover.resolve("PG_VERSION"), "18\n");

        try (EmbeddedPostgres second = start(directory)) {
            assertThat(Sql.value(second, "SELECT 1")).isEqualTo("1");
        }
        assertThat(directory.resolve("initialising-1")).doesNotExist();
    }

    @Test
    void dataDirectoryOfAnotherServerIsLeftAlone() throws Exception {
        Files.writeString(temp.resolve("PG_VERSION"), "18\n");
        assertThatThrownBy(() -> start(temp)).hasMessageContaining("is the data directory of a PostgreSQL server");
    }

    @Test
    void dataOfAnotherMajorVersionIsRefused() throws Exception {
        Path directory = temp.resolve("older");
        start(directory).close();
        Files.writeString(directory.resolve("data/PG_VERSION"), "9\n");

        assertThatThrownBy(() -> start(directory))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageMatching(
                        "expected data of PostgreSQL \\d+ in .*/older, found data of PostgreSQL 9; give another"
                                + " --data directory, or move the data with pg_dump");
    }

    private static EmbeddedPostgres start(Path directory) {
        return EmbeddedPostgres.start(Options.defaults().withDataDirectory(directory));
    }

    private static boolean isHalfInitialised(Path directory) {
        try (Stream<Path> found = Files.find(directory, 4, (path, attributes) -> path.endsWith("data/global"))) {
            return found.findAny().isPresent() && initdb(directory).findAny().isPresent();
        } catch (IOException | UncheckedIOException e) {
            return false;
        }
    }

    private static Stream<ProcessHandle> initdb(Path directory) {
        return ProcessHandle.current()
                .descendants()
                .filter(child -> child.info().command().orElse("").endsWith("initdb"))
                .filter(child -> child.info().commandLine().orElse("").contains(directory.toString()));
    }
}
