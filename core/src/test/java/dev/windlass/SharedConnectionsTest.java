package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Three connections for four databases. */
final class SharedConnectionsTest {
    private static final int MOST = 3;
    private static final int DATABASES = 4;

    @RegisterExtension
    static final TestStores databases = new TestStores("shared", DATABASES);

    private final SharedConnections connections = SharedConnections.atMost(MOST);
    private final List<DataSource> sources = new ArrayList<>();

    SharedConnectionsTest() {
        for (int i = 0; i < DATABASES; i++) {
            sources.add(connections.to(databases.source(databases.id(i))));
        }
    }

    @AfterEach
    void close() {
        connections.close();
    }

    private static String ask(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    private static final String WHERE = "select current_database()";
    private static final String WHO = "select pg_backend_pid()::text";

    @Test
    void whoComesNextFindsTheNetworkTimeOutOfTheDataSource() throws SQLException {
        PGSimpleDataSource patient = (PGSimpleDataSource) databases.source(databases.id(0));
        patient.setSocketTimeout(7);
        DataSource source = connections.to(patient);
        for (int i = 0; i < 2; i++) {
            try (Connection connection = source.getConnection()) {
                assertThat(connection.getNetworkTimeout()).isEqualTo(7000);
                connection.setNetworkTimeout(Runnable::run, 1000);
            }
        }
    }

    @Test
    void whoClosesTheDataSourceOfADatabaseClosesWhatNobodyUsesThere() throws Exception {
        try (Connection used = sources.get(0).getConnection();
                Connection other = sources.get(1).getConnection()) {
            try (Connection idle = sources.get(0).getConnection()) {
                assertThat(ask(idle, WHERE)).isEqualTo(databases.id(0));
            }
            assertThat(connections.open()).isEqualTo(3);

            ((AutoCloseable) sources.get(0)).close();
            assertThat(connections.open()).isEqualTo(2);
            assertThat(ask(used, WHERE)).isEqualTo(databases.id(0));
            assertThat(ask(other, WHERE)).isEqualTo(databases.id(1));
        }
    }

    @Test
    void aConnectionIsUsedAgainForItsOwnDatabaseAndMakesRoomForAnother() throws SQLException {
        String first;
        try (Connection connection = sources.get(0).getConnection()) {
            first = ask(connection, WHO);
        }
        try (Connection connection = sources.get(0).getConnection()) {
            assertThat(ask(connection, WHO)).isEqualTo(first);
        }
        for (int i = 0; i < DATABASES; i++) {
            try (Connection connection = sources.get(i).getConnection()) {
                assertThat(ask(connection, WHERE)).isEqualTo(databases.id(i));
            }
        }
        assertThat(connections.open()).isEqualTo(MOST);
    }

    @Test
    void aStoreOfTheSameDatabaseIsTheSameStore() {
        DataSource source = databases.source(databases.id(0));
        assertThat(Store.of("a", connections.to(source))).isEqualTo(Store.of("a", connections.to(source)));
        assertThat(Store.of("a", connections.to(source))).isNotEqualTo(Store.of("a", sources.get(1)));
        assertThat(connections.to(source))
                .isNotEqualTo(SharedConnections.atMost(1).to(source));
        assertThat(connections.to(source).hashCode())
                .isEqualTo(connections.to(source).hashCode());
    }

    @Test
    void whoFindsAllInUseWaitsForOne() throws Exception {
        Connection first = sources.get(0).getConnection();
        Connection second = sources.get(1).getConnection();
        Connection third = sources.get(2).getConnection();
        CompletableFuture<String> fourth = CompletableFuture.supplyAsync(() -> where(sources.get(3)));
        Thread.sleep(50);
        assertThat(fourth).isNotDone();
        second.close();
        assertThat(fourth.get()).isEqualTo(databases.id(3));
        first.close();
        third.close();
        assertThat(connections.open()).isLessThanOrEqualTo(MOST);
    }

    @Test
    void oneDatabaseDoesNotGetAllConnections() throws Exception {
        Connection first = sources.get(0).getConnection();
        Connection second = sources.get(0).getConnection();
        CompletableFuture<String> third = CompletableFuture.supplyAsync(() -> where(sources.get(0)));
        for (int i = 1; i < DATABASES; i++) {
            assertThat(where(sources.get(i))).isEqualTo(databases.id(i));
        }
        assertThat(third).isNotDone();
        second.close();
        assertThat(third.get()).isEqualTo(databases.id(0));
        first.close();
    }

    private static String where(DataSource source) {
        try (Connection connection = source.getConnection()) {
            return ask(connection, WHERE);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whatIsGivenBackAfterItsDataSourceWasClosedIsClosed() throws Exception {
        Connection used = sources.get(0).getConnection();
        ((AutoCloseable) sources.get(0)).close();
        used.close();
        assertThat(connections.open()).isZero();

        assertThat(where(sources.get(0))).isEqualTo(databases.id(0));
        assertThat(connections.open()).as("it may be used again").isEqualTo(1);
    }

    /** A server that accepts connections and says nothing. */
    @Test
    void whoWaitsForALoginCanBeInterruptedAndTheLoginKeepsNoPlace() throws Exception {
        DataSource hangs;
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            hangs = connections.to(databases.source("silent", silent.getLocalPort()));
            CompletableFuture<Throwable> why = new CompletableFuture<>();
            Thread waits = new Thread(() -> why.complete(catchThrowable(hangs::getConnection)));
            waits.start();
            Socket login = silent.accept();
            waits.interrupt();
            assertThat(why.get()).isInstanceOf(SQLException.class).hasMessageContaining("interrupted");
            assertThat(connections.open()).isZero();
            assertThatThrownBy(hangs::getConnection).hasMessageContaining("does not answer logins");
            assertThat(where(sources.get(0))).isEqualTo(databases.id(0));
            login.close();
        }
        eventually()
                .until(() ->
                        String.valueOf(catchThrowable(hangs::getConnection)).contains("refused"));
    }

    @Test
    void whatSomebodyLeavesBehindIsNotFoundByTheNext() throws SQLException {
        try (Connection connection = sources.get(0).getConnection()) {
            connection.setAutoCommit(false);
            connection.setNetworkTimeout(Runnable::run, 1234);
            ask(connection, "select 1");
        }
        String altered;
        try (Connection connection = sources.get(0).getConnection()) {
            assertThat(connection.getAutoCommit()).isTrue();
            assertThat(connection.getNetworkTimeout()).isZero();
            connection.setReadOnly(true);
            altered = ask(connection, WHO);
        }
        try (Connection connection = sources.get(0).getConnection()) {
            assertThat(ask(connection, WHO)).isNotEqualTo(altered);
            assertThat(connection.isReadOnly()).isFalse();
        }
    }

    @Test
    void aConnectionThatBrokeIsReplacedAndCountsNoMore() throws Exception {
        try (Connection connection = sources.get(0).getConnection()) {
            String broken = ask(connection, WHO);
            try (Connection other = sources.get(1).getConnection()) {
                ask(other, "select pg_terminate_backend(" + broken + ")::text");
            }
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            ask(connection, "select 1");
                        }
                    })
                    .isInstanceOf(SQLException.class);
        }
        eventually().until(() -> connections.open() == 1);
        try (Connection connection = sources.get(0).getConnection()) {
            assertThat(ask(connection, WHERE)).isEqualTo(databases.id(0));
            connection.abort(Runnable::run);
        }
        assertThatThrownBy(() ->
                        connections.to(databases.source("no such database")).getConnection())
                .isInstanceOf(SQLException.class);
        assertThat(connections.open()).isEqualTo(1);
    }

    @Test
    void aConnectionThatWasGivenBackIsOfNoMoreUse() throws SQLException {
        Connection connection = sources.get(0).getConnection();
        connection.close();
        connection.close();
        assertThat(connection.isClosed()).isTrue();
        assertThatThrownBy(connection::createStatement).hasMessageContaining("has been closed");
        assertThat(connections.open()).isEqualTo(1);
    }

    @Test
    void manyThreadsNeverHaveMoreThanAllowedNorTheConnectionOfAnotherDatabase() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        List<Future<?>> all = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            all.add(threads.submit(() -> {
                for (int i = 0; i < 100; i++) {
                    int number = ThreadLocalRandom.current().nextInt(DATABASES);
                    try (Connection connection = sources.get(number).getConnection()) {
                        assertThat(ask(connection, WHERE)).isEqualTo(databases.id(number));
                        assertThat(connections.open()).isLessThanOrEqualTo(MOST);
                    }
                }
                return null;
            }));
        }
        for (Future<?> each : all) {
            each.get();
        }
        threads.shutdown();
        assertThat(connections.open()).isLessThanOrEqualTo(MOST);
        connections.close();
        assertThat(connections.open()).isZero();
    }
}
