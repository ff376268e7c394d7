package dev.windlass.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.engine.PostgresDialect;
import dev.windlass.runtime.Database;
import dev.windlass.schema.Component;
import dev.windlass.schema.Migrator;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Leases for those who call the routines themselves. */
final class PostgresLeaseSqlTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static void asProgram(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql.replace("%s", "\"" + database.schema() + "\""));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lease_acquire(null, gen_random_uuid(), 'me', '1 min') | expected the name of a lease, got null",
                "lease_acquire(' ', gen_random_uuid(), 'me', '1 min') | expected the name of a lease, got blank text",
                "lease_acquire('a', null, 'me', '1 min') | expected a holder, got null",
                "lease_acquire('a', '00000000-0000-0000-0000-000000000000', 'me', '1 min') | expected a holder, got 0000",
                "lease_acquire('a', gen_random_uuid(), null, '1 min') | expected the name of the owner, got null",
                "lease_acquire('a', gen_random_uuid(), '', '1 min') | expected the name of the owner, got blank text",
                "lease_acquire('a', gen_random_uuid(), 'me', null) | expected a duration of more than nothing",
                "lease_acquire('a', gen_random_uuid(), 'me', '0') | expected a duration of more than nothing",
                "lease_acquire('a', gen_random_uuid(), 'me', '-1 s') | expected a duration of more than nothing",
                "lease_acquire('a', gen_random_uuid(), 'me', '25 h') | at most a day, got 25:00:00",
                "lease_acquire_permit('a', 0, gen_random_uuid(), 'me', '1 min') | expected 1 to 10000 permits, got 0",
                "lease_acquire_permit('a', null, gen_random_uuid(), 'me', '1 min') | expected 1 to 10000 permits, got null",
                "lease_renew(array['a'], array[gen_random_uuid()], array['0'::interval]) | expected a duration of more"
            })
    void badArgumentsAreRefusedWithWhatWasExpected(String call, String message) {
        assertThatThrownBy(() -> asProgram("select * from %s." + call))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining(message);
        assertThat(database.value(Long.class, "select count(*) from %s.lease")).isZero();
    }

    @Test
    void aLeaseOfSqlAndALeaseOfJavaExcludeEachOther() throws SQLException {
        Leases leases = database.passive().leases();
        asProgram("select * from %s.lease_acquire('a', '00000000-0000-0000-0000-000000000001', 'psql', '1 min')");

        assertThat(leases.tryAcquire("a", Duration.ofMinutes(1))).isEmpty();
        assertThat(leases.find("a").orElseThrow().owner()).isEqualTo("psql");

        asProgram("select %s.lease_release('a', '00000000-0000-0000-0000-000000000001')");
        assertThat(leases.tryAcquire("a", Duration.ofMinutes(1))).isPresent();
    }

    /** More than a batch: it goes on until nothing is left. */
    @Test
    void aNodeThatUsesLeasesCleansUpInBatches() throws SQLException {
        database.execute("insert into %s.lease (name, slot, owner, fencing_token, acquired_at, expires_at)"
                + " select 'old ' || n, 0, 'nobody', n, '2020-01-01', '2020-01-01' from generate_series(1, 1200) n");
        Leases leases = database.passive().leases();

        assertThat(leases.tryAcquire("a", Duration.ofMinutes(1))).isPresent();

        eventually().until(() -> leases.list().size() == 1);
    }

    /** A program that worked before the upgrade may use leases after it, without further grants. */
    @Test
    void whoeverMayUseTheOutboxMayUseLeasesAfterAnUpgrade() throws SQLException {
        String schema = database.schema() + "_old";
        Database owner = new Database(database.owner(), new PostgresDialect(), schema, "test");
        Migrator before = new Migrator(owner, List.of(Component.outbox("outbox")));
        try {
            before.migrate();
            database.execute(before.grants("windlass_runtime"));

            new Migrator(owner, List.of(Component.outbox("outbox"), Component.lease("lease"))).migrate();

            asProgram("select * from \"" + schema + "\".lease_acquire('a', gen_random_uuid(), 'me', '1 min')");
            asProgram(
                    "select * from \"" + schema + "\".lease_acquire_permit('a', 2, gen_random_uuid(), 'me', '1 min')");
            asProgram("select \"" + schema + "\".lease_clean('0', 10)");
        } finally {
            database.execute("drop schema if exists \"" + schema + "\" cascade");
        }
    }
}
