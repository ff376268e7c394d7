package dev.windlass.cli;

import static dev.windlass.cli.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.work.WorkEntry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(OS.WINDOWS)
final class StoresCommandTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final DataSource DATABASE = SERVER.dataSource();
    private static final String ALL_TABLES = "inbox 1, lease 1, outbox 1, schedule 1, windlass 1, work 1";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path directory;

    @BeforeEach
    @AfterEach
    void clean() throws SQLException {
        for (String name : List.of("a", "b", "t", "n", "xc")) {
            String database = name.equals("xc") ? "storesxtestxc" : "stores_test_" + name;
            if (Sql.value(DATABASE, "select count(*) from pg_database where datname = '" + database + "'")
                    .equals("1")) {
                Sql.execute(DATABASE, "alter database " + database + " is_template false");
                Sql.execute(DATABASE, "drop database " + database + " with (force)");
            }
        }
        for (String schema : List.of("stores_a", "stores_b", "stores_c", "\"stores_$d\"")) {
            Sql.execute(DATABASE, "drop schema if exists " + schema + " cascade");
        }
        Sql.execute(DATABASE, "drop role if exists stores_nobody");
    }

    @Test
    void databasesAreFoundByNameWithoutTemplatesAndThoseThatTakeNoConnections() throws SQLException {
        Sql.execute(DATABASE, "create database stores_test_a");
        Sql.execute(DATABASE, "create database stores_test_b");
        Sql.execute(DATABASE, "create database storesxtestxc");
        Sql.execute(DATABASE, "create database stores_test_t is_template true");
        Sql.execute(DATABASE, "create database stores_test_n allow_connections false");
        Ran migrated = onServer("migrate", "--databases", "stores_test_*");
        assertThat(migrated.exitCode()).isZero();
        assertThat(migrated.out().lines().sorted())
                .satisfiesExactly(
                        first -> assertThat(first).matches("1 of 2: stores_test_[ab] is up to date \\(\\d+ ms\\)"),
                        all -> assertThat(all).isEqualTo("2 of 2 stores are up to date"),
                        second -> assertThat(second).matches("2 of 2: stores_test_[ab] is up to date \\(\\d+ ms\\)"));
        assertThat(onServer("migrate", "--databases", "stores_test_*").exitCode())
                .isZero();

        Ran list = onServer("list", "--databases", "stores*test*");
        assertThat(list.exitCode()).isZero();
        assertThat(list.out().lines().skip(1))
                .satisfiesExactlyInAnyOrder(
                        a -> assertThat(a)
                                .startsWith("stores_test_a ")
                                .contains(SERVER.jdbcUrl("stores_test_a") + "  windlass  up to date ")
                                .endsWith(ALL_TABLES),
                        b -> assertThat(b).startsWith("stores_test_b ").endsWith(ALL_TABLES),
                        c -> assertThat(c).startsWith("storesxtestxc ").contains("without tables"));
        assertThat(openConnections("stores%test%")).isEqualTo("0");
    }

    @Test
    void schemasAreFoundByNameAndThoseThatWindlassCannotUseAreLeftOut() throws SQLException {
        Sql.execute(DATABASE, "create schema stores_a; create schema stores_b; create schema \"stores_$d\"");
        Ran migrated = onServer("migrate", "--schemas", "stores_*", "--parallel", "1");
        assertThat(migrated.exitCode()).isZero();
        assertThat(migrated.out()).contains("2 of 2 stores are up to date");
        assertThat(migrated.err()).contains("a schema is left out").contains("stores_$d");
        Sql.execute(DATABASE, "create schema stores_c");
        assertThat(onServer("list", "--schemas", "stores_?").err()).contains("with a name like 'stores_?'");
        assertThat(onServer("status", "--schemas", "stores_*").out().lines())
                .anySatisfy(line -> assertThat(line).matches("stores_a +0 +0 +0 +0 +- +0 +-"))
                .anySatisfy(line -> assertThat(line).matches("stores_c +- +- +- +- +- +- +without tables"))
                .anySatisfy(line -> assertThat(line)
                        .isEqualTo("3 stores, 1 with a problem, 1 without tables; in all 0 ready, 0 in progress,"
                                + " 0 failed, 0 overdue timers"));
    }

    @Test
    void namesAreNoCommandsForATerminal() throws SQLException {
        String name = "\"stores_test_\u001b[31m\nb\"";
        Sql.execute(DATABASE, "create database " + name);
        try {
            assertThat(onServer("migrate", "--databases", "stores_test_*").out())
                    .contains("1 of 1: stores_test_ [31m b is up to date")
                    .doesNotContain("\u001b");
        } finally {
            Sql.execute(DATABASE, "drop database " + name + " with (force)");
        }
    }

    @Test
    void whatMatchesNothingIsOneSentence() {
        for (String option : List.of("--databases", "--schemas")) {
            Ran ran = onServer("migrate", option, "no_such_*");
            assertThat(ran.exitCode()).isEqualTo(1);
            assertThat(ran.err())
                    .contains("with a name like 'no_such_*'", "found none")
                    .hasLineCount(1);
        }
    }

    @Test
    void whatEachStoreHasAndLacksIsListed() throws Exception {
        Sql.execute(DATABASE, "create schema stores_a; create schema stores_b; create role stores_nobody login");
        Path file = file(
                "# comments and blank lines are left out",
                "",
                "ready = " + SERVER.jdbcUrl(),
                "ready.schema = stores_a",
                "old=" + SERVER.jdbcUrl(),
                "old.schema = stores_b",
                "closed = " + SERVER.jdbcUrl(),
                "closed.schema = stores_a",
                "closed.user = stores_nobody",
                "down = jdbc:postgresql://127.0.0.1:" + closedPort() + "/db");
        assertThat(onServer("migrate", "--schemas", "stores_*").exitCode()).isZero();
        Sql.execute(DATABASE, "delete from stores_b.windlass_version where component in ('lease', 'work')");
        Ran list = ofFile("list", file);
        assertThat(list.exitCode()).isZero();
        assertThat(list.out().lines().skip(1))
                .satisfiesExactly(
                        ready -> assertThat(ready).matches("ready +jdbc:\\S+ +stores_a +up to date +" + ALL_TABLES),
                        old -> assertThat(old)
                                .matches(
                                        "old .* stores_b +to migrate +to migrate: lease, work; has inbox 1, outbox 1, schedule 1.*"),
                        closed -> assertThat(closed)
                                .matches("closed .* unreadable +permission denied for schema stores_a.*"),
                        down -> assertThat(down)
                                .matches("down .* unreachable +Connection to 127.0.0.1:\\d+ refused.*"));

        Sql.execute(DATABASE, "update stores_b.windlass_version set version = 99, min_compatible = 98");
        JsonNode json = Json.read(
                ofFile("list", file, "--json").out().lines().skip(1).findFirst().orElseThrow());
        assertThat(json.at("/state").asText()).isEqualTo("TOO_NEW");
        assertThat(json.at("/reachable").asBoolean()).isTrue();
        assertThat(json.at("/components/0/version").asInt()).isEqualTo(99);
        assertThat(json.at("/pending").toString()).isEqualTo("[\"lease\",\"work\"]");
    }

    @Test
    void oneThatFailsKeepsNoOtherFromMigrating() throws Exception {
        Path file = file(
                "down = jdbc:postgresql://127.0.0.1:" + closedPort() + "/db",
                "one = " + SERVER.jdbcUrl(),
                "one.schema = stores_a",
                "two = " + SERVER.jdbcUrl(),
                "two.schema = stores_b");
        Ran ran = ofFile("migrate", file, "--table", "post");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.out())
                .containsPattern("\\d of 3: down failed: could not connect to jdbc:\\S+ as user postgres: ");
        assertThat(ran.out().lines().skip(3))
                .satisfiesExactly(
                        all -> assertThat(all).isEqualTo("2 of 3 stores are up to date, these are not:"),
                        down -> assertThat(down)
                                .startsWith("  down: could not connect")
                                .contains("check the address"));
        assertThat(ran.err())
                .startsWith("windlass: could not migrate 1 of 3 stores")
                .hasLineCount(1);
        assertThat(Sql.value(DATABASE, "select to_regclass('stores_a.post')")).isNotEqualTo("null");
        assertThat(Sql.value(DATABASE, "select to_regclass('stores_b.post')")).isNotEqualTo("null");
    }

    @Test
    void aStoreThatAcceptsAndNeverAnswersDelaysNobody() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            List<String> lines = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                lines.add("silent" + i + " = jdbc:postgresql://127.0.0.1:" + silent.getLocalPort() + "/db");
            }
            lines.add("well = " + SERVER.jdbcUrl());
            lines.add("well.schema = stores_a");
            Ran ran = ofFile("list", file(lines.toArray(String[]::new)), "--timeout", "2s", "--parallel", "2");
            assertThat(ran.exitCode()).isZero();
            assertThat(ran.out().lines().filter(line -> line.startsWith("silent")))
                    .hasSize(4)
                    .allSatisfy(line -> assertThat(line).containsPattern("unreachable +.*(timed out|no answer)"));
            assertThat(ran.out()).containsPattern("well .* without tables");
        }
    }

    @Test
    void aStoreThatStopsAnsweringIsToldAsSuch() throws Exception {
        Path file = file("stuck = " + SERVER.jdbcUrl(), "stuck.schema = stores_a");
        assertThat(ofFile("migrate", file).exitCode()).isZero();
        try (Connection other = DATABASE.getConnection();
                Statement lock = other.createStatement()) {
            other.setAutoCommit(false);
            lock.execute("lock table stores_a.windlass_version in access exclusive mode");
            Ran ran = ofFile("status", file, "--timeout", "1s");
            assertThat(ran.exitCode()).isEqualTo(1);
            assertThat(ran.out()).contains("unreachable: no answer within 1 s");
            assertThat(ran.err()).startsWith("windlass: could not read the status of 1 of 1 store; ");
            other.rollback();
        }
        eventually()
                .untilAsserted(() -> assertThat(Sql.value(
                                DATABASE,
                                "select count(*) from pg_stat_activity where query like '%stores_a%windlass_version%'"
                                        + " and pid <> pg_backend_pid() and application_name = 'windlass'"))
                        .isEqualTo("0"));
    }

    @Test
    void statusSumsAllFeaturesAndShowsTheWorstFirst() throws Exception {
        Path file = file(
                "calm = " + SERVER.jdbcUrl(),
                "calm.schema = stores_a",
                "bad = " + SERVER.jdbcUrl(),
                "bad.schema = stores_b",
                "late = " + SERVER.jdbcUrl(),
                "late.schema = stores_c");
        assertThat(ofFile("migrate", file).exitCode()).isZero();
        work("stores_b");
        try (Windlass windlass = passive("stores_a")) {
            windlass.outbox().enqueue(OutboxEntry.of("a.topic", ""));
            windlass.outbox().operator("me").pause("held", "");
        }
        Sql.execute(DATABASE, """
                insert into stores_a.outbox (id, created_at, next_attempt_at, topic, payload)
                values (gen_random_uuid(), now(), now() - interval '3 hours', 'held', '');
                insert into stores_c.outbox (id, created_at, next_attempt_at, topic, payload)
                values (gen_random_uuid(), now(), now() - interval '2 hours', 'a.topic', '');
                insert into stores_c.outbox_timer (id, created_at, due_at, next_attempt_at, topic, payload)
                values (gen_random_uuid(), now(), now(), now() - interval '1 hour', 'a.topic', '')""");

        Ran all = ofFile("status", file);
        assertThat(all.exitCode()).isZero();
        assertThat(all.out().lines())
                .satisfiesExactly(
                        head -> assertThat(head)
                                .matches("STORE +READY +DUE +IN PROGRESS +FAILED +OLDEST DUE +OVERDUE TIMERS +PROBLEM"),
                        bad -> assertThat(bad).matches("bad +2 +2 +1 +1 +(\\d+ s|-) +0 +1 failed"),
                        late -> assertThat(late).matches("late +1 +1 +0 +0 +2 h.* +1 +1 overdue timers, late by 2 h.*"),
                        calm -> assertThat(calm).matches("calm +2 +2 +0 +0 +3 h.* +0 +-"),
                        total -> assertThat(total)
                                .isEqualTo("3 stores, 2 with a problem; in all 5 ready, 1 in progress, 1 failed,"
                                        + " 1 overdue timers"));

        assertThat(ofFile("status", file, "--problems", "--late", "1d").out().lines())
                .hasSize(4)
                .noneMatch(line -> line.startsWith("calm"))
                .noneMatch(line -> line.contains("late by"));
        List<String> json =
                ofFile("status", file, "--json", "--problems").out().lines().toList();
        assertThat(json).hasSize(2);
        JsonNode first = Json.read(json.get(0));
        assertThat(first.at("/id").asText()).isEqualTo("bad");
        assertThat(first.at("/status/topics/0/failed").asInt()).isEqualTo(1);
    }

    @Test
    void aLateInboxIsAProblemUnlessItIsPaused() throws Exception {
        Path file = file("late = " + SERVER.jdbcUrl(), "late.schema = stores_a");
        assertThat(ofFile("migrate", file).exitCode()).isZero();
        try (Windlass windlass = passive("stores_a")) {
            windlass.inbox().enqueue(InboxEntry.of("orders", "1", "a.topic", ""));
            Sql.execute(DATABASE, "update stores_a.inbox set next_attempt_at = now() - interval '2 hours'");
            assertThat(ofFile("status", file).out().lines())
                    .anySatisfy(line -> assertThat(line).matches("late +1 +1 +0 +0 +2 h.* +0 +late by 2 h.*"));

            windlass.inbox().operator("me").pause("a.topic", "");
            assertThat(ofFile("status", file).out().lines())
                    .anySatisfy(line -> assertThat(line).matches("late +1 +1 +0 +0 +2 h.* +0 +-"));
        }
    }

    /** Messages that failed, are done and are ready, one in the inbox that is ready, and an item in progress. */
    private static void work(String schema) {
        try (Windlass windlass = passive(schema)) {
            Outbox outbox = windlass.outbox();
            for (int i = 0; i < 3; i++) {
                outbox.enqueue(OutboxEntry.of("a.topic", ""));
            }
            OwnerToken owner = OwnerToken.fresh();
            outbox.fail(
                    owner,
                    List.of(outbox.claim(owner, Duration.ofMinutes(1), 1).get(0).id()),
                    "for a reason");
            windlass.inbox().enqueue(InboxEntry.of("orders", "1", "a.topic", ""));
            windlass.workQueue().enqueue(WorkEntry.of("reports", "monthly", ""));
            windlass.workQueue().claim(owner, Duration.ofMinutes(1), 1);
            outbox.ack(
                    owner,
                    List.of(outbox.claim(owner, Duration.ofMinutes(1), 1).get(0).id()));
        }
    }

    private static Windlass passive(String schema) {
        return Windlass.on(DATABASE)
                .options(WindlassOptions.defaults().withSchemaName(schema).withBackgroundWorkers(false))
                .start();
    }

    @Test
    void passwordsAreNeverPrinted() throws Exception {
        int port = closedPort();
        Path file = file(
                "one = jdbc:postgresql://127.0.0.1:" + port + "/db?password=hidden&user=me",
                "two = jdbc:postgresql://127.0.0.1:" + port + "/db",
                "two.password = hidden");
        for (String command : List.of("list", "status", "migrate")) {
            Ran ran = ofFile(command, file, "--verbose");
            assertThat(ran.out() + ran.err()).contains("refused").doesNotContain("hidden");
        }
        for (String command : List.of("list", "status")) {
            assertThat(ofFile(command, file, "--json").out())
                    .contains("refused")
                    .doesNotContain("hidden");
        }
    }

    @Test
    void aFileOfPasswordsThatOthersCanReadIsUsedWithAWarning() throws Exception {
        Path file = file("one = " + SERVER.jdbcUrl(), "one.schema = stores_a", "one.password = hidden");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        Ran ran = ofFile("list", file);
        assertThat(ran.err()).contains("holds passwords", "chmod 600").hasLineCount(1);
        assertThat(ran.out()).contains("without tables");
    }

    private Path file(String... lines) throws IOException {
        Path file = Files.write(directory.resolve("stores.properties"), Arrays.asList(lines));
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private static Ran ofFile(String command, Path file, String... more) {
        return run(command, List.of("--user", "postgres", "--file", file.toString()), more);
    }

    private static Ran onServer(String command, String... more) {
        return run(command, List.of("--url", SERVER.jdbcUrl(), "--user", "postgres"), more);
    }

    private static Ran run(String command, List<String> options, String... more) {
        List<String> words = new ArrayList<>(List.of("stores", command));
        words.addAll(options);
        words.addAll(List.of(more));
        return Ran.windlass(Map.of(), words.toArray(String[]::new));
    }

    private static String openConnections(String databases) throws SQLException {
        return Sql.value(
                DATABASE,
                "select count(*) from pg_stat_activity where application_name = 'windlass' and" + " datname like '"
                        + databases + "'");
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
