package dev.windlass.internal.schema;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schema.SchemaException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs of this version and of the next one on one database. */
final class RollingDeployTest {
    @RegisterExtension
    final SchemaFixture database = new SchemaFixture();

    @BeforeEach
    void migrate() {
        database.migrator().migrate();
    }

    @Test
    void anOlderProgramRunsOnANewerDatabaseAndBringsNothingOldBack() throws SQLException {
        database.migrator(NextVersion.outbox()).migrate();
        List<String> content = database.content();

        assertThat(database.migrator().pendingSql()).isEmpty();
        try (Windlass windlass = database.windlass().ensureSchema().start()) {
            windlass.outbox().enqueue(OutboxEntry.of("topic", ""));
        }

        assertThat(database.content()).isEqualTo(content);
        assertThat(database.versions()).hasSize(2);
    }

    @Test
    void aProgramThatIsTooOldForTheDatabaseRefusesToRun() throws SQLException {
        database.migrator(NextVersion.outbox(NextVersion.NUMBER)).migrate();
        List<String> content = database.content();

        assertThatThrownBy(() -> database.windlass().ensureSchema().start())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("version " + NextVersion.NUMBER + " of table")
                .hasMessageContaining("needs a program of schema version " + NextVersion.NUMBER
                        + " or newer, this one has " + (NextVersion.NUMBER - 1))
                .hasMessageContaining("upgrade the program");
        assertThat(database.content()).isEqualTo(content);
    }

    @Test
    void aNewerProgramRefusesAnOlderDatabaseUntilItIsMigrated() throws SQLException {
        SchemaMigrator next = database.migrator(NextVersion.outbox());
        assertThatThrownBy(next::check)
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("expected version " + NextVersion.NUMBER + " of table")
                .hasMessageContaining("found " + (NextVersion.NUMBER - 1))
                .hasMessageContaining("windlass migrate");

        next.migrate();
        next.check();
    }

    /** Also with a pool whose connections do not commit by themselves: there, a claim that was prepared before fails once. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aNodeGoesOnWhileTheDatabaseIsBroughtToTheNextVersion(boolean autoCommit) throws SQLException {
        Queue<String> handled = new ConcurrentLinkedQueue<>();
        List<String> written = new ArrayList<>();
        try (HikariDataSource pool = pool(autoCommit);
                Windlass node = Windlass.on(pool)
                        .options(WindlassOptions.defaults().withSchemaName(database.schema))
                        .outboxHandler("topic", message -> handled.add(message.payload()))
                        .start()) {
            write(node.outbox(), written, 100);
            eventually().until(() -> handled.size() == 100);

            CompletableFuture<Void> migration = CompletableFuture.runAsync(
                    () -> database.migrator(NextVersion.outbox()).migrate());
            while (!migration.isDone()) {
                write(node.outbox(), written, 2);
            }
            migration.join();
            write(node.outbox(), written, 100);

            eventually()
                    .until(() -> database.list("select count(*) from %s.outbox where status <> 2")
                            .equals(List.of("0")));
        }
        assertThat(handled).containsExactlyInAnyOrderElementsOf(written);
        assertThat(handled.stream().filter(RollingDeployTest::isOrdered))
                .containsExactlyElementsOf(
                        written.stream().filter(RollingDeployTest::isOrdered).toList());
        assertThat(database.list("select error from %s.outbox_failure")).isEmpty();
    }

    @Test
    void bothVersionsOfAProgramClaimFromOneDatabase() throws SQLException {
        database.migrator(NextVersion.outbox()).migrate();
        database.execute("select %s.outbox_enqueue('topic', 'x') from generate_series(1, 3)");
        String claim = "select region from %s.outbox_claim(gen_random_uuid(), '1 min', 1";

        assertThat(database.list(claim + ")")).containsExactly("nowhere");
        assertThat(database.list(claim + ", p_region => 'north')")).containsExactly("north");
        try (Windlass old = database.windlass().start()) {
            assertThat(old.outbox().claim(OwnerToken.fresh(), Duration.ofMinutes(1), 10))
                    .hasSize(1);
        }
    }

    private HikariDataSource pool(boolean autoCommit) throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.program());
        config.setAutoCommit(autoCommit);
        config.setMaximumPoolSize(10);
        return new HikariDataSource(config);
    }

    /** Every second message belongs to one ordering key. */
    private static void write(Outbox outbox, List<String> written, int count) {
        for (int i = 0; i < count; i++) {
            String payload = Integer.toString(written.size());
            OutboxEntry entry = OutboxEntry.of("topic", payload);
            outbox.enqueue(isOrdered(payload) ? entry.withOrderingKey("key") : entry);
            written.add(payload);
        }
    }

    private static boolean isOrdered(String payload) {
        return Integer.parseInt(payload) % 2 == 0;
    }
}
