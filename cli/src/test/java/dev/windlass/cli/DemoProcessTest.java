package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The demo in a process of its own. Needs signals as POSIX has them. */
@DisabledOnOs(OS.WINDOWS)
final class DemoProcessTest {

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path directory;

    @Test
    void interruptEndsItCleanlyAndTheDataIsThereTheNextTime() throws Exception {
        assumeInterruptsAreHeeded();
        String url;
        try (ServeProcess demo = ServeProcess.ready(directory, "--demo", "--node", "my-node", "--grace", "20s")) {
            demo.awaitOutput("retries [1-9]");
            demo.awaitOutput("reports [1-9]");
            assertThat(demo.out()).contains("node      my-node, with ").doesNotContain("\u001b");
            assertPastedCommandsWork(demo.out());
            url = demo.url();
            assertThat(demo.out()).contains(demo.data() + "/password").doesNotContain(demo.password());
            demo.signal("INT");
            assertThat(demo.exitCode()).isZero();
            assertThat(demo.out()).contains("running handlers may finish for up to 20 s");
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
            assertThat(Sql.value(
                            again.dataSource(), "select distinct processed_by from windlass.outbox where status = 2"))
                    .isEqualTo("my-node");
            assertThat(Sql.value(
                            again.dataSource(),
                            "select distinct result || ' ' || progress from windlass.work where status = 2"))
                    .isEqualTo("12 pages 100");
            assertWrongPasswordIsOneSentence(again);
            again.signal("TERM");
            assertThat(again.exitCode()).isZero();
            assertThat(again.out()).endsWith("stopped" + System.lineSeparator());
        }
    }

    @Test
    void theDemoIsAPictureOnATerminalWithCommandsThatWorkElsewhere() throws Exception {
        assumeTrue(Screen.isPossible(), "needs the program script");
        assumeInterruptsAreHeeded();
        String command = Screen.windlass() + " serve --demo --data "
                + Screen.quoted(directory.resolve("data directory").toString());
        try (Screen screen = Screen.of(directory, 80, Map.of(), command)) {
            screen.await("last dead letter: topic fax.send");
            String drawn = screen.text();
            String picture = drawn.substring(drawn.lastIndexOf("\u001b[H"))
                    .replace("\u001b[K", "")
                    .replace("\u001b[J", "")
                    .replace("\u001b[H", "");
            assertThat(picture)
                    .containsPattern("fax.send .* [1-9]")
                    .contains("mail.send", "timers: ", "jobs: 1", "outbox show ", "Ctrl-C")
                    .containsPattern("reports +\\d.* [31] running");
            assertThat(picture.lines().takeWhile(line -> !line.startsWith("Try ")))
                    .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(80));
            assertPastedCommandsWork(picture);
            screen.type("\u0003");
            assertThat(screen.exitCode()).as(screen.text()).isZero();
            assertThat(screen.text()).contains("stopped");
        }
    }

    /** All but the one that goes on for ever. */
    private static void assertPastedCommandsWork(String shown) throws Exception {
        String pasted = shown.lines()
                .dropWhile(line -> !line.startsWith("Try in another terminal:"))
                .skip(1)
                .takeWhile(line -> line.startsWith("  "))
                .filter(line -> !line.endsWith("--watch"))
                .collect(Collectors.joining("\n"));
        assertThat(pasted).contains("export WINDLASS_URL=", " outbox failed\n", " jobs trigger count-the-till");
        Process process = new ProcessBuilder("bash", "-ec", pasted)
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        assertThat(said)
                .contains(
                        "paused topic mail.send",
                        "resumed topic mail.send",
                        "triggered job count-the-till",
                        "limited queue reports: 1 running");
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

    private static long orders(ServeProcess serve) throws Exception {
        boolean none = Sql.value(serve.dataSource(), "select to_regclass('windlass.demo_orders')")
                .equals("null");
        return none ? -1 : Long.parseLong(Sql.value(serve.dataSource(), "select count(*) from windlass.demo_orders"));
    }

    private static void assumeInterruptsAreHeeded() throws IOException {
        assumeFalse(isInterruptIgnored(), "SIGINT is ignored by this process, and so by those it starts");
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
