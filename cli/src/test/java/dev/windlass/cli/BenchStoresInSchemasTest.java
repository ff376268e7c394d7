package dev.windlass.cli;

import static dev.windlass.cli.BenchStoresCommandTest.bench;
import static dev.windlass.cli.BenchStoresCommandTest.count;
import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** A class of its own: the benchmark waits most of the time, and so both can do it at once. */
final class BenchStoresInSchemasTest {
    @Test
    void theBenchmarkMeasuresSchemasAndDropsThem() throws SQLException {
        Ran ran = bench("--schemas", "--only", "latency,neighbours", "--first-messages", "2");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out())
                .containsPattern("this process, inTransaction +p50 .* p99 ")
                .containsPattern("this process, own commit +p50 .* p99 ")
                .containsPattern("another connection, by SQL +min .* median .* max .* of 2")
                .containsPattern("beside +[\\d,]+ /s +\\d+\\.\\d\\d \\(aim 0\\.90\\)");
        assertThat(count("select count(*) from pg_namespace where nspname ^@ 'windlass_bench_'"))
                .isZero();
    }
}
