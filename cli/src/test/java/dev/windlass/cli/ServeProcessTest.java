package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Needs signals as POSIX has them. */
@DisabledOnOs(OS.WINDOWS)
final class ServeProcessTest {

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path directory;

    @Test
    void aDirectoryThatIsNotItsOwnIsRefusedAndLeftAsItIs() throws Exception {
        Path other = Files.createDirectories(directory.resolve("data directory"));
        Files.writeString(other.resolve("notes.txt"), "mine");
        try (ServeProcess serve = ServeProcess.start(directory)) {
            assertThat(serve.exitCode()).isEqualTo(1);
            assertThat(serve.err())
                    .contains("expected a new or empty directory, or one made by Windlass")
                    .hasLineCount(1);
        }
        try (Stream<Path> entries = Files.list(other)) {
            assertThat(entries).hasSize(1);
        }
    }

    @Test
    void databaseThatEndsByItselfIsReported() throws Exception {
        try (ServeProcess serve = ServeProcess.ready(directory)) {
            long pid = Long.parseLong(Files.readAllLines(serve.data().resolve("data/postmaster.pid"))
                    .get(0)
                    .strip());
            ProcessHandle.of(pid).orElseThrow().destroyForcibly();
            assertThat(serve.exitCode()).isEqualTo(1);
            assertThat(serve.err())
                    .contains("has ended by itself; see " + serve.data().resolve("server.log"));
        }
    }

    @Test
    void anOutageOfAGivenDatabaseIsOneLineWhenItGoesAndOneWhenItIsBack() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start();
                ServeProcess serve = ServeProcess.readyOn(server.jdbcUrl(), directory)) {
            server.restart();
            serve.awaitError("the database is back after");
            assertThat(serve.err().lines())
                    .satisfiesExactly(
                            away -> assertThat(away).contains("the database is away: "),
                            back -> assertThat(back).contains("the database is back after "));
        }
    }

    @Test
    void secondProcessOnTheSameDirectoryIsRefused() throws Exception {
        try (ServeProcess first = ServeProcess.ready(directory);
                ServeProcess second = ServeProcess.start(directory)) {
            assertThat(second.exitCode()).isEqualTo(1);
            assertThat(second.err()).contains("is already running").hasLineCount(1);
            assertThat(Sql.value(first.dataSource(), "select to_regclass('windlass.demo_orders')"))
                    .isEqualTo("null");
        }
    }
}
