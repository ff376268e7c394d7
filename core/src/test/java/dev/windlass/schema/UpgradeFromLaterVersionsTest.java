package dev.windlass.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Repository;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an earlier version wrote goes on, with the calls of that version; version 1 is in {@link UpgradeTest}. */
final class UpgradeFromLaterVersionsTest {
    private static final String OWNER = "00000000-0000-7000-8000-000000000001";

    @RegisterExtension
    final SchemaFixture database = new SchemaFixture();

    private void install(int version) throws SQLException, IOException {
        run("windlass-1.sql");
        for (int from = 1; from < version; from++) {
            run("windlass-" + from + "-to-" + (from + 1) + ".sql");
        }
    }

    private void run(String file) throws SQLException, IOException {
        database.execute(Repository.read("sql/postgresql/" + file)
                .replace("\"windlass\"", "\"" + database.schema + "\"")
                .replace("'windlass'", "'" + database.schema + "'")
                .replace("'windlass.windlass.", "'windlass." + database.schema + "."));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void theUpgradedSchemaIsThatOfAnEmptyDatabase(int version) throws SQLException, IOException {
        install(version);
        database.migrator().migrate();
        List<String> upgraded = database.content();
        database.execute("drop schema %s cascade");
        database.migrator().migrate();
        assertThat(upgraded).isEqualTo(database.content());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void messagesOfAKeyStayInOrderThroughTheUpgrade(int version) throws SQLException, IOException {
        install(version);
        List<String> ids = database.list(
                "select %s.outbox_enqueue('a', 'x', p_ordering_key => 'key', p_notify => false) from generate_series(1, 3)");
        assertThat(claim()).containsExactly(ids.get(0));

        database.migrator().migrate();

        assertThat(claim()).isEmpty();
        assertThat(ack(ids.get(0))).containsExactly("1");
        assertThat(claim()).containsExactly(ids.get(1));
        assertThat(database.list("select %s.outbox_fail(array['" + ids.get(1) + "']::uuid[], array['" + OWNER
                        + "']::uuid[], null, 'me', array[false])"))
                .containsExactly("1");
        assertThat(claim()).containsExactly(ids.get(2));
    }

    /** As programs of version 3 end a message and take the next one of its key. */
    @Test
    void theCallsOfVersionThreeGoOn() throws SQLException, IOException {
        install(3);
        List<String> ids = database.list(
                "select %s.outbox_enqueue('a', 'x', p_ordering_key => 'key', p_notify => false) from generate_series(1, 2)");
        assertThat(claim()).containsExactly(ids.get(0));

        database.migrator().migrate();

        assertThat(database.list("select id from %s.outbox_ack_next(array['" + ids.get(0) + "']::uuid[], array['"
                        + OWNER + "']::uuid[], 'me', true, true, '" + OWNER + "', '1 min', array['a'])"))
                .containsExactly(ids.get(1));
        assertThat(ack(ids.get(1))).containsExactly("1");
    }

    private List<String> claim() throws SQLException {
        return database.list("select id from %s.outbox_claim('" + OWNER + "', '1 min', 10)");
    }

    private List<String> ack(String id) throws SQLException {
        return database.list(
                "select %s.outbox_ack(array['" + id + "']::uuid[], array['" + OWNER + "']::uuid[], 'me', true, true)");
    }
}
