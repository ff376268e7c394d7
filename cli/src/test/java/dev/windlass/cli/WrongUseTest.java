package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class WrongUseTest {

    @Test
    void noCommandIsRefused() {
        assertRefused(Ran.windlass(), "expected a command, got none");
    }

    @Test
    void unknownCommandIsRefusedAndTheMeantOneIsSuggested() {
        Ran ran = Ran.windlass("serv");
        assertRefused(ran, "'serv'");
        assertThat(ran.err()).contains("Did you mean: windlass serve?");
    }

    @Test
    void unknownOptionIsRefused() {
        assertRefused(Ran.windlass("status", "--colour"), "--colour");
    }

    @ParameterizedTest
    @ValueSource(strings = {"migrate", "status"})
    void missingUrlIsRefused(String command) {
        assertRefused(
                Ran.windlass(command), "expected a database, got none; give --url or set the variable WINDLASS_URL");
    }

    @Test
    void emptyVariableCountsAsNone() {
        assertRefused(Ran.windlass(Map.of("WINDLASS_URL", ""), "status"), "expected a database");
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgres://me:secret@host/db", "jdbc:mysql://host/db?password=secret", "secret=secret"})
    void urlOfAnotherKindIsRefusedWithoutItsPassword(String url) {
        Ran ran = Ran.windlass("status", "--url", url);
        assertRefused(ran, "expected a URL such as jdbc:postgresql://host:5432/database");
        assertThat(ran.err()).doesNotContain(":secret").doesNotContain("=secret");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a$b", "a-name-of-more-than-forty-bytes-is-too-long"})
    void badSchemaAndTableNamesAreRefused(String name) {
        for (String option : new String[] {"--schema", "--table"}) {
            assertRefused(
                    Ran.windlass("migrate", "--full", option, name),
                    "Invalid value for option '" + option + "': expected a ");
        }
    }

    @Test
    void badRoleIsRefused() {
        assertRefused(Ran.windlass("migrate", "--full", "--grant-to", "a$b"), "'--grant-to': expected a role");
    }

    @Test
    void serveRefusesAUrlBesideADatabaseOfItsOwn() {
        assertRefused(Ran.windlass("serve", "--url", "jdbc:postgresql://host/db", "--port", "5432"), "got both");
    }

    @Test
    void serveRefusesALoginWithoutAUrl() {
        assertRefused(Ran.windlass("serve", "--user", "me"), "expected --url beside --user and --password");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "65536", "five"})
    void serveRefusesAnImpossiblePort(String port) {
        assertRefused(Ran.windlass("serve", "--port", port), port);
    }

    @Test
    void versionIsTheOneOfTheBuild() {
        assertThat(Ran.windlass("--version").out()).matches("windlass \\d+\\.\\d+.*\\R");
    }

    @Test
    void everyCommandAndOptionHasALineOfHelp() {
        Main.commandLine(Map.of()).getSubcommands().forEach((name, command) -> {
            assertThat(Ran.windlass(name, "--help").out()).startsWith("Usage: windlass " + name);
            assertThat(command.getCommandSpec().usageMessage().description()).hasSize(1);
            assertThat(command.getCommandSpec().options())
                    .allSatisfy(option -> assertThat(option.description()).hasSize(1));
        });
    }

    private static void assertRefused(Ran ran, String why) {
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.out()).isEmpty();
        assertThat(ran.err()).startsWith("windlass: ").contains(why).contains("--help'.");
    }
}
