package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.time.Duration;

/** How far away the database is: each claim and each ack is a round trip. */
final class RoundTripCheck implements Check {
    private static final Duration FAR = Duration.ofMillis(50);
    private static final int TRIES = 5;

    @Override
    public String name() {
        return "connection";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < TRIES; i++) {
            long start = System.nanoTime();
            patient.one("select 1", row -> row.getInt(1));
            best = Math.min(best, System.nanoTime() - start);
        }
        String said = "a round trip takes %.1f ms".formatted(best / 1e6);
        if (best > FAR.toNanos()) {
            findings.warning(said, "Run programs nearer to the database: each claim and each ack is a round trip.");
        } else {
            findings.ok(said);
        }
    }
}
