package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Repository;
import dev.windlass.TestDatabase;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.schema.Component;
import dev.windlass.internal.schema.SchemaMigrator;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseState;
import dev.windlass.lease.Leases;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
                "lease_acquire(e' \\t\\u2003', gen_random_uuid(), 'me', '1 min') | expected the name of a lease, got blank text",
                "lease_acquire('a ', gen_random_uuid(), 'me', '1 min') | expected the name of a lease without a space at its end",
                "lease_acquire(repeat('a', 256), gen_random_uuid(), 'me', '1 min') | a lease of at most 255 characters, got 256",
                "lease_acquire(concat(repeat('a', 255), ' '), gen_random_uuid(), 'me', '1 min') | at most 255 characters, got 256",
                "lease_acquire('a', gen_random_uuid(), 'me ', '1 min') | expected the name of the owner without a space at its end",
                "lease_acquire('a', gen_random_uuid(), 'me', '1 min', '-1 s') | expected a time to wait of nothing to 100 years",
                "lease_acquire_permit('a ', 1, gen_random_uuid(), 'me', '1 min') | without a space at its end",
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

    /** Of all characters that some may take for white space, the table refuses those alone that Java takes for blank. */
    @Test
    void theTableTakesForBlankWhatJavaTakesForBlank() {
        List<Integer> characters = IntStream.rangeClosed(1, Character.MAX_CODE_POINT)
                .filter(c -> Character.isWhitespace(c)
                        || Character.isSpaceChar(c)
                        || Character.getType(c) == Character.CONTROL
                        || Character.getType(c) == Character.FORMAT)
                .boxed()
                .toList();

        assertThat(characters).hasSizeGreaterThan(200).allSatisfy(c -> {
            String text = Character.toString(c);
            boolean accepted = isStored(text, "me") && isStored("name " + c, text);
            assertThat(accepted).as("U+%04X", c).isEqualTo(!text.isBlank());
            assertThat(isStoredSemaphore(text)).as("U+%04X", c).isEqualTo(accepted);
            assertThat(isAcquired(text)).as("U+%04X", c).isEqualTo(accepted);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"infinity", "-infinity", "10000-01-01 00:00+00", "0001-12-31 00:00+00 BC"})
    void aTimeThatNotEveryClientCanReadIsNotStored(String time) throws SQLException {
        asProgram("select * from %s.lease_acquire('a', gen_random_uuid(), 'me', '1 min')");

        assertThatThrownBy(() -> asProgram("update %s.lease set expires_at = '" + time + "'"))
                .hasMessageContaining("lease_time_check");
        assertThatThrownBy(() -> asProgram("update %s.lease set acquired_at = '" + time + "'"))
                .hasMessageContaining("lease_time_check");
    }

    /** Characters are counted, not the units in which a language stores them. */
    @Test
    void whateverTheTableAcceptsIsListed() throws SQLException {
        List<String> texts = List.of(
                "\u0001",
                "\u00a0",
                "\u0085",
                "\u200b",
                " leading",
                "line\nbreak\n",
                "🙂".repeat(130),
                "🙂".repeat(255));
        for (String text : texts) {
            assertThat(isStored(text, text)).as(text).isTrue();
        }
        database.execute("update %s.lease set acquired_at = '0001-01-01 00:00+00', expires_at = '9999-12-31 00:00+00'");

        List<LeaseState> listed = database.passive().leases().list();

        assertThat(listed).extracting(LeaseState::name).containsExactlyInAnyOrderElementsOf(texts);
        assertThat(listed).extracting(LeaseState::owner).containsExactlyInAnyOrderElementsOf(texts);
        assertThat(listed)
                .allMatch(lease -> lease.held()
                        && lease.acquiredAt().equals(Instant.parse("0001-01-01T00:00:00Z"))
                        && lease.expiresAt().equals(Instant.parse("9999-12-31T00:00:00Z")));
    }

    private static boolean isStored(String name, String owner) {
        return isAccepted(
                "insert into %s.lease (name, slot, holder, owner, fencing_token, acquired_at, expires_at)"
                        + " values (?, 0, gen_random_uuid(), ?, 1, now(), now())",
                name, owner);
    }

    private static boolean isStoredSemaphore(String name) {
        return isAccepted("insert into %s.lease_semaphore (name, permits, used_at) values (?, 1, now())", name);
    }

    private static boolean isAcquired(String name) {
        return isAccepted("do $$ begin perform %s.lease_acquire(" + literal(name)
                + ", gen_random_uuid(), 'me', '1 min'); end $$");
    }

    private static String literal(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    private static boolean isAccepted(String sql, Object... arguments) {
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement =
                        connection.prepareStatement(sql.replace("%s", "\"" + database.schema() + "\""))) {
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            statement.executeUpdate();
            return true;
        } catch (SQLException e) {
            assertThat(e.getSQLState()).isIn("23514", "22023");
            return false;
        }
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

    /** A standby that has not got the last commits goes on from an earlier value; the docs say how to go past what was lost. */
    @Test
    void whatTheDocsSayAfterAFailoverMakesTokensGrowAgain() throws Exception {
        Leases leases = database.passive().leases();
        long replicated = tokenOf(leases);
        List<Long> lost = Stream.generate(() -> tokenOf(leases)).limit(50).toList();
        database.execute("delete from %s.lease");
        database.execute("select setval('%s.lease_token', " + replicated + ")");
        assertThat(tokenOf(leases)).isIn(lost);

        database.execute(Repository.documentedSql("docs/operations.md", "advance the tokens"));

        assertThat(tokenOf(leases)).isGreaterThan(lost.get(49));
    }

    private static long tokenOf(Leases leases) {
        try (Lease lease = leases.tryAcquire("a", Duration.ofMinutes(1)).orElseThrow()) {
            return lease.fencingToken();
        }
    }

    @Test
    void theGrantsOfLeasesSufficeWithoutAnOutbox() throws SQLException {
        String schema = database.schema() + "_alone";
        SchemaMigrator migrator = new SchemaMigrator(
                new Database(database.owner(), new PostgresDialect(), schema, "test"),
                List.of(Component.lease("lease")));
        try {
            migrator.migrate();
            database.execute(migrator.grants("windlass_runtime"));

            asProgram("select * from \"" + schema + "\".lease_acquire('a', gen_random_uuid(), 'me', '1 min')");
            asProgram(
                    "select * from \"" + schema + "\".lease_acquire_permit('a', 2, gen_random_uuid(), 'me', '1 min')");
            asProgram("select \"" + schema + "\".lease_clean('0', 10)");
        } finally {
            database.execute("drop schema if exists \"" + schema + "\" cascade");
        }
    }
}
