package dev.windlass.schema;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Repository;
import dev.windlass.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A program of version 1, with its rights and the statements it has prepared, while the database is upgraded under it. */
final class UpgradeTest {
    private static final String OWNER = "00000000-0000-7000-8000-000000000001";
    private static final String CACHED_PLAN = "0A000"; // cached plan must not change result type
    private static final String ROLE = "windlass_one";

    @RegisterExtension
    final SchemaFixture database = new SchemaFixture();

    private Connection program;

    @BeforeEach
    void installVersionOne() throws SQLException, IOException {
        database.execute(Repository.read("sql/postgresql/windlass-1.sql")
                .replace("\"windlass\"", database.schema)
                .replace("'windlass'", "'" + database.schema + "'"));
        database.execute("""
                do $$ begin
                    if not exists (select from pg_roles where rolname = '{role}') then
                        create role {role} login password '{role}';
                    end if;
                end $$;
                grant usage on schema %s to {role};
                grant select on %s.windlass_version to {role};
                grant select, insert, update, delete on %s.outbox, %s.outbox_join, %s.outbox_join_member to {role};
                grant execute on all functions in schema %s to {role}""".replace("{role}", ROLE));
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(EmbeddedPostgres.shared().jdbcUrl());
        source.setUser(ROLE);
        source.setPassword(ROLE);
        source.setPrepareThreshold(1);
        program = source.getConnection();
    }

    @AfterEach
    void end() throws SQLException {
        program.close();
    }

    /**
     * In auto-commit mode the driver prepares anew what the server refuses, because its result has got more columns. Inside of a
     * transaction it cannot: there the first claim on each connection fails, and all that follows is prepared anew.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aProgramOfVersionOneGoesOnWithItsRightsAndItsPreparedStatements(boolean autoCommit) throws SQLException {
        program.setAutoCommit(autoCommit);
        for (int i = 0; i < 7; i++) {
            everyVerb();
        }
        String claimedBefore = claim(1).get(0);
        List<String> writtenBefore = write(3);

        database.migrator().migrate();

        assertThat(refused()).isEqualTo(autoCommit ? List.of() : List.of(CACHED_PLAN));
        everyVerb();
        assertThat(ack(claimedBefore)).containsExactly("1");
        claim(1000);
        for (String id : writtenBefore) {
            assertThat(ack(id)).containsExactly("1");
        }
        assertThat(database.list("select status from %s.outbox where ordering_key is not null or holds_key"))
                .isEmpty();
    }

    @Test
    void aMigrationThatCannotGetTheTableLetsOthersPass() throws Exception {
        program.setAutoCommit(false);
        try (Statement statement = program.createStatement()) {
            statement.execute("select " + database.schema + ".outbox_enqueue('topic', 'open')");
        }
        CompletableFuture<Void> migration =
                CompletableFuture.runAsync(() -> database.migrator().migrate());
        String waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%%"
                + database.schema + "%%outbox%%'";
        eventually().until(() -> database.list(waiting).equals(List.of("1")) || migration.isDone());
        assertThat(migration).isNotDone();

        database.execute("set statement_timeout = '30s'; select %s.outbox_enqueue('topic', 'written meanwhile')");
        program.commit();
        migration.join();

        assertThat(database.list("select count(*) from %s.outbox")).containsExactly("2");
        assertThat(database.versions()).hasSize(2);
    }

    @Test
    void aRoleThatMayOnlyInsertGetsNoMoreByTheUpgrade() throws SQLException {
        String producer = "windlass_producer_of_" + database.schema.substring(0, 12);
        database.execute("create role " + producer);
        try {
            database.execute("grant insert on %s.outbox to " + producer);
            database.migrator().migrate();

            assertThat(database.list("select table_name from information_schema.role_table_grants where grantee = '"
                            + producer + "'"))
                    .containsExactly("outbox");
        } finally {
            database.execute("drop owned by " + producer);
            database.execute("drop role " + producer);
        }
    }

    @Test
    void theColumnsOfAClaimAreWhereTheyWere() throws SQLException {
        List<String> before = columns();
        database.migrator().migrate();

        assertThat(columns()).startsWith(before.toArray(String[]::new)).hasSizeGreaterThan(before.size());
    }

    private List<String> columns() throws SQLException {
        return database.list("select unnest(proargnames[array_position(proargmodes, 't'):]) from pg_proc"
                + " where proname = 'outbox_claim' and pronamespace = to_regnamespace('%s')");
    }

    /** The states of the errors, when every verb is called once. */
    private List<String> refused() throws SQLException {
        List<String> states = new ArrayList<>();
        for (Verb verb : verbs()) {
            try {
                verb.run();
            } catch (SQLException e) {
                states.add(e.getSQLState());
                program.rollback();
            }
        }
        return states;
    }

    private interface Verb {
        void run() throws SQLException;
    }

    private List<Verb> verbs() {
        return List.of(
                () -> write(1),
                () -> writeMany(2),
                () -> claim(1),
                () -> claimOf("a", 1),
                () -> call("outbox_heartbeat(array[?]::uuid[], array[?]::uuid[], '1 min')", OWNER, OWNER),
                () -> call("outbox_ready_topics()"),
                () -> value("outbox_next_due(array['a'], array['-infinity'::timestamptz], array[?]::uuid[])", OWNER),
                () -> ack(OWNER),
                () -> value("outbox_abandon(array[?]::uuid[], array[?]::uuid[], null, null)", OWNER, OWNER),
                () -> value("outbox_fail(array[?]::uuid[], array[?]::uuid[], null, 'me')", OWNER, OWNER),
                () -> value("outbox_release(array[?]::uuid[], array[?]::uuid[], '0')", OWNER, OWNER),
                () -> value("outbox_reap('0', 10)"),
                () -> value("outbox_expire(10)"),
                () -> value("outbox_clean('1 day', 10)"),
                () -> call("outbox_find(?::uuid)", OWNER));
    }

    private void everyVerb() throws SQLException {
        for (Verb verb : verbs()) {
            verb.run();
        }
    }

    private List<String> write(int count) throws SQLException {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String id = UUID.randomUUID().toString();
            ids.addAll(value("outbox_enqueue('a', 'x', null, null, null, null, null, ?::uuid, false)", id));
        }
        return ids;
    }

    private List<String> writeMany(int count) throws SQLException {
        return value(
                "outbox_enqueue_many(array(select gen_random_uuid() from generate_series(1, ?::integer)), array['a', 'b'],"
                        + " array['x', 'y'], null, null, null, null, null, true)",
                Integer.toString(count));
    }

    private List<String> claim(int limit) throws SQLException {
        return call("outbox_claim(?::uuid, '1 min', ?::integer)", OWNER, Integer.toString(limit));
    }

    private List<String> claimOf(String topic, int limit) throws SQLException {
        return call(
                "outbox_claim(?::uuid, '1 min', ?::integer, array[?], array[10], array['-infinity'::timestamptz],"
                        + " array['00000000-0000-0000-0000-000000000000'::uuid])",
                OWNER,
                Integer.toString(limit),
                topic);
    }

    private List<String> ack(String id) throws SQLException {
        return value("outbox_ack(array[?]::uuid[], array[?]::uuid[], 'me', true)", id, OWNER);
    }

    private List<String> call(String call, @Nullable String... arguments) throws SQLException {
        return first("select * from " + database.schema + "." + call, arguments);
    }

    private List<String> value(String call, @Nullable String... arguments) throws SQLException {
        return first("select " + database.schema + "." + call, arguments);
    }

    private List<String> first(String sql, @Nullable String... arguments) throws SQLException {
        List<String> values = new ArrayList<>();
        try (PreparedStatement statement = program.prepareStatement(sql)) {
            for (int i = 0; i < arguments.length; i++) {
                statement.setString(i + 1, arguments[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    values.add(row.getString(1));
                }
            }
        }
        if (!program.getAutoCommit()) {
            program.commit();
        }
        return values;
    }
}
