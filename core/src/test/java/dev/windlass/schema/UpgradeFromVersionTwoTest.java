package dev.windlass.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Repository;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What version 2 wrote goes on in version 3, with the calls of version 2. */
final class UpgradeFromVersionTwoTest {
    private static final String OWNER = "00000000-0000-7000-8000-000000000001";

    @RegisterExtension
    final SchemaFixture database = new SchemaFixture();

    @BeforeEach
    void installVersionTwo() throws SQLException, IOException {
        database.execute(Repository.read("sql/postgresql/windlass-2.sql")
                .replace("\"windlass\"", database.schema)
                .replace("'windlass'", "'" + database.schema + "'"));
    }

    @Test
    void theUpgradedSchemaIsThatOfAnEmptyDatabase() throws SQLException {
        database.migrator().migrate();
        List<String> upgraded = database.content();
        database.execute("drop schema %s cascade");
        database.migrator().migrate();
        assertThat(upgraded).isEqualTo(database.content());
    }

    @Test
    void messagesOfAKeyStayInOrderThroughTheUpgrade() throws SQLException {
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

    private List<String> claim() throws SQLException {
        return database.list("select id from %s.outbox_claim('" + OWNER + "', '1 min', 10)");
    }

    private List<String> ack(String id) throws SQLException {
        return database.list(
                "select %s.outbox_ack(array['" + id + "']::uuid[], array['" + OWNER + "']::uuid[], 'me', true, true)");
    }
}
