package dev.windlass.cli;

import static dev.windlass.cli.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.PGConnection;
import org.postgresql.PGProperty;
import org.postgresql.copy.CopyDual;

/** The doctor with servers that take no writes, and with one that others replicate. */
final class DoctorServerTest {
    private static final int TRANSACTIONS = 6_000;
    private static EmbeddedPostgres server;
    private static DataSource database;

    @BeforeAll
    static void start() {
        server = EmbeddedPostgres.start();
        database = server.dataSource();
        Windlass.on(database).migrator().migrate();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @AfterEach
    void clean() throws SQLException {
        Sql.execute(database, """
                select pg_terminate_backend(active_pid, 5000) from pg_replication_slots where active;
                select pg_drop_replication_slot(slot_name) from pg_replication_slots""");
    }

    private static Ran doctor(EmbeddedPostgres server) {
        return Ran.windlass(
                "doctor", "--url", server.jdbcUrl(), "--user", server.user(), "--password", server.password());
    }

    @Test
    void aServerThatTakesNoWritesIsAProblem() throws SQLException {
        Sql.execute(database, "alter role postgres set default_transaction_read_only = on");
        try {
            Ran ran = doctor(server);
            assertThat(ran.out())
                    .containsPattern("problem +server: PostgreSQL \\S+.*, read-only: nothing can be written here")
                    .contains("default_transaction_read_only = off");
            assertThat(ran.exitCode()).isEqualTo(1);
        } finally {
            Sql.execute(
                    database,
                    "set transaction_read_only = off; alter role postgres reset default_transaction_read_only");
        }
    }

    @Test
    void aStandbyIsAProblem(@TempDir Path directory) throws Exception {
        try (EmbeddedPostgres standby =
                EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults().withDataDirectory(directory))) {
            Windlass.on(standby.dataSource()).migrator().migrate();
            standby.stop();
            Files.createFile(directory.resolve("data").resolve("standby.signal"));
            standby.restart();
            Ran ran = doctor(standby);
            assertThat(ran.err()).isEmpty();
            assertThat(ran.out())
                    .containsPattern("problem +server: PostgreSQL \\S+.*, a standby: nothing can be written here")
                    .contains("targetServerType=primary");
            assertThat(ran.exitCode()).isEqualTo(1);
        }
    }

    @Test
    void aStandbyThatKeepsOldRowsIsAWarningWithASlotAndWithout() throws Exception {
        Sql.execute(database, "select pg_create_physical_replication_slot('near', true)");
        long needed = Long.parseLong(Sql.value(database, "select txid_current()"));
        try (Connection withSlot = standby();
                Connection without = standby()) {
            CopyDual slot = replicate(withSlot, "SLOT near ");
            CopyDual none = replicate(without, "");
            feedback(slot, needed);
            feedback(none, needed);
            awaitFeedback();
            assertThat(doctor(server).out()).contains("replication slots: none is left behind");
            Sql.execute(
                    database,
                    "do 'begin for i in 1.." + TRANSACTIONS + " loop perform txid_current(); commit; end loop; end'");
            Ran ran = doctor(server);
            assertThat(ran.out())
                    .containsPattern(
                            "warning +replication slots: slot 'near' \\(process \\d+\\) keeps rows .* 6,0\\d\\d transactions")
                    .containsPattern(
                            "warning +replication slots: a standby without a slot \\(process \\d+\\) keeps rows .* 6,0\\d\\d")
                    .contains("hot_standby_feedback = off")
                    .doesNotContain("has a transaction that is open");
            slot.endCopy();
            none.endCopy();
        }
    }

    private static Connection standby() throws SQLException {
        Properties properties = new Properties();
        PGProperty.USER.set(properties, server.user());
        PGProperty.PASSWORD.set(properties, server.password());
        PGProperty.REPLICATION.set(properties, "true");
        PGProperty.ASSUME_MIN_SERVER_VERSION.set(properties, "15");
        PGProperty.PREFER_QUERY_MODE.set(properties, "simple");
        return DriverManager.getConnection(server.jdbcUrl(), properties);
    }

    private static CopyDual replicate(Connection connection, String slot) throws SQLException {
        return connection
                .unwrap(PGConnection.class)
                .getCopyAPI()
                .copyDual("START_REPLICATION " + slot + "PHYSICAL "
                        + Sql.value(database, "select pg_current_wal_flush_lsn()"));
    }

    /** As a standby says it that has hot_standby_feedback and a query that began with this transaction. */
    private static void feedback(CopyDual standby, long transaction) throws SQLException {
        byte[] message = ByteBuffer.allocate(25)
                .put((byte) 'h')
                .putLong(0)
                .putInt((int) transaction)
                .putInt((int) (transaction >> 32))
                .putInt(0)
                .putInt(0)
                .array();
        standby.writeToCopy(message, 0, message.length);
        standby.flushCopy();
    }

    private static void awaitFeedback() {
        String heard = "select (select count(xmin) from pg_replication_slots)"
                + " + (select count(backend_xmin) from pg_stat_activity where backend_type = 'walsender')";
        eventually().until(() -> Sql.value(database, heard).equals("2"));
    }
}
