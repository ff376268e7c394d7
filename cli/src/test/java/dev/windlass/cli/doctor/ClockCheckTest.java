package dev.windlass.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Machines whose clocks are wrong. */
final class ClockCheckTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();

    @Test
    void aClockThatIsFarOffIsAWarningInEitherDirection() throws SQLException {
        assertThat(found(Duration.ZERO).verdict()).isEqualTo(Verdict.OK);
        for (int minutes : new int[] {-10, 10}) {
            Finding wrong = found(Duration.ofMinutes(minutes));
            assertThat(wrong.verdict()).isEqualTo(Verdict.WARNING);
            assertThat(wrong.said()).matches(".* differ by (600|599|601)\\.\\d s");
            assertThat(wrong.remedy()).contains("time server");
        }
    }

    private static Finding found(Duration off) throws SQLException {
        Findings findings = new Findings("clock");
        try (Connection connection = SERVER.dataSource().getConnection()) {
            new ClockCheck(Clock.offset(Clock.systemUTC(), off))
                    .look(
                            new Patient(SERVER.dataSource(), connection, "windlass", List.of(), Duration.ofMinutes(5)),
                            findings);
        }
        return findings.all().get(0);
    }
}
