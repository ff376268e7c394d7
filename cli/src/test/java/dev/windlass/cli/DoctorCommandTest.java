package dev.windlass.cli;

import static dev.windlass.cli.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.schema.Migrator;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.StreamSupport;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The doctor with a database that is well, and with one that is broken in each of the ways it knows. */
final class DoctorCommandTest {
    private static final int MAX_CONNECTIONS = 30;
    private static EmbeddedPostgres server;
    private static DataSource database;

    @BeforeAll
    static void start() throws SQLException {
        server = EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults()
                .withFsync(true)
                .withSetting("max_prepared_transactions", "5")
                .withSetting("max_connections", Integer.toString(MAX_CONNECTIONS)));
        database = server.dataSource();
        Sql.execute(database, "create role doctor_user login password 'doctor_user'");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Migrator migrator() {
        return Windlass.on(database)
                .options(WindlassOptions.defaults().withSchemaName("doctor_test"))
                .migrator();
    }

    @BeforeEach
    void migrate() {
        migrator().migrate();
    }

    @AfterEach
    void clean() throws SQLException {
        Sql.execute(database, "drop owned by doctor_user; drop schema if exists doctor_test cascade");
    }

    private static Ran doctor(String... arguments) {
        return doctorAs(server.user(), arguments);
    }

    private static Ran doctorAs(String user, String... arguments) {
        List<String> all = new ArrayList<>(List.of("doctor", "--url", server.jdbcUrl(), "--user", user));
        all.addAll(List.of("--schema", "doctor_test", "--password", "doctor_user"));
        all.addAll(List.of(arguments));
        return Ran.windlass(all.toArray(String[]::new));
    }

    private static void assertFound(Ran ran, String line, String remedy) {
        assertThat(ran.err()).isEmpty();
        assertThat(ran.out().lines()).anySatisfy(each -> assertThat(each).matches(line));
        assertThat(ran.out()).contains(remedy);
        assertThat(ran.exitCode()).isEqualTo(line.startsWith("problem") ? 1 : 0);
    }

    @Test
    void aDatabaseThatIsWellHasNothingButOk() {
        Ran ran = doctor();
        assertThat(ran.out().lines().filter(line -> !line.startsWith("ok ")))
                .containsExactly("problems: 0, warnings: 0, not seen: 0");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out())
                .contains("connection: a round trip takes")
                .contains("server: PostgreSQL 1")
                .contains("clock: ")
                .contains("notifications: nodes can wake each other")
                .contains("schema: up to date: windlass 1, outbox 1");
    }

    @Test
    void jsonHasAnObjectWithAllFindings() throws SQLException {
        JsonNode well = Json.read(doctor("--json").out());
        assertThat(well.get("ok").booleanValue()).isTrue();
        assertThat(well.get("findings")).hasSizeGreaterThan(15);
        Sql.execute(database, "drop index doctor_test.outbox_ready");
        JsonNode ill = Json.read(doctor("--json").out());
        assertThat(ill.get("ok").booleanValue()).isFalse();
        assertThat(StreamSupport.stream(ill.get("findings").spliterator(), false)
                        .filter(finding -> finding.get("verdict").textValue().equals("PROBLEM")))
                .singleElement()
                .satisfies(problem -> {
                    assertThat(problem.get("check").textValue()).isEqualTo("indexes");
                    assertThat(problem.get("remedy").textValue()).contains("create index concurrently");
                });
    }

    @Test
    void missingTables() throws SQLException {
        Sql.execute(database, "drop schema doctor_test cascade");
        assertFound(
                doctor(),
                "problem +schema: there are no tables of Windlass in schema \"doctor_test\"",
                "'windlass migrate'");
    }

    @Test
    void tablesOfAnotherVersion() throws SQLException {
        Sql.execute(database, "update doctor_test.windlass_version set version = 0 where component = 'inbox'");
        assertFound(
                doctor(),
                "problem +schema: inbox \\(inbox\\) is at version 0, this program brings 1",
                "windlass migrate");
        Sql.execute(
                database,
                "update doctor_test.windlass_version set version = 9, min_compatible = 8 where component = 'inbox'");
        assertFound(
                doctor(),
                "problem +schema: inbox \\(inbox\\) is at version 9, which needs .* 8.*",
                "newer windlass.jar");
    }

    @Test
    void oneFeatureAloneIsWell() throws SQLException {
        Sql.execute(database, "drop table doctor_test.lease cascade");
        assertThat(doctor().out()).contains("; not there: lease");
    }

    @Test
    void aMissingRoutine() throws SQLException {
        Sql.execute(database, "drop function doctor_test.outbox_reap");
        assertFound(doctor(), "problem +routines: missing: outbox_reap", "create or replace function");
    }

    @Test
    void whatIsSaidOfAMissingIndexMakesItAgain() throws SQLException {
        Sql.execute(database, "drop index doctor_test.work_turns");
        Ran ran = doctor();
        assertFound(ran, "problem +indexes: index work_turns is missing", "create index concurrently");
        String statement = ran.out().substring(ran.out().indexOf("create index concurrently"));
        Sql.execute(database, statement.substring(0, statement.indexOf(';')));
        assertThat(doctor().exitCode()).isZero();
    }

    @Test
    void anInvalidIndex() throws SQLException {
        Sql.execute(
                database,
                "update pg_index set indisvalid = false where indexrelid = 'doctor_test.outbox_ready'::regclass");
        assertFound(
                doctor(),
                "problem +indexes: index outbox_ready is not valid, and is not used",
                "reindex index concurrently \"doctor_test\".\"outbox_ready\"");
    }

    @Test
    void aLongTransactionIsNamedByItsProcessAndNotByItsQuery() throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("select 'my secret'");
            String pid = Sql.value(
                    database,
                    "select pid from pg_stat_activity where query like '%my secret%' and state like 'idle in%'");
            Ran ran = doctor("--older", "0s");
            assertFound(
                    ran,
                    "problem +transactions: process " + pid
                            + " has a transaction that is open for \\d+ s \\(idle in transaction\\)",
                    "pg_terminate_backend(" + pid + ")");
            assertThat(ran.out()).doesNotContain("secret");
            statement.execute("select pg_sleep(1.1)");
            assertFound(
                    doctor("--older", "1s"), "warning +transactions: process " + pid + " .*", "idle_in_transaction");
        }
    }

    @Test
    void aPreparedTransaction() throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("create table doctor_test.mine ()");
            statement.execute("prepare transaction 'left behind'");
        }
        try {
            assertFound(
                    doctor("--older", "0s"),
                    "problem +prepared transactions: 'left behind' was prepared \\d+ s ago and has not been ended",
                    "rollback prepared");
        } finally {
            Sql.execute(database, "rollback prepared 'left behind'");
        }
    }

    @Test
    void aReplicationSlotThatNobodyReads() throws SQLException {
        Sql.execute(database, "select pg_create_physical_replication_slot('left_behind', true)");
        try {
            assertFound(
                    doctor(),
                    "problem +replication slots: nobody reads slot 'left_behind'; the server keeps .* of its log for it",
                    "pg_drop_replication_slot('left_behind')");
        } finally {
            Sql.execute(database, "select pg_drop_replication_slot('left_behind')");
        }
    }

    @Test
    void autovacuumThatIsOffForATable() throws SQLException {
        Sql.execute(database, "alter table doctor_test.inbox set (autovacuum_enabled = false)");
        assertFound(
                doctor(),
                "problem +autovacuum: autovacuum is off for table inbox",
                "alter table \"doctor_test\".\"inbox\" reset (autovacuum_enabled);");
        Sql.execute(
                database, "alter table doctor_test.inbox reset (autovacuum_enabled, autovacuum_vacuum_scale_factor)");
        assertFound(
                doctor(),
                "warning +autovacuum: table inbox has lost its settings for autovacuum",
                "scale_factor = 0.02");
    }

    @Test
    void settingsOfTheServerThatDoHarm() throws SQLException {
        set("autovacuum", "off");
        set("fsync", "off");
        set("synchronous_commit", "off");
        try {
            Ran ran = doctor();
            assertFound(ran, "problem +autovacuum: autovacuum is off on this server.*", "Set autovacuum = on");
            assertFound(ran, "problem +durability: fsync is off.*", "Set fsync = on");
            assertThat(ran.out()).containsPattern("warning +durability: synchronous_commit is off");
        } finally {
            set("autovacuum", "on");
            set("fsync", "on");
            set("synchronous_commit", "on");
        }
    }

    private static void set(String setting, String value) throws SQLException {
        Sql.execute(database, "alter system set " + setting + " = " + value);
        Sql.execute(database, "select pg_reload_conf()");
        eventually().until(() -> Sql.value(database, "show " + setting).equals(value));
    }

    @Test
    void connectionsThatAreNearlyUsedUp() throws SQLException {
        List<Connection> open = new ArrayList<>();
        try {
            for (int i = 0; i < MAX_CONNECTIONS - 7; i++) {
                open.add(database.getConnection());
            }
            assertFound(doctor(), "warning +connections: 2\\d of 27 connections are used", "max_connections");
            for (int i = 0; i < 4; i++) {
                open.add(database.getConnection());
            }
            assertFound(doctor(), "problem +connections: 2\\d of 27 connections are used", "max_connections");
        } finally {
            for (Connection connection : open) {
                connection.close();
            }
        }
    }

    @Test
    void aTableFullOfDeadRows() throws SQLException {
        Sql.execute(database, """
                alter table doctor_test.outbox_dedup set (autovacuum_enabled = false);
                insert into doctor_test.outbox_dedup select 'a', n::text, gen_random_uuid(), now() from generate_series(1, 110000) n;
                delete from doctor_test.outbox_dedup""");
        Sql.execute(database, "select pg_stat_force_next_flush()");
        eventually()
                .until(() -> !Sql.value(
                                database, "select n_dead_tup from pg_stat_all_tables where relname = 'outbox_dedup'")
                        .equals("0"));
        assertThat(doctor().out())
                .containsPattern(
                        "warning +dead rows: table outbox_dedup has about 0 live rows and 1\\d\\d,000 dead ones");
    }

    private static void message(int status, String due, String more, String values) throws SQLException {
        Sql.execute(
                database,
                "insert into doctor_test.outbox (id, created_at, next_attempt_at, status, topic, payload" + more
                        + ") values (gen_random_uuid(), now(), now() + interval '" + due + "', " + status
                        + ", 'a.topic', 'my secret'" + values + ")");
    }

    @Test
    void stuckWork() throws SQLException {
        message(1, "-1 h", ", claimed_at, locked_until", ", now() - interval '100 s', now() - interval '70 s'");
        assertFound(doctor(), "problem +work: outbox: 1 in progress, and nobody .*", "windlass diagnose stuck");
    }

    @Test
    void overdueWorkOfATopicThatNobodyHandles() throws SQLException {
        message(0, "-10 min", "", "");
        Ran ran = doctor();
        assertFound(ran, "warning +work: outbox: 1 has been due for more than five minutes.*", "Is a node running");
        assertFound(ran, "warning +handlers: outbox: nobody takes messages of topic a.topic", "handler for it");
        message(2, "0 s", ", ended_at", ", now()");
        assertThat(doctor().out()).contains("handlers: every topic");
    }

    @Test
    void aPausedTopicIsAWarning() throws SQLException {
        message(0, "-10 min", "", "");
        Sql.execute(database, "select doctor_test.outbox_pause_topic('anna', 'a.topic')");
        Ran ran = doctor();
        assertFound(
                ran,
                "warning +pauses: outbox: topic a.topic is paused by anna since \\d+ s",
                "windlass outbox resume a.topic");
        assertThat(ran.out()).contains("handlers: every topic");
    }

    @Test
    void aUserWithoutRightsIsToldWhatItLacksAndWhatCannotBeSeen() {
        Ran ran = doctorAs("doctor_user");
        assertFound(ran, "problem +rights: this user may not use schema \"doctor_test\"", "--grant-to USER");
        assertFound(ran, "problem +rights: .*", "transactions of other users cannot be seen");
        assertThat(ran.out().lines()).anyMatch(line -> line.matches("not seen +work: this user may not look there"));
    }

    @Test
    void aUserWhoMayOnlyReadSeesAllButWhatOtherUsersDo() throws SQLException {
        Sql.execute(database, migrator().readGrants("doctor_user"));
        Ran ran = doctorAs("doctor_user");
        assertFound(ran, "warning +rights: this user cannot run a program: .*", "To look is fine");
        assertThat(ran.out().lines().filter(line -> line.startsWith("not seen")))
                .satisfiesExactly(
                        line -> assertThat(line).endsWith("transactions: transactions of other users cannot be seen"),
                        line -> assertThat(line).endsWith("replication slots: standbys without a slot cannot be seen"));
        assertThat(ran.out()).doesNotContain("none keeps cleanup back");
        Sql.execute(database, "grant pg_monitor to doctor_user");
        try {
            assertThat(doctorAs("doctor_user").out())
                    .contains("none keeps cleanup back")
                    .contains("not seen: 0");
        } finally {
            Sql.execute(database, "revoke pg_monitor from doctor_user");
        }
    }

    @Test
    void aUserOfTheGrantScriptHasAllThatAProgramNeeds() throws SQLException {
        Sql.execute(database, migrator().grants("doctor_user"));
        assertThat(doctorAs("doctor_user").out().lines())
                .anyMatch(line -> line.matches("ok +rights: this user has all that a program needs"));
        Sql.execute(database, "revoke delete on doctor_test.inbox from doctor_user");
        assertFound(doctorAs("doctor_user"), "warning +rights: .* missing for inbox \\(1\\)", "--grant-to USER");
    }

    @Test
    void aUserWithASingleConnectionIsToldAllThatCanBeSeenWithOne() throws SQLException {
        Sql.execute(database, migrator().readGrants("doctor_user"));
        Sql.execute(database, "alter role doctor_user connection limit 1");
        try {
            Ran ran = doctorAs("doctor_user");
            assertThat(ran.err()).isEmpty();
            assertThat(ran.out().lines())
                    .anyMatch(line -> line.matches("not seen +notifications: .* too many connections for role.*"))
                    .anyMatch(line -> line.matches("ok +connections: \\d+ of 27 connections are used"))
                    .anyMatch(line -> line.matches("ok +work: .*"));
            assertThat(ran.exitCode()).isZero();
        } finally {
            Sql.execute(database, "alter role doctor_user connection limit -1");
        }
    }

    @Test
    void aConnectionThatIsLostMeanwhileIsOneSentence() throws Exception {
        CompletableFuture<Ran> ran;
        try (Connection locking = database.getConnection();
                Statement statement = locking.createStatement()) {
            locking.setAutoCommit(false);
            statement.execute("lock table doctor_test.windlass_version");
            ran = CompletableFuture.supplyAsync(DoctorCommandTest::doctor);
            String waiting = "select coalesce(max(pid), 0) from pg_stat_activity where wait_event_type = 'Lock'";
            while (Sql.value(database, waiting).equals("0")) {
                Thread.onSpinWait();
            }
            Sql.execute(database, "select pg_terminate_backend((" + waiting + "), 5000)");
        }
        assertThat(ran.get().exitCode()).isEqualTo(1);
        assertThat(ran.get().out()).isEmpty();
        assertThat(ran.get().err()).startsWith("windlass: could not examine").hasLineCount(1);
    }

    @Test
    void aDatabaseThatIsAwayIsOneSentence() {
        Ran ran = Ran.windlass("doctor", "--url", "jdbc:postgresql://127.0.0.1:1/x", "--user", "x");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err()).startsWith("windlass: could not connect to").hasLineCount(1);
    }
}
