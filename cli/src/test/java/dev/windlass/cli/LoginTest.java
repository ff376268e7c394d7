package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.windlass.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** On a server that asks for a password. To be let in, and to find no schema there, is to have used the right one. */
@DisabledOnOs(OS.WINDOWS)
final class LoginTest {
    private static final String LET_IN = "expected Windlass's tables in schema \"windlass\"";
    private static final String NO_PASSWORD = "no password was provided";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private static Path data;

    @SuppressWarnings("NullAway.Init")
    private static EmbeddedPostgres server;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path home;

    @BeforeAll
    static void start() {
        server = EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults().withDataDirectory(data.resolve("server")));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static String port() {
        return Integer.toString(
                URI.create(server.jdbcUrl().substring("jdbc:".length())).getPort());
    }

    private Map<String, String> environment(String... namesAndValues) {
        Map<String, String> environment = new HashMap<>(Map.of("HOME", home.toString()));
        for (int i = 0; i < namesAndValues.length; i += 2) {
            environment.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return environment;
    }

    private Map<String, String> address(String... more) {
        Map<String, String> environment = environment(more);
        environment.putAll(Map.of("PGHOST", "127.0.0.1", "PGPORT", port(), "PGDATABASE", "postgres"));
        environment.put("PGUSER", "postgres");
        return environment;
    }

    private void passwordFile(String rights, String line) throws IOException {
        Path file = home.resolve(".pgpass");
        Files.writeString(file, line + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
    }

    private static void assertLetIn(Ran ran) {
        assertThat(ran.err()).startsWith("windlass: " + LET_IN).hasLineCount(1);
    }

    @Test
    void theVariablesOfPostgresNameTheDatabaseAndTheLogin() {
        assertLetIn(Ran.windlass(address("PGPASSWORD", server.password()), "status"));
        Ran wrong = Ran.windlass(address("PGPASSWORD", "wrong"), "status");
        assertThat(wrong.err()).contains("password authentication failed for user \"postgres\"");
    }

    @Test
    void theVariablesOfWindlassAreStronger() {
        assertLetIn(Ran.windlass(
                address("PGPASSWORD", "wrong", "WINDLASS_PASSWORD", server.password()),
                "status",
                "--user",
                "postgres"));
    }

    @Test
    void aFileCanHoldThePassword() throws IOException {
        Path file = Files.writeString(home.resolve("secret"), server.password() + "\n");
        Path wrong = Files.writeString(home.resolve("wrong"), "wrong");
        assertLetIn(Ran.windlass(address("WINDLASS_PASSWORD_FILE", file.toString(), "PGPASSWORD", "wrong"), "status"));
        assertLetIn(Ran.windlass(
                address("WINDLASS_PASSWORD_FILE", wrong.toString(), "WINDLASS_PASSWORD", server.password()), "status"));
        assertLetIn(Ran.windlass(
                address("WINDLASS_PASSWORD_FILE", wrong.toString(), "WINDLASS_PASSWORD", "wrong"),
                "status",
                "--password-file",
                file.toString()));
    }

    @Test
    void aFileThatHoldsNoPasswordIsRefusedWithASentence() throws IOException {
        Path empty = Files.writeString(home.resolve("empty"), "\n");
        Path lines = Files.writeString(home.resolve("lines"), "*:*:*:*:a\n*:*:*:*:b\n");
        assertThat(Ran.windlass(
                                address(
                                        "WINDLASS_PASSWORD_FILE",
                                        home.resolve("none").toString()),
                                "status")
                        .err())
                .contains("cannot read \"" + home.resolve("none") + "\" (NoSuchFileException)");
        assertThat(Ran.windlass(address(), "status", "--password-file", empty.toString())
                        .err())
                .contains("expected one line with the password");
        Ran several = Ran.windlass(address(), "status", "--password-file", lines.toString());
        assertThat(several.exitCode()).isEqualTo(2);
        assertThat(several.err()).contains("got several").contains("PGPASSFILE").doesNotContain("*:a");
    }

    @Test
    void whenEncryptionFailsItsOptionsAreNamed() {
        Ran ran = Ran.windlass(
                environment(), "status", "--user", "postgres", "--url", server.jdbcUrl() + "?sslmode=verify-full");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err()).contains("does not support SSL").contains("check sslmode and sslrootcert");
    }

    @Test
    void aUrlThatNamesNothingLeavesItToTheVariables() {
        assertLetIn(Ran.windlass(address("PGPASSWORD", server.password()), "status", "--url", "jdbc:postgresql:"));
    }

    @Test
    void thePasswordFileIsUsed() throws IOException {
        passwordFile("rw-------", "*:" + port() + ":postgres:postgres:" + server.password());
        assertLetIn(Ran.windlass(address(), "status"));
        assertLetIn(Ran.windlass(environment(), "status", "--url", server.jdbcUrl(), "--user", "postgres"));
        assertThat(Ran.windlass(environment(), "status", "--url", server.jdbcUrl(), "--user", "other")
                        .err())
                .contains(NO_PASSWORD);
    }

    @Test
    void pgPasswordIsStrongerThanThePasswordFile() throws IOException {
        passwordFile("rw-------", "*:*:*:*:wrong");
        assertLetIn(Ran.windlass(address("PGPASSWORD", server.password()), "status"));
    }

    @Test
    void aPasswordFileThatOthersCanReadIsNotUsed() throws IOException {
        passwordFile("rw-r-----", "*:*:*:*:" + server.password());
        Ran ran = Ran.windlass(address(), "status");
        assertThat(ran.err().lines())
                .satisfiesExactly(
                        why -> assertThat(why)
                                .contains(".pgpass\" can be used by others")
                                .contains("chmod 600"),
                        refused -> assertThat(refused).contains(NO_PASSWORD));
    }

    @Test
    void anotherPasswordFileCanBeNamed() throws IOException {
        passwordFile("rw-------", "*:*:*:*:" + server.password());
        Path moved = Files.move(home.resolve(".pgpass"), home.resolve("elsewhere"));
        assertLetIn(Ran.windlass(address("PGPASSFILE", moved.toString()), "status"));
    }

    @Test
    void whatAFileOfStoresDoesNotSayIsTakenFromElsewhereAndWhatItSaysIsStronger() throws IOException {
        Path file = Files.writeString(home.resolve("stores"), """
                open = %1$s
                own = %1$s
                own.password = wrong
                """.formatted(server.jdbcUrl()));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Ran ran = Ran.windlass(
                environment("PGUSER", "postgres", "PGPASSWORD", server.password()),
                "stores",
                "list",
                "--file",
                file.toString());
        assertThat(ran.out())
                .containsPattern("open .* without tables")
                .containsPattern("own .* unreachable +password authentication failed for user \"postgres\"");
    }

    @Test
    void eachDatabaseOfAServerCanHaveAPasswordOfItsOwn() throws IOException {
        passwordFile(
                "rw-------",
                "*:*:postgres:postgres:" + server.password() + "\n*:*:template1:postgres:" + server.password()
                        + "\n*:*:*:*:wrong");
        String url = server.jdbcUrl("template1");
        assertThat(Ran.windlass(
                                environment(),
                                "stores",
                                "list",
                                "--databases",
                                "postgres*",
                                "--url",
                                url,
                                "--user",
                                "postgres")
                        .out())
                .containsPattern("postgres .* without tables");
    }

    @Test
    void thatThePasswordFileIsNotUsedIsSaidOnceForAllStores() throws IOException {
        passwordFile("rw-r-----", "*:*:*:*:" + server.password());
        Path file = Files.writeString(home.resolve("stores"), "a = %1$s\nb = %1$s\n".formatted(server.jdbcUrl()));
        Ran ran = Ran.windlass(environment("PGUSER", "postgres"), "stores", "list", "--file", file.toString());
        assertThat(ran.err()).contains(".pgpass\" can be used by others").hasLineCount(1);
        assertThat(ran.out().lines().filter(line -> line.contains(NO_PASSWORD))).hasSize(2);
    }

    @Test
    void theServiceFileNamesDatabaseAndLogin() throws IOException {
        Files.writeString(home.resolve(".pg_service.conf"), """
                [mine]
                host=127.0.0.1
                port=%s
                dbname=postgres
                user=postgres
                password=%s
                """.formatted(port(), server.password()));
        assertLetIn(Ran.windlass(environment("PGSERVICE", "mine"), "status"));
        Ran unknown = Ran.windlass(environment("PGSERVICE", "other"), "status");
        assertThat(unknown.exitCode()).isEqualTo(2);
        assertThat(unknown.err()).contains("expected the service 'other' that PGSERVICE names in " + home);
    }

    @Test
    void aSocketIsRefusedWithASentence() {
        Ran ran = Ran.windlass(environment("PGHOST", "/var/run/postgresql"), "status");
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.err()).contains("expected the name of a host in PGHOST, got the Unix socket");
    }

    @Test
    void whatIsSetForOtherProgramsDoesNotSendServeToTheirDatabase() {
        Ran ran = Ran.windlass(address(), "serve", "--user", "me");
        assertThat(ran.err()).contains("expected --url beside --user and --password, got none");
    }

    @Test
    void thePasswordIsAskedForOnTheTerminalWithoutEchoAndKeptOutOfTheOutput() throws Exception {
        assumeTrue(Screen.isPossible(), "needs the program script");
        Path out = home.resolve("out");
        String command = Screen.windlass() + " migrate --dry-run --user postgres --password --url " + server.jdbcUrl()
                + " < /dev/null > " + Screen.quoted(out.toString());
        try (Screen screen = Screen.of(home, 80, environment(), command)) {
            screen.await("password for user postgres: ").type(server.password() + "\n");
            assertThat(screen.exitCode()).as(screen.text()).isZero();
            assertThat(screen.text()).doesNotContain(server.password());
        }
        assertThat(Files.readString(out)).startsWith("-- Run this").doesNotContain("password for");
    }

    @Test
    void withoutATerminalThePasswordIsNotReadFromTheInput() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")), "needs the program setsid");
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "echo " + server.password() + " | setsid -w " + Screen.windlass()
                                + " status --user postgres --password --url " + server.jdbcUrl() + " 2>&1")
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).isEqualTo(2);
        assertThat(said)
                .startsWith("windlass: expected a terminal to ask for the password on, found none; set the variable")
                .doesNotContain("password for user");
    }

    @ParameterizedTest
    @ValueSource(strings = {"serve", "migrate", "status", "outbox list", "jobs list", "bench leases"})
    void aWrongPasswordIsSaidToBeWrong(String words) {
        Ran ran = Ran.windlass(
                environment("PGPASSWORD", "wrong"),
                (words + " --user postgres --url " + server.jdbcUrl()).split(" ", -1));
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err())
                .startsWith("windlass: could not connect to jdbc:postgresql:")
                .contains("password authentication failed for user \"postgres\"", "check --user and --password")
                .doesNotContain("wrong", "pool")
                .hasLineCount(1);
    }

    @Test
    void theAnswerIsTheSameForEveryUseInOneCommand() {
        int[] asked = {0};
        Ran ran = Ran.answering(
                prompt -> {
                    asked[0]++;
                    return Optional.of(server.password());
                },
                "outbox",
                "failed",
                "--url",
                server.jdbcUrl(),
                "--user",
                "postgres",
                "--password");
        assertLetIn(ran);
        assertThat(asked[0]).isEqualTo(1);
    }
}
