package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.lease.Lease;
import dev.windlass.outbox.OutboxOptions;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Leases: acquiring and releasing, and being refused, each beside a bare upsert of one row by the same driver. */
public final class LeaseBench {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final String UPSERT = """
            insert into windlass_bench.bare (name, holder, expires_at)
            values (?, gen_random_uuid(), clock_timestamp() + interval '30 s')
            on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
            """;

    private final PrintWriter out;
    private final Settings settings;

    /** What to measure. */
    public record Settings(int times, int rounds) {

        public Settings {
            if (times < 1 || rounds < 1) {
                throw new IllegalArgumentException(
                        "expected to measure at least once in at least 1 round, got " + times + " and " + rounds);
            }
        }
    }

    public LeaseBench(PrintWriter out, Settings settings) {
        this.out = out;
        this.settings = settings;
    }

    public void run(String url, @Nullable String user, @Nullable String password) throws SQLException {
        try (Bench bench = new Bench(url, user, password, OutboxOptions.defaults())) {
            bench.execute(
                    "create table windlass_bench.bare (name text primary key, holder uuid, expires_at timestamptz)"
                            + " with (fillfactor = 50)");
            try (Windlass windlass = bench.builder()
                    .options(Bench.options().withBackgroundWorkers(false))
                    .start()) {
                measure(bench, windlass);
            }
        }
    }

    private void measure(Bench bench, Windlass windlass) throws SQLException {
        double[][] micros = new double[3][settings.rounds()];
        for (int round = -1; round < settings.rounds(); round++) {
            int slot = Math.max(0, round); // the first time is for warming up
            micros[0][slot] = timed(() -> upsert(bench));
            micros[1][slot] = timed(() -> acquireAndRelease(windlass));
            try (Lease held = windlass.leases().tryAcquire("held", LEASE).orElseThrow()) {
                micros[2][slot] = timed(() -> refused(windlass, held.name()));
            }
        }
        double bare = Bench.median(micros[0]);
        say("%,d times in each of %d rounds, one after another; medians", settings.times(), settings.rounds());
        say("  bare upsert of one row    %,8.0f µs", bare);
        say(
                "  acquire and release       %,8.0f µs   %.2f times an upsert",
                Bench.median(micros[1]), Bench.median(micros[1]) / bare);
        say(
                "  an acquisition refused    %,8.0f µs   %.2f times an upsert",
                Bench.median(micros[2]), Bench.median(micros[2]) / bare);
    }

    @FunctionalInterface
    private interface Step {
        void run() throws SQLException;
    }

    /** Microseconds for each time. */
    private double timed(Step step) throws SQLException {
        long start = System.nanoTime();
        for (int i = 0; i < settings.times(); i++) {
            step.run();
        }
        return (System.nanoTime() - start) / 1e3 / settings.times();
    }

    private static void upsert(Bench bench) throws SQLException {
        try (Connection connection = bench.pool.getConnection();
                PreparedStatement upsert = connection.prepareStatement(UPSERT)) {
            upsert.setString(1, "bench");
            upsert.executeUpdate();
        }
    }

    private static void acquireAndRelease(Windlass windlass) {
        windlass.leases().tryAcquire("bench", LEASE).orElseThrow().close();
    }

    private static void refused(Windlass windlass, String name) {
        if (windlass.leases().tryAcquire(name, LEASE).isPresent()) {
            throw new IllegalStateException("expected lease " + name + " to be held, got it");
        }
    }

    private void say(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
        out.flush();
    }
}
