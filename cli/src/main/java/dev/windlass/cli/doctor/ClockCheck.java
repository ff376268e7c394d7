package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;

/** How far this machine's clock is from the server's, give or take half a round trip. */
final class ClockCheck implements Check {
    private static final Duration FAR = Duration.ofSeconds(5);

    private final InstantSource clock;

    ClockCheck(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public String name() {
        return "clock";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        Instant before = clock.instant();
        Instant server = patient.one(
                "select clock_timestamp()",
                row -> row.getObject(1, OffsetDateTime.class).toInstant());
        Duration trip = Duration.between(before, clock.instant());
        Duration ahead = Duration.between(before.plus(trip.dividedBy(2)), server);
        String said =
                "this machine's clock and the server's differ by %.1f s".formatted(Math.abs(ahead.toMillis()) / 1000.0);
        if (ahead.abs().minus(trip.dividedBy(2)).compareTo(FAR) > 0) {
            findings.warning(
                    said,
                    "Let both follow a time server. Windlass goes by the server's clock, but due times that programs choose by their own are off by as much.");
        } else {
            findings.ok(said);
        }
    }
}
