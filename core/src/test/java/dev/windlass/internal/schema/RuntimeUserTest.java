package dev.windlass.internal.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The database user of the grant script. */
final class RuntimeUserTest {
    private static final Duration LEASE = Duration.ofMinutes(1);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    @Shows({"OBX-123", "OBX-124"})
    void hasAllThatAProgramNeeds() {
        Windlass windlass = database.start(database.windlass()
                .options(database.options().withEnsureSchema(true))
                .outbox(OutboxOptions.defaults()
                        .withLease(Duration.ofMillis(500))
                        .withRetention(Duration.ZERO))
                .outboxHandler("handled", message -> {}));
        Outbox outbox = windlass.outbox();
        OutboxMessageIdentifier handled = outbox.enqueue(OutboxEntry.of("handled", ""));
        await().until(() -> outbox.find(handled).isEmpty());

        outbox.enqueueAll(List.of(OutboxEntry.of("a", ""), OutboxEntry.of("a", ""), OutboxEntry.of("a", "")));
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxMessage> claimed = outbox.claim(owner, LEASE, 10);
        assertThat(outbox.heartbeat(owner, List.of(claimed.get(0).id()), LEASE)).isEqualTo(1);
        assertThat(outbox.ack(owner, List.of(claimed.get(0).id()))).isEqualTo(1);
        assertThat(outbox.abandon(owner, List.of(claimed.get(1).id()))).isEqualTo(1);
        assertThat(outbox.fail(owner, List.of(claimed.get(2).id()), "no")).isEqualTo(1);
        assertThat(outbox.reapExpired()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "create table %s.mine (a integer)",
                "alter table %s.outbox add column mine integer",
                "drop table %s.outbox",
                "truncate %s.outbox",
                "drop function %s.outbox_ready_topics()",
                "insert into %s.windlass_version (table_name, component, version, min_compatible)"
                        + " values ('outbox', 'outbox', 99, 99)",
                "delete from %s.windlass_version",
                "create schema mine"
            })
    @Shows("OBX-109")
    void cannotChangeTheSchema(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute(sql.replace("%s", database.schema())))
                    .isInstanceOf(SQLException.class)
                    .extracting(e -> ((SQLException) e).getSQLState())
                    .isEqualTo("42501");
        }
    }

    @Test
    void grantingTwiceIsHarmless() throws SQLException {
        String grants = database.windlass().migrator().grants("windlass_runtime");
        database.execute(grants);
        database.execute(grants);
    }
}
