package dev.windlass.cli.doctor;

import dev.windlass.internal.database.Dialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Whether notifications arrive, by one that another connection sends, as nodes find out. They do not behind a pooler that gives each
 * transaction another connection: it has no connection on which to tell. What a connection sends to itself would arrive even there.
 */
final class ListenCheck implements Check {
    private static final int SLICE_MILLIS = 100;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(2);

    @Override
    public String name() {
        return "notifications";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        String channel = "windlass.doctor." + UUID.randomUUID();
        Dialect.Subscription subscription = Patient.dialect().listen(patient.connection());
        subscription.add(channel);
        try (Connection other = patient.dataSource().getConnection()) {
            Patient.dialect().send(other, channel, "proof");
        }
        AtomicBoolean heard = new AtomicBoolean();
        long start = System.nanoTime();
        while (!heard.get() && System.nanoTime() - start < PATIENCE) {
            subscription.await(SLICE_MILLIS, (on, text) -> heard.compareAndSet(false, on.equals(channel)));
        }
        Patient.dialect().endListening(patient.connection());
        if (heard.get()) {
            findings.ok("nodes can wake each other");
        } else {
            findings.warning(
                    "notifications do not arrive, as behind a pooler in transaction mode; nodes poll every second instead",
                    "Give programs a direct connection beside the pooler, with backgroundDataSource.");
        }
    }
}
