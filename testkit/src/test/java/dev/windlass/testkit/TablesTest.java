package dev.windlass.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class TablesTest {
    private static final DataSource DATABASE = EmbeddedPostgres.shared().dataSource();

    @BeforeEach
    void create() throws SQLException {
        execute("""
                create schema tables_test;
                create table tables_test.used (id bigint primary key);
                create table tables_test.unused (id bigint primary key)""");
    }

    @AfterEach
    void drop() throws SQLException {
        execute("drop schema tables_test cascade");
    }

    @Test
    void onlyTablesThatWereWrittenToGetNewFiles() throws SQLException {
        execute("insert into tables_test.used values (1)");
        long used = file("used");
        long unused = file("unused");
        empty();
        assertThat(rows("used")).isZero();
        assertThat(file("used")).isNotEqualTo(used);
        assertThat(file("unused")).isEqualTo(unused);
    }

    @Test
    void aTableIsEmptiedTogetherWithThoseThatReferToIt() throws SQLException {
        execute("""
                create table tables_test."far away" (id bigint primary key references tables_test.used);
                create table tables_test.farther (id bigint references tables_test."far away");
                insert into tables_test.used values (1), (2);
                insert into tables_test."far away" values (1)""");
        empty();
        assertThat(rows("used")).isZero();
        assertThat(rows("\"far away\"")).isZero();
    }

    @Test
    void allPartitionsAreEmptied() throws SQLException {
        execute("""
                create table tables_test.parted (id bigint) partition by range (id);
                create table tables_test.low partition of tables_test.parted for values from (0) to (9);
                create table tables_test.high partition of tables_test.parted for values from (9) to (99);
                insert into tables_test.parted values (1), (10)""");
        empty();
        assertThat(rows("parted")).isZero();
    }

    @Test
    void whatAnOpenTransactionWritesIsWaitedForAndEmptied() throws Exception {
        try (Connection writer = DATABASE.getConnection();
                Statement statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("select from tables_test.used");
            CompletableFuture<Void> emptied = CompletableFuture.runAsync(TablesTest::empty);
            await().until(() ->
                    value("select count(*) from pg_locks where relation = 'tables_test.used'::regclass and not granted")
                            == 1);
            statement.execute("insert into tables_test.used values (1)");
            writer.commit();
            emptied.get(30, TimeUnit.SECONDS);
        }
        assertThat(rows("used")).isZero();
    }

    private static void empty() {
        Sql.inTransaction(DATABASE, "empty the tables", connection -> {
            Tables.of(connection, "tables_test").empty(connection);
            return true;
        });
    }

    private static long rows(String table) throws SQLException {
        return value("select count(*) from tables_test." + table);
    }

    private static long file(String table) throws SQLException {
        return value("select pg_relation_filenode('tables_test." + table + "')");
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = DATABASE.getConnection()) {
            Sql.execute(connection, sql);
        }
    }

    private static long value(String sql) throws SQLException {
        try (Connection connection = DATABASE.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
