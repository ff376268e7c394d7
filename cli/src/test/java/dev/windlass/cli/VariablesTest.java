package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Options that are given by environment variables. */
final class VariablesTest {

    private static List<OptionSpec> options(CommandLine command) {
        List<OptionSpec> options = new ArrayList<>(command.getCommandSpec().options());
        command.getSubcommands().values().forEach(below -> options.addAll(options(below)));
        return options;
    }

    private static Object parsed(Map<String, String> environment, String option, String... words) {
        CommandLine.ParseResult parsed = Main.commandLine(environment).parseArgs(words);
        while (parsed.hasSubcommand()) {
            parsed = parsed.subcommand();
        }
        return parsed.commandSpec().findOption(option).getValue();
    }

    @Test
    void everyOptionHasAVariableOrIsOneOfThoseThatDoNot() {
        Set<String> without = options(Main.commandLine(Map.of())).stream()
                .filter(option -> Variables.nameFor(option).isEmpty())
                .map(OptionSpec::longestName)
                .collect(Collectors.toSet());
        assertThat(without).isEqualTo(Variables.WITHOUT);
    }

    @Test
    void thePageNamesTheOptionsWithoutOne() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "cli.md"));
        String table = page.substring(page.indexOf("<!-- options without a variable -->"));
        Set<String> named = Pattern.compile("`(--[a-z-]+)`")
                .matcher(table.substring(0, table.indexOf("\n\n")))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(named).isEqualTo(new TreeSet<>(Variables.WITHOUT));
    }

    @ParameterizedTest
    @CsvSource({
        "serve --url x,  --schema,         WINDLASS_SCHEMA,         shop",
        "serve --url x,  --grace,          WINDLASS_GRACE,          PT1M30S",
        "serve --url x,  --retention,      WINDLASS_RETENTION,      PT1M30S",
        "serve --url x,  --work-retention, WINDLASS_WORK_RETENTION, PT1M30S",
        "serve --url x,  --run-retention,  WINDLASS_RUN_RETENTION,  PT1M30S",
        "serve --url x,  --inbox-retention, WINDLASS_INBOX_RETENTION, PT1M30S",
        "serve --url x,  --node,           WINDLASS_NODE,           shop-7",
        "serve --url x,  --polling,        WINDLASS_POLLING,        PT1M30S",
        "serve --url x,  --connections,    WINDLASS_CONNECTIONS,    20",
        "serve --url x,  --demo,           WINDLASS_DEMO,           true",
        "serve --url x,  --no-hand-off,    WINDLASS_NO_HAND_OFF,    true",
        "serve,          --port,           WINDLASS_PORT,           5433",
        "migrate,        --grant-to,       WINDLASS_GRANT_TO,       app",
        "status,         --watch,          WINDLASS_WATCH,          PT1M30S",
        "outbox list,    --limit,          WINDLASS_LIMIT,          7",
        "outbox list,    --json,           WINDLASS_JSON,           true",
        "queue list,     --work-table,     WINDLASS_WORK_TABLE,     jobs",
        "stores migrate, --parallel,       WINDLASS_PARALLEL,       3",
        "bench stores,   --first-messages, WINDLASS_FIRST_MESSAGES, 9"
    })
    void aVariableStandsForItsOption(String words, String option, String variable, String value) {
        Map<String, String> environment = Map.of(variable, value.equals("PT1M30S") ? "90s" : value);
        assertThat(parsed(environment, option, words.split(" ", -1))).hasToString(value);
    }

    @Test
    void anOptionIsStrongerThanItsVariable() {
        Ran ran = Ran.windlass(Map.of("WINDLASS_SCHEMA", "shop"), "migrate", "--full", "--schema", "store");
        assertThat(ran.out()).contains("\"store\".").doesNotContain("\"shop\".");
        assertThat(Ran.windlass(Map.of("WINDLASS_SCHEMA", "shop"), "migrate", "--full")
                        .out())
                .contains("\"shop\".");
    }

    @Test
    void aFlagThatIsSetByItsVariableIsNotTakenBackBySayingIt() {
        assertThat(parsed(Map.of("WINDLASS_DEMO", "true"), "--demo", "serve", "--demo"))
                .isEqualTo(true);
        assertThat(parsed(Map.of("WINDLASS_DEMO", "false"), "--demo", "serve", "--demo"))
                .isEqualTo(true);
        assertThat(parsed(Map.of("WINDLASS_DEMO", "false"), "--demo", "serve")).isEqualTo(false);
        assertThat(parsed(Map.of(), "--demo", "serve", "--demo")).isEqualTo(true);
        assertThat(parsed(Map.of(), "--demo", "serve")).isEqualTo(false);
    }

    @Test
    void verboseHasAVariableToo() {
        Map<String, String> environment =
                Map.of("WINDLASS_VERBOSE", "true", "WINDLASS_URL", "jdbc:postgresql://127.0.0.1:1/x");
        assertThat(Ran.windlass(environment, "status").err()).contains("at dev.windlass.cli.");
        assertThat(Ran.windlass(environment, "status", "--verbose").err()).contains("at dev.windlass.cli.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "tcp://10.0.0.7:8080", "udp://10.0.0.7:53"})
    void anEmptyVariableAndOneOfKubernetesCountAsNone(String value) {
        assertThat(Main.commandLine(Map.of("WINDLASS_PORT", value))
                        .parseArgs("serve")
                        .subcommand()
                        .matchedOptionValue("--port", 0))
                .isZero();
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '`', textBlock = """
            WINDLASS_GRACE,  soon,  '--grace': expected a distance in time such as
            WINDLASS_DEMO,   maybe, 'maybe' is not a boolean
            WINDLASS_SCHEMA, ` `,   '--schema':
            """)
    void aValueThatCannotBeReadIsRefusedByTheNameOfItsVariable(String variable, String value, String why) {
        Ran ran = Ran.windlass(Map.of(variable, value), "serve", "--url", "jdbc:postgresql://127.0.0.1:1/x");
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.err()).contains(why).contains("(from the variable " + variable + ")");
        assertThat(Ran.windlass(Map.of("WINDLASS_GRACE", "5s"), "serve", "--grace", "soon")
                        .err())
                .contains("'--grace'")
                .doesNotContain("variable");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"outbox purge", "outbox requeue", "outbox skip", "inbox purge", "timers purge", "runs requeue"})
    void noVariableChoosesWhatIsChanged(String words) {
        Map<String, String> left = new HashMap<>(Map.of("WINDLASS_URL", "jdbc:postgresql://127.0.0.1:1/x"));
        Variables.WITHOUT.forEach(option ->
                left.put("WINDLASS_" + option.substring(2).replace('-', '_').toUpperCase(Locale.ROOT), "true"));
        Ran ran = Ran.windlass(left, words.split(" ", -1));
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.err()).containsAnyOf("or --all, got none of them", "expected --yes");
    }

    @Test
    void noVariableKeepsAMigrationFromBeingDone() {
        Map<String, String> left = Map.of(
                "WINDLASS_DRY_RUN", "true", "WINDLASS_FULL", "true", "WINDLASS_URL", "jdbc:postgresql://127.0.0.1:1/x");
        Ran ran = Ran.windlass(left, "migrate");
        assertThat(ran.out()).isEmpty();
        assertThat(ran.err()).contains("could not connect");
    }

    @Test
    void aServerOfItsOwnAndAnotherDatabaseExcludeEachOther() {
        Map<String, String> both =
                Map.of("WINDLASS_URL", "jdbc:postgresql://127.0.0.1:1/x", "WINDLASS_DATA", "/nowhere");
        assertThat(Ran.windlass(both, "serve").err())
                .contains("expected the variable WINDLASS_URL, or WINDLASS_DATA and WINDLASS_PORT");
        assertThat(Ran.windlass(both, "serve", "--url", "jdbc:postgresql://127.0.0.1:1/y")
                        .err())
                .contains("could not connect to jdbc:postgresql://127.0.0.1:1/y");
    }
}
