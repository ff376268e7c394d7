package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    void interruptEndsItCleanlyAndTheDataIsThereTheNextTime() throws Exception {
        assumeFalse(isInterruptIgnored(), "SIGINT is ignored by this process, and so by those it starts");
        String url;
        try (ServeProcess demo = ServeProcess.ready(directory, "--demo")) {
            demo.awaitOutput("retries [1-9]");
            url = demo.url();
            assertThat(demo.out()).contains(demo.data() + "/password").doesNotContain(demo.password());
            demo.signal("INT");
            assertThat(demo.exitCode()).isZero();
            assertThat(demo.out()).endsWith("stopped" + System.lineSeparator());
            assertThat(demo.err()).isEmpty();
            assertThat(demo.data().resolve("data/postmaster.pid")).doesNotExist();
        }
        try (ServeProcess again = ServeProcess.ready(directory)) {
            assertThat(again.url()).isEqualTo(url);
            assertThat(orders(again)).isPositive();
            // The node went before its database: nothing was left in its hands.
            assertThat(Sql.value(again.dataSource(), "select count(*) from windlass.outbox where status = 1"))
                    .isEqualTo("0");
            assertThat(Sql.value(again.dataSource(), "select count(*) from windlass.outbox where status = 2"))
                    .isNotEqualTo("0");
            assertWrongPasswordIsOneSentence(again);
            again.signal("TERM");
            assertThat(again.exitCode()).isZero();
            assertThat(again.out()).endsWith("stopped" + System.lineSeparator());
        }
    }

    private static void assertWrongPasswordIsOneSentence(ServeProcess serve) throws IOException {
        Ran ran = Ran.windlass("status", "--url", serve.url(), "--user", "postgres", "--password", "wrong");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err())
                .contains(
                        "password authentication failed for user \"postgres\" (SQLSTATE 28P01); check --user and --password")
                .hasLineCount(1);
        assertThat(Ran.windlass("status", "--url", serve.url(), "--user", "postgres", "--password", serve.password())
                        .exitCode())
                .isZero();
    }

    @Test
    void killedProcessDoesNotBlockTheNextAndWhatWasCommittedIsThere() throws Exception {
        long placed;
        try (ServeProcess demo = ServeProcess.ready(directory, "--demo")) {
            demo.awaitOutput("placed [5-9]");
            placed = orders(demo);
            demo.signal("KILL");
            assertThat(demo.exitCode()).isEqualTo(137);
        }
        try (ServeProcess again = ServeProcess.ready(directory, "--demo")) {
            again.awaitOutput("handled [1-9]");
            assertThat(orders(again)).isGreaterThanOrEqualTo(placed);
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
    void secondProcessOnTheSameDirectoryIsRefused() throws Exception {
        try (ServeProcess first = ServeProcess.ready(directory);
                ServeProcess second = ServeProcess.start(directory)) {
            assertThat(second.exitCode()).isEqualTo(1);
            assertThat(second.err()).contains("is already running").hasLineCount(1);
            assertThat(orders(first)).isEqualTo(-1);
        }
    }

    private static long orders(ServeProcess serve) throws Exception {
        boolean none = Sql.value(serve.dataSource(), "select to_regclass('windlass.demo_orders')")
                .equals("null");
        return none ? -1 : Long.parseLong(Sql.value(serve.dataSource(), "select count(*) from windlass.demo_orders"));
    }

    /** As after {@code mvn … &} in a script: shells start such programs with SIGINT ignored. */
    private static boolean isInterruptIgnored() throws IOException {
        Path status = Path.of("/proc/self/status");
        return Files.exists(status)
                && Files.readAllLines(status).stream()
                        .filter(line -> line.startsWith("SigIgn:"))
                        .anyMatch(line ->
                                (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 2) != 0);
    }
}
