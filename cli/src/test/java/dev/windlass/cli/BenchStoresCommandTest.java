package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class BenchStoresCommandTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();

    static Ran bench(String... arguments) {
        List<String> all =
                new ArrayList<>(List.of("bench", "stores", "--url", SERVER.jdbcUrl(), "--user", SERVER.user()));
        all.addAll(List.of(
                "--messages",
                "1000",
                "--rounds",
                "1",
                "--warm-up",
                "0",
                "--stores",
                "1,2",
                "--quiet",
                "1",
                "--connections",
                "20"));
        all.addAll(List.of(arguments));
        return Ran.windlass(all.toArray(String[]::new));
    }

    static long count(String sql) throws SQLException {
        try (Connection connection = SERVER.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static long databases() throws SQLException {
        return count("select count(*) from pg_database where datname ^@ 'windlass_bench_'");
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = SERVER.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @AfterEach
    void dropWhatATestMade() throws SQLException {
        execute("drop database if exists windlass_bench_2");
    }

    @Test
    void theBenchmarkMeasuresDatabasesAndDropsThem() throws SQLException {
        Ran ran = bench("--only", "throughput,idle", "--idle-stores", "3");
        assertThat(ran.err()).isEmpty();
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out())
                .containsPattern("a Windlass on one store.* /s")
                .containsPattern("a fleet of 1 store +[\\d,]+ /s +\\d+\\.\\d\\d \\(aim 0\\.90\\)")
                .containsPattern("a fleet of 2, 90 % of the messages in one +[\\d,]+ /s +\\d+\\.\\d\\d")
                .containsPattern("idle: a fleet of 3 stores")
                .containsPattern("heap after collection .* MB more than before")
                .containsPattern("threads +\\d+ at most")
                .containsPattern("connections +\\d+ at most \\(20 are allowed")
                .containsPattern("transactions +-?[\\d.]+ /s")
                .contains("processor time, client", "processor time, server");
        assertThat(databases()).isZero();
    }

    @Test
    void aDatabaseThatItHasNotMadeIsRefusedAndLeftAlone() throws SQLException {
        execute("create database windlass_bench_2");
        Ran ran = bench("--only", "throughput");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err()).contains("expected no database", "windlass_bench_2", "nothing was touched");
        assertThat(databases()).isOne();
    }

    @Test
    void whatCannotBeMeasuredIsRefused() {
        assertThat(bench("--idle-stores", "0").err()).contains("expected at least 1 idle store");
        assertThat(bench("--stores", "0").err()).contains("expected numbers of stores from 1 on, got [1, 2, 0]");
        assertThat(Ran.windlass("bench", "stores", "--warm-up", "-1").err())
                .contains("expected 0 or more rounds to warm up, got -1");
        assertThat(bench("--only", "nothing").exitCode()).isEqualTo(2);
    }
}
