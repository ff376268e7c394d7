package dev.windlass.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.lease.LeaseState;
import dev.windlass.lease.Leases;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Schemas and tables with names that are legal, and break out of careless SQL. */
@Timeout(120)
final class PostgresLeaseNamesTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration LEASE = Duration.ofMinutes(5);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Ünïcode 😀",
                "with space",
                "select",
                "we\"ird",
                "it's",
                "back\\slash",
                "'); drop table lease; --",
                "{lease} {0} %s",
                "forty_bytes_is_the_longest_name_there_is"
            })
    void aLeaseLivesItsLifeInASchemaAndATableOfThisName(String name) throws Exception {
        String quoted = new PostgresDialect().quote(name);
        WindlassBuilder builder = Windlass.on(database.owner())
                .options(WindlassOptions.defaults().withSchemaName(name).withBackgroundWorkers(false))
                .leases(LeaseOptions.defaults().withTableName(name));
        try (Windlass windlass = builder.ensureSchema().start()) {
            live(windlass.leases());
        } finally {
            execute("drop schema if exists " + quoted + " cascade");
        }
        assertThat(database.value(Long.class, "select count(*) from %s.lease")).isZero();
    }

    private static void live(Leases leases) throws Exception {
        Lease lease = leases.tryAcquire("a", LEASE).orElseThrow();
        assertThat(lease.tryRenewNow()).isTrue();
        CompletableFuture<Void> released = CompletableFuture.runAsync(lease::close);
        leases.tryAcquire("a", LEASE, LEASE).orElseThrow().close();
        released.get();
        leases.semaphore("a", 1).tryAcquire(LEASE).orElseThrow().close();
        assertThat(leases.list()).hasSize(2).noneMatch(LeaseState::held);
    }

    /** Without the substitution of the schema's name, which some of these names look like. */
    private static void execute(String sql) throws SQLException {
        try (var connection = database.owner().getConnection();
                var statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            statement.execute(sql);
        }
    }
}
