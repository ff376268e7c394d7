package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Logs;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassException;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** A node whose connections are encrypted, with the certificate of the server checked as strictly as can be. */
@DisabledOnOs(OS.WINDOWS)
final class EncryptedConnectionTest {
    private static final String NAME = "encrypted";

    @RegisterExtension
    static final TestDatabase database = new TestDatabase(EmbeddedPostgres.start());

    @TempDir
    @SuppressWarnings("NullAway.Init")
    static Path files;

    @SuppressWarnings("NullAway.Init")
    private static Path root;

    /** Where the server looks by itself: files in its data directory, of the account that it runs as. */
    @BeforeAll
    static void encrypt() throws Exception {
        Certificate certificate = Certificate.forNames(files, "ip:127.0.0.1");
        root = certificate.writeCertificate(files.resolve("root.crt"));
        Path data = Path.of(database.value(String.class, "show data_directory"));
        Object account = Files.getAttribute(data, "unix:uid");
        Files.setAttribute(certificate.writeCertificate(data.resolve("server.crt")), "unix:uid", account);
        Files.setAttribute(certificate.writeKey(data.resolve("server.key")), "unix:uid", account);
        database.execute("alter system set ssl = on");
        database.execute("select pg_reload_conf()");
        eventually().ignoreExceptions().until(() -> isEncrypted(source(root, "127.0.0.1")));
    }

    private static DataSource source(Path trusted, String host) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(
                database.server().jdbcUrl().replace("127.0.0.1", host) + "?sslmode=verify-full&sslrootcert=" + trusted);
        source.setUser("windlass_runtime");
        source.setPassword("windlass_runtime");
        source.setApplicationName(NAME);
        return source;
    }

    private static boolean isEncrypted(DataSource source) throws SQLException {
        try (Connection connection = source.getConnection();
                var statement = connection.createStatement();
                var row = statement.executeQuery("select ssl from pg_stat_ssl where pid = pg_backend_pid()")) {
            return row.next() && row.getBoolean(1);
        }
    }

    /** Of all sessions of the node: whether each is encrypted, in how many ways, and how many there are. */
    private static String sessions() {
        return database.rows(
                        "select bool_and(s.ssl), min(s.version), count(*) > 0"
                                + " from pg_stat_ssl s join pg_stat_activity a using (pid) where a.application_name = ?",
                        NAME)
                .get(0);
    }

    @Test
    @Shows("OBX-126")
    void aNodeWorksOverConnectionsThatAreEncrypted() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try (Logs logs = Logs.collect(Level.DEBUG);
                HikariDataSource pool = Pools.of(source(root, "127.0.0.1"), 6);
                Windlass windlass = Windlass.on(pool)
                        .options(database.options())
                        .outbox(database.shortLease())
                        .outboxHandler("a", message -> {
                            begun.countDown();
                            end.await();
                        })
                        .start()) {
            // Written down when a notification has come back, by the connection that is kept.
            eventually().until(() -> logs.count(Level.DEBUG, "listening on") == 1);
            windlass.inTransaction(connection -> windlass.outbox().enqueue(connection, OutboxEntry.of("a", "x")));
            begun.await();
            String first = database.value(String.class, "select locked_until::text from %s.outbox");
            eventually()
                    .until(() ->
                            !first.equals(database.value(String.class, "select locked_until::text from %s.outbox")));

            assertThat(sessions()).matches("t TLSv1\\.[23] t");

            end.countDown();
            eventually().until(() -> database.count("status = 2 and lease_expiries = 0") == 1);
        }
    }

    @Test
    void aServerThatSomebodyElseVouchesForIsRefusedInWords() throws Exception {
        Path other = Certificate.forNames(files, "ip:127.0.0.1").writeCertificate(files.resolve("other.crt"));
        assertRefused(source(other, "127.0.0.1"), "SSL error", "PKIX path");
    }

    @Test
    void aServerOfAnotherNameIsRefusedInWords() {
        assertRefused(source(root, "localhost"), "hostname localhost could not be verified");
    }

    @Test
    void aRootCertificateThatIsMissingIsNamed() {
        Path missing = files.resolve("missing.crt");
        assertRefused(source(missing, "127.0.0.1"), "Could not open SSL root certificate file", missing.toString());
    }

    /** By the call, and by the log of a node that waits for the database. */
    private static void assertRefused(DataSource source, String... words) {
        try (Logs logs = Logs.collect(Level.INFO);
                Windlass windlass = Windlass.on(source)
                        .options(database.options().withBackgroundWorkers(false))
                        .start()) {
            assertThatThrownBy(() -> windlass.outbox().enqueue(OutboxEntry.of("a", "x")))
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContainingAll(words);
            assertThat(logs.at(Level.WARN)).anySatisfy(line -> assertThat(line).contains(words));
        }
    }
}
