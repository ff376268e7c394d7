package dev.windlass.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.windlass.embedded.EmbeddedPostgres.Options;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

final class EmbeddedPostgresTest {

    @Test
    void sharedServerAnswersAndIsTheSameForAll() throws Exception {
        EmbeddedPostgres shared = EmbeddedPostgres.shared();

        assertThat(Sql.value(shared, "SELECT version()")).startsWith("PostgreSQL ");
        assertThat(Sql.value(shared, "SHOW server_encoding")).isEqualTo("UTF8");
        assertThat(EmbeddedPostgres.shared()).isSameAs(shared);
        assertThat(shared.isRunning()).isTrue();
        assertThat(shared.jdbcUrl("other")).isEqualTo("jdbc:postgresql://127.0.0.1:" + shared.port() + "/other");
    }

    @Test
    void lettersHaveUpperAndLowerCaseWhateverTheSystemsLocales() throws Exception {
        EmbeddedPostgres shared = EmbeddedPostgres.shared();
        assumeTrue(Sql.value(shared, "SELECT current_setting('server_version_num')::int >= 170000")
                .equals("t"));

        assertThat(Sql.value(shared, "SELECT upper('é')")).isEqualTo("É");
    }

    @Test
    void committedWorkSurvivesKillAndRestart() throws Exception {
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.start(Options.defaults().withFsync(true))) {
            int port = postgres.port();
            Sql.run(postgres, "CREATE TABLE work (id int)");
            for (int round = 1; round <= 3; round++) {
                Sql.run(postgres, "INSERT INTO work VALUES (" + round + ")");
                postgres.kill();
                assertThat(postgres.isRunning()).isFalse();
                assertThat(DataDirectory.isFree(port)).isTrue();
                postgres.restart();
                assertThat(Sql.value(postgres, "SELECT count(*) FROM work")).isEqualTo("" + round);
            }
            assertThat(postgres.port()).isEqualTo(port);
            assertThat(Files.readString(postgres.logFile())).contains("database system was not properly shut down");
            assertThat(Sql.value(postgres, "SHOW synchronous_commit")).isEqualTo("on");
            assertThat(Sql.value(postgres, "SHOW full_page_writes")).isEqualTo("on");
            assertThat(Sql.value(postgres, "SHOW fsync")).isEqualTo("on");
        }
    }

    @Test
    void killEndsBusySessionsToo() throws Exception {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
            Thread busy = new Thread(() -> {
                try {
                    Sql.run(postgres, "SELECT pg_sleep(60)");
                } catch (SQLException expected) {
                    // The connection ends with the server.
                }
            });
            busy.start();
            Await.until(Duration.ofSeconds(5), () -> isSleeping(postgres));
            postgres.kill();
            busy.join(5_000);
            assertThat(busy.isAlive()).isFalse();
            postgres.restart();
            assertThat(postgres.isRunning()).isTrue();
        }
    }

    @Test
    void settingsAreApplied() throws Exception {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(
                Options.defaults().withSetting("work_mem", "7MB").withSetting("max_connections", "33"))) {
            assertThat(Sql.value(postgres, "SHOW work_mem")).isEqualTo("7MB");
            assertThat(Sql.value(postgres, "SHOW max_connections")).isEqualTo("33");
            assertThat(Sql.value(postgres, "SHOW fsync")).isEqualTo("off");
            assertThat(Sql.value(postgres, "SHOW listen_addresses")).isEqualTo("127.0.0.1");
            assertThat(Sql.value(postgres, "SHOW unix_socket_directories")).isEmpty();
        }
    }

    @Test
    void badSettingIsReportedWithTheServersWords() {
        assertThatThrownBy(() -> EmbeddedPostgres.start(Options.defaults().withSetting("no_such_setting", "1")))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("did not start")
                .hasMessageContaining("unrecognized configuration parameter \"no_such_setting\"");
    }

    @Test
    void closeStopsTheServerAndDeletesTemporaryData() {
        EmbeddedPostgres postgres = EmbeddedPostgres.start();
        Path directory = postgres.logFile().getParent();
        long pid = postgres.pid();
        assertThat(directory).isNotEmptyDirectory();

        postgres.close();
        postgres.close();

        assertThat(directory).doesNotExist();
        assertThat(ProcessHandle.of(pid).filter(handle -> !Processes.isGone(handle)))
                .isEmpty();
        assertThat(postgres.isRunning()).isFalse();
        assertThatThrownBy(postgres::restart).hasMessageContaining("closed");
    }

    @Test
    void interruptedThreadCanStillClose() {
        EmbeddedPostgres postgres = EmbeddedPostgres.start();
        Thread.currentThread().interrupt();
        try {
            postgres.close();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(postgres.logFile()).doesNotExist();
    }

    @Test
    void serverOutlivesTheThreadThatStartedIt() throws Exception {
        FutureTask<EmbeddedPostgres> start = new FutureTask<>(EmbeddedPostgres::start);
        Thread starter = new Thread(start);
        starter.start();
        starter.join();
        Thread.sleep(300);
        try (EmbeddedPostgres postgres = start.get()) {
            assertThat(Sql.value(postgres, "SELECT 1")).isEqualTo("1");
        }
    }

    @Test
    void serverRunsInASessionOfItsOwnSoThatCtrlCDoesNotReachIt() throws Exception {
        assumeTrue(!Wrappers.SESSION.isEmpty());
        long pid = EmbeddedPostgres.shared().pid();

        assertThat(processGroup(pid)).isEqualTo(Long.toString(pid));
        assertThat(ProcessHandle.of(pid).flatMap(ProcessHandle::parent)).contains(ProcessHandle.current());
    }

    @Test
    void takenPortIsRefusedClearly() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Options options = Options.defaults().withPort(taken.getLocalPort());
            assertThatThrownBy(() -> EmbeddedPostgres.start(options))
                    .isInstanceOf(EmbeddedPostgresException.class)
                    .hasMessageContaining("port " + taken.getLocalPort() + " is taken");
        }
    }

    @Test
    void impossiblePortIsRefused() {
        assertThatThrownBy(() -> Options.defaults().withPort(70_000)).hasMessageContaining("got: 70000");
    }

    private static boolean isSleeping(EmbeddedPostgres postgres) {
        try {
            return Sql.value(postgres, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
                    .equals("1");
        } catch (SQLException e) {
            return false;
        }
    }

    private static String processGroup(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[2];
    }
}
