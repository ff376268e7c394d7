package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BenchTimersCommandTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();

    private static Ran bench(String... arguments) {
        List<String> all =
                new ArrayList<>(List.of("bench", "timers", "--url", SERVER.jdbcUrl(), "--user", SERVER.user()));
        all.addAll(List.of(arguments));
        return Ran.windlass(all.toArray(String[]::new));
    }

    @Test
    void theBenchmarkRuns() {
        Ran ran = bench("--timers", "1000", "--rounds", "1", "--seconds", "0", "--pending", "10");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out())
                .contains("schedule many in a call", "hand-off of due timers", "with 10", "handler started");
    }

    @Test
    void whatCannotBeMeasuredIsRefused() {
        Ran ran = bench("--timers", "1");
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.err()).contains("expected at least 1,000 timers");
    }
}
