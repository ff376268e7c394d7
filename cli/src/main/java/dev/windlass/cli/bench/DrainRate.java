package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/** How fast a node handles messages that are already there, through the public API, until the last outcome is written. */
final class DrainRate {
    private static final int PARTS = 10;

    private final Bench bench;
    private final int messages;
    private final AtomicInteger written = new AtomicInteger();
    private final AtomicLongArray reached = new AtomicLongArray(PARTS + 1);
    private final CountDownLatch all = new CountDownLatch(1);

    /**
     * Messages a second.
     *
     * @param whole over the whole drain
     * @param lastToFirst how fast the last tenth was, as a part of the first
     */
    record Rate(double whole, double lastToFirst) {}

    private DrainRate(Bench bench, int messages) {
        this.bench = bench;
        this.messages = messages;
    }

    static Rate measure(Bench bench, int messages) throws InterruptedException {
        return new DrainRate(bench, messages).run();
    }

    /** The same while another session holds a snapshot, as a report or a backup does. */
    static Rate measureUnderSnapshot(Bench bench, int messages) throws InterruptedException, SQLException {
        try (Connection report = bench.pool.getConnection();
                Statement statement = report.createStatement()) {
            report.setAutoCommit(false);
            report.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            statement.execute("select count(*) from pg_class");
            Rate rate = measure(bench, messages);
            report.rollback();
            return rate;
        }
    }

    private Rate run() throws InterruptedException {
        WindlassListener listener = event -> {
            if (event instanceof WindlassEvent.Settled settled) {
                note(written.addAndGet(settled.messages()));
            }
        };
        reached.set(0, System.nanoTime());
        try (Windlass windlass = bench.builder()
                .listener(listener)
                .outboxHandler(Bench.TOPIC, message -> {})
                .start()) {
            if (!windlass.isRunning() || !all.await(30, TimeUnit.MINUTES)) {
                throw new IllegalStateException("expected " + messages + " messages, got " + written.get());
            }
        }
        double seconds = (reached.get(PARTS) - reached.get(0)) / 1e9;
        return new Rate(messages / seconds, (double) part(1) / part(PARTS));
    }

    private void note(int count) {
        long now = System.nanoTime();
        for (int part = 1; part <= PARTS && count >= (long) messages * part / PARTS; part++) {
            reached.compareAndSet(part, 0, now);
        }
        if (count >= messages) {
            all.countDown();
        }
    }

    private long part(int number) {
        return Math.max(1, reached.get(number) - reached.get(number - 1));
    }
}
