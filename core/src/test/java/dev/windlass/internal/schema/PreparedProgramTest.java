package dev.windlass.internal.schema;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A program with its rights and the statements it has prepared, while the database is brought to the next version under it. */
final class PreparedProgramTest {
    private static final String OWNER = "00000000-0000-7000-8000-000000000001";
    private static final String CACHED_PLAN = "0A000"; // cached plan must not change result type

    @RegisterExtension
    final SchemaFixture database = new SchemaFixture();

    private Connection program;

    @BeforeEach
    void connect() throws SQLException {
        database.migrator().migrate();
        PGSimpleDataSource source = database.program();
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
    void aProgramGoesOnWithItsRightsAndItsPreparedStatements(boolean autoCommit) throws SQLException {
        program.setAutoCommit(autoCommit);
        for (int i = 0; i < 7; i++) {
            everyVerb();
        }
        String claimedBefore = claim(1).get(0);
        List<String> writtenBefore = write(3);

        database.migrator(NextVersion.outbox()).migrate();

        assertThat(refused()).isEqualTo(autoCommit ? List.of() : List.of(CACHED_PLAN));
        everyVerb();
        assertThat(ack(claimedBefore)).containsExactly("1");
        claim(1000);
        for (String id : writtenBefore) {
            assertThat(ack(id)).containsExactly("1");
        }
    }

    /** The states of the errors, when every verb is called once. */
    private List<String> refused() throws SQLException {
        List<String> states = new ArrayList<>();
        for (Verb verb : verbs()) {
            try {
                verb.run();
            } catch (SQLException e) {
                states.add(e.getSQLState());
                if (!program.getAutoCommit()) {
                    program.rollback();
                }
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
                () -> call("outbox_abandon(array[?]::uuid[], array[?]::uuid[], null, null)", OWNER, OWNER),
                () -> call("outbox_fail(array[?]::uuid[], array[?]::uuid[], null, 'me')", OWNER, OWNER),
                () -> call("outbox_release(array[?]::uuid[], array[?]::uuid[], '0')", OWNER, OWNER),
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
                "outbox_enqueue_all(array(select gen_random_uuid() from generate_series(1, ?::integer)), array['a', 'b'],"
                        + " array['x', 'y'])",
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
        return call("outbox_ack(array[?]::uuid[], array[?]::uuid[], 'me', true)", id, OWNER);
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
