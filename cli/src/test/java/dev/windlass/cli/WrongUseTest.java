package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class WrongUseTest {

    @Test
    void noCommandIsRefused() {
        assertRefused(Ran.windlass(), "expected a command, got none");
    }

    @Test
    void unknownCommandIsRefusedAndTheMeantOneIsSuggested() {
        Ran ran = Ran.windlass("serv");
        assertRefused(ran, "'serv'");
        assertThat(ran.err())
                .contains(
                        "expected a command of 'windlass', got 'serv'; there are: serve, migrate,",
                        "; did you mean 'serve'?");
    }

    @Test
    void unknownOptionIsRefused() {
        assertRefused(Ran.windlass("status", "--colour"), "expected an option of 'windlass status', got '--colour'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"migrate", "status"})
    void missingUrlIsRefused(String command) {
        assertRefused(
                Ran.windlass(command),
                "expected a database, got none; give --url, or set the variable WINDLASS_URL, or PGHOST and PGDATABASE");
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
    @ValueSource(strings = {"-1", "65536", "70000", "five", "123456789012"})
    void serveRefusesAnImpossiblePortBeforeItStartsAnything(String port) {
        for (String option : new String[] {"--port", "--http-port"}) {
            assertRefused(
                    Ran.windlass("serve", option, port),
                    "'" + option + "': expected a port from 0 to 65535, got '" + port + "'");
        }
    }

    @Test
    void versionIsTheOneOfTheBuild() {
        assertThat(Ran.windlass("--version").out()).matches("windlass \\d+\\.\\d+.*\\R");
    }

    @Test
    void everyCommandAndOptionHasALineOfHelp() {
        assertHelp(Main.commandLine(Map.of()), "windlass");
    }

    @Test
    void helpIsTheSameInWords() {
        assertThat(Ran.windlass("help").out()).isEqualTo(Ran.windlass("--help").out());
        assertThat(Ran.windlass("help", "outbox", "failed").out())
                .isEqualTo(Ran.windlass("outbox", "failed", "--help").out())
                .startsWith("Usage: windlass outbox failed");
    }

    @ParameterizedTest
    @CsvSource({"outbox,[ID...]", "inbox,[SOURCE ID...]", "queue,[ID...]", "timers,[ID...]", "runs,[ID...]"})
    void everyQueueHasTheSameCommandsAndSaysHowOneIsNamedThere(String queue, String names) {
        assertThat(commands(queue)).containsAll(commands("outbox", "skip"));
        for (String verb : new String[] {"requeue", "purge", "cancel", "reschedule", "erase"}) {
            assertThat(Ran.windlass(queue, verb, "--help").out()).contains("  " + names + "  ");
        }
    }

    private static Set<String> commands(String queue, String... without) {
        Set<String> commands = new TreeSet<>(Objects.requireNonNull(
                        Main.commandLine(Map.of()).getSubcommands().get(queue))
                .getSubcommands()
                .keySet());
        commands.removeAll(List.of(without));
        return commands;
    }

    @ParameterizedTest
    @CsvSource({
        "outbox failed,inbox",
        "jobs list,lease",
        "inbox list,lease",
        "leases list,inbox",
        "status,lease",
        "outbox list,work",
        "queue list,inbox"
    })
    void optionsThatMeanNothingToACommandAreNotListedUnderIt(String words, String table) {
        assertThat(Ran.windlass((words + " --help").split(" ", -1)).out()).doesNotContain("--" + table + "-table");
        assertThat(Ran.windlass("serve", "--help").out()).contains("--" + table + "-table");
    }

    private static void assertHelp(CommandLine above, String words) {
        above.getSubcommands().forEach((name, command) -> {
            String path = words + " " + name;
            assertThat(Ran.windlass((path + " --help")
                                    .replaceFirst("^windlass ", "")
                                    .split(" ", -1))
                            .out())
                    .startsWith("Usage: " + path)
                    .doesNotContain("${", "bundle");
            assertThat(command.getCommandSpec().usageMessage().description()).isNotEmpty();
            assertThat(command.getCommandSpec().args())
                    .allSatisfy(argument -> assertThat(argument.description()).hasSize(1));
            assertHelp(command, path);
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            outbox                                     | expected a command after 'windlass outbox', got none; there are: list, failed, requeue
            outbox lst                                 | expected a command of 'windlass outbox', got 'lst'; there are: list, failed
            outbox failed                              | expected a database, got none
            outbox failed --from yesterday             | '--from': expected a time such as
            outbox failed --from 2026-08-01            | got '2026-08-01'
            outbox failed --until 2w                   | '--until': expected a time such as
            outbox failed --limit 0                    | expected a number from 1 to 10,000, got '0'
            outbox failed --limit many                 | got 'many'
            outbox failed --limit 10001                | got '10001'
            outbox failed --after 1-1-1-1-1            | '--after': expected a position that a list printed
            outbox failed --after soon/ID              | '--after': expected a position that a list printed
            outbox failed --topic=                     | '--topic': expected a topic, got blank text
            outbox failed --error=                     | '--error': expected an error text, got blank text
            outbox show                                | Missing required parameter: 'ID'
            outbox show 1-1-1-1-1                      | expected the id of a message
            outbox requeue                             | or --all, got none of them
            outbox requeue --all --topic a             | or --all, got more than one of them
            outbox requeue ID --topic a                | got more than one of them
            outbox requeue ID --as=                    | '--as': expected a name, got blank text
            outbox requeue x                           | expected the id of a message
            outbox purge                               | got none of them
            outbox purge --all                         | expected --yes, since this cannot be undone
            outbox skip                                | got none of them
            outbox skip --all --keep-attempts          | --keep-attempts
            outbox cancel                              | expected ID..., got nothing
            outbox cancel x                            | expected the id of a message
            outbox cancel ID x                         | expected the id of a message such as
            outbox erase ID x --yes                    | got 'x'
            outbox reschedule ID                       | expected --at or --in, got none of them
            outbox reschedule ID --at soon             | '--at': expected a time such as
            outbox reschedule ID --in soon             | '--in': expected a distance in time such as
            outbox reschedule ID --in -2h              | '--in': expected a distance in time such as
            outbox reschedule ID --in 2h --at 2026-08-01T10:00:00Z | expected --at or --in, got both
            outbox erase                               | expected ID..., got nothing
            outbox erase ID                            | expected --yes, since this cannot be undone
            outbox pause                               | Missing required parameter: 'TOPIC'
            outbox resume                              | Missing required parameter: 'TOPIC'
            outbox actions --after x                   | expected a position that a list printed
            timers                                     | got none; there are: list, failed, requeue, purge, cancel, reschedule
            leases                                     | expected a command after 'windlass leases', got none; there is: list
            leases list --table a                      | --table
            outbox failed --inbox-table a              | --inbox-table
            inbox list --table a                       | --table
            help nothing                               | expected a command of 'windlass', got 'nothing'
            help outbox nothing                        | got 'nothing'; there are: list, failed
            help status more                           | expected nothing after 'windlass status', got 'more'
            timers list                                | expected a database, got none
            outbox list --state new                    | '--state': expected one of ready, in-progress, done, failed, waiting, cancelled, got 'new'
            outbox list --after ID                     | '--after': expected a position that a list printed
            inbox list --state dead                    | expected one of ready, in-progress, done, failed, waiting, cancelled, got 'dead'
            inbox list --after soon                    | '--after': expected a position that a list printed
            serve --grace soon                         | '--grace': expected a distance in time
            serve --grace 99999d                       | '--grace': expected a shutdown grace of at most 100 years
            serve --polling 0s                         | '--polling': expected a positive maximum polling interval
            serve --polling often                      | '--polling': expected a distance in time
            serve --connections 2                      | '--connections': expected a number from 3 to 1,000, got '2'
            serve --connections many                   | '--connections': expected a number from 3 to 1,000, got 'many'
            serve --node=                              | '--node': expected a node name
            serve --retention soon                     | '--retention': expected a distance in time
            serve --retention 99999d                   | '--retention': expected a retention of at most 100 years
            serve --work-retention -1d                 | '--work-retention': expected a distance in time
            serve --run-retention 3                    | '--run-retention': expected a distance in time
            serve --inbox-retention 0s                 | '--inbox-retention': expected a positive retention
            status --watch=soon                        | '--watch': expected a distance in time
            timers list a                              | expected nothing after 'windlass timers list', got 'a'
            timers list --limit 0                      | expected a number from 1 to 10,000, got '0'
            timers list --after 1-1-1-1-1              | '--after': expected a position that a list printed
            timers list --after soon/ID                | '--after': expected a position that a list printed
            timers show                                | expected an id, or --topic and --key, got none of them
            timers show x                              | expected the id of a timer
            timers show --topic a                      | expected --topic and --key together, got only --topic
            timers show --key k                        | expected --topic and --key together, got only --key
            timers show ID --topic a --key k           | expected an id, or --topic and --key, got both
            timers show --topic= --key k               | '--topic': expected a topic, got blank text
            timers show --topic a --key=               | '--key': expected a timer key, got blank text
            timers cancel                              | expected an id, or --topic and --key, got none of them
            timers cancel ID x                         | expected the id of a timer such as
            timers cancel ID --topic a --key k         | expected an id, or --topic and --key, got both
            timers reschedule ID                       | expected --at or --in, got none of them
            timers reschedule --in 2h                  | expected an id, or --topic and --key, got none of them
            timers reschedule ID --in soon             | '--in': expected a distance in time such as
            timers reschedule ID --in 2h --at 2026-08-01T10:00:00Z | expected --at or --in, got both
            outbox paused x                            | expected nothing after 'windlass outbox paused', got 'x'
            migrate --full --url x                     | expected --full without --url, --user and --password, got one of them
            migrate --full --user x                    | expected --full without --url
            timers list --source a                     | expected an option of 'windlass timers list', got '--source'
            outbox cancel ID --topic a --key b         | expected an option of 'windlass outbox cancel', got '--topic'
            runs                                       | got none; there are: list, failed, requeue, purge, cancel, reschedule
            runs show                                  | Missing required parameter: 'ID'
            runs show x                                | expected the id of a run
            runs cancel                                | expected ID..., got nothing
            runs requeue x                             | expected the id of a run
            inbox requeue                              | expected SOURCE ID..., or a filter such as --topic or --error, or --all, got none of them
            inbox cancel                               | expected SOURCE ID..., got nothing
            inbox cancel a                             | expected a source and at least one id, got only 'a'
            inbox erase a b                            | expected --yes, since this cannot be undone
            inbox reschedule a b                       | expected --at or --in, got none of them
            jobs                                       | got none; there are: list, show, runs, trigger
            jobs list                                  | expected a database, got none
            jobs show                                  | Missing required parameter: 'NAME'
            jobs show a b                              | 'b'
            jobs runs                                  | Missing required parameter: 'NAME'
            jobs runs a --limit 0                      | expected a number from 1 to 10,000, got '0'
            jobs runs a --after x                      | '--after': expected a position that a list printed
            jobs runs a --after soon/ID                | '--after': expected a position that a list printed
            jobs trigger                               | Missing required parameter: 'NAME'
            jobs pause                                 | Missing required parameter: 'NAME'
            jobs resume                                | Missing required parameter: 'NAME'
            jobs delete                                | Missing required parameter: 'NAME'
            jobs delete a                              | expected --yes, since this cannot be undone
            stores                                     | expected a command after 'windlass stores', got none; there are: list, status, migrate
            stores list                                | expected one of --file, --databases and --schemas, got none of them
            stores status                              | expected one of --file, --databases and --schemas, got none of them
            stores migrate                             | expected one of --file, --databases and --schemas, got none of them
            stores list --file a --schemas b           | got more than one of them
            stores migrate --databases a --schemas b   | got more than one of them
            stores list --databases a                  | expected a database, got none
            stores list --databases=                   | '--databases': expected a pattern such as tenant_*, got blank text
            stores list --file a --url jdbc:postgresql: | expected --file without --url, got both
            stores list --schemas a --schema b         | expected --schemas without --schema, got both
            stores list --file a --parallel 0          | '--parallel': expected a number from 1 to 1,000, got '0'
            stores list --file a --timeout 0s          | '--timeout': expected a time from 1s to 1h, got '0s'
            stores status --file a --timeout 2d        | '--timeout': expected a time from 1s to 1h, got '2d'
            stores status --file a --late soon         | '--late': expected a distance in time such as
            stores migrate --file a --timeout 1s       | expected an option of 'windlass stores migrate', got '--timeout'
            """)
    void commandsRefuseWhatTheyCannotRead(String words, String why) {
        assertRefused(
                Ran.windlass(words.replace(" ID", " 0197c3a2-8f10-7abc-9def-0123456789ab")
                        .split(" ", -1)),
                why);
    }

    @ParameterizedTest
    @ValueSource(strings = {"show", "runs", "trigger", "pause", "resume", "delete"})
    void impossibleNamesOfJobsAreRefused(String command) {
        assertRefused(Ran.windlass("jobs", command, " "), "expected a job name, got blank text");
        assertRefused(Ran.windlass("jobs", command, "x".repeat(256)), "255");
    }

    private static void assertRefused(Ran ran, String why) {
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.out()).isEmpty();
        assertThat(ran.err()).startsWith("windlass: ").contains(why).contains("--help'.");
    }
}
