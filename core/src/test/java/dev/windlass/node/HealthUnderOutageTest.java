package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.event.WindlassEvent;
import dev.windlass.health.HealthOptions;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import dev.windlass.outbox.OutboxEntry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A database that goes away makes a node unready, and no reason to restart it. */
final class HealthUnderOutageTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase(EmbeddedPostgres.start());

    /** It answers as before; so does a primary that has become a standby. */
    @Test
    void aNodeWhoseDatabaseIsReadOnlyIsNotReady() throws SQLException {
        Windlass windlass = database.start(database.windlass()
                .health(HealthOptions.defaults().withCacheFor(Duration.ZERO))
                .outboxHandler("a", message -> {}));
        assertThat(windlass.health().ready().status()).isEqualTo(HealthStatus.HEALTHY);
        try (Logs logs = Logs.collect(Level.INFO)) {
            database.execute("alter role windlass_runtime set default_transaction_read_only = on");
            database.dataSource().getHikariPoolMXBean().softEvictConnections();

            // A connection of before may still be used for a moment.
            eventually().untilAsserted(() -> {
                HealthReport report = windlass.health().ready();
                assertThat(report.status()).isEqualTo(HealthStatus.UNHEALTHY);
                assertThat(report.checks().get(0).name()).isEqualTo("database");
                assertThat(report.checks().get(0).description())
                        .contains("it is read-only")
                        .contains("primary");
            });
            assertThat(windlass.health().live().status()).isNotEqualTo(HealthStatus.UNHEALTHY);
            eventually().until(() -> logs.count(Level.WARN, "the database is away") > 0);
        } finally {
            database.execute("alter role windlass_runtime reset default_transaction_read_only");
        }
        database.dataSource().getHikariPoolMXBean().softEvictConnections();
        eventually().until(() -> windlass.health().ready().status() == HealthStatus.HEALTHY);
    }

    @Test
    void readinessFollowsTheDatabaseAndLivenessDoesNot() {
        Queue<WindlassEvent> heard = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(database.windlass()
                .health(HealthOptions.defaults().withCacheFor(Duration.ZERO))
                .listener(heard::add)
                .outboxHandler("a", message -> {}));
        assertThat(windlass.health().ready().status()).isEqualTo(HealthStatus.HEALTHY);

        database.server().stop();

        HealthReport ready = windlass.health().ready();
        assertThat(ready.status()).isEqualTo(HealthStatus.UNHEALTHY);
        assertThat(ready.checks().get(0).name()).isEqualTo("database");
        assertThat(ready.checks().get(0).status()).isEqualTo(HealthStatus.UNHEALTHY);
        assertThat(windlass.health().all().status()).isEqualTo(HealthStatus.UNHEALTHY);
        assertThat(windlass.health().live().status()).isNotEqualTo(HealthStatus.UNHEALTHY);
        eventually().until(() -> heard.stream().anyMatch(WindlassEvent.OutageBegan.class::isInstance));

        database.server().restart();

        eventually().until(() -> windlass.health().ready().status() == HealthStatus.HEALTHY);
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> database.count("status = 2") == 1);
        eventually().until(() -> heard.stream().anyMatch(WindlassEvent.OutageEnded.class::isInstance));
    }
}
