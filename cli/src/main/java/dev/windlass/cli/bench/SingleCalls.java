package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxOptions;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Calls that are made one by one, each beside a bare upsert of one row by the same driver; all in turn in every round. */
public abstract class SingleCalls {
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

    /** Something to measure. */
    record Call(String name, Step step) {}

    @FunctionalInterface
    interface Step {
        void run() throws Exception;
    }

    SingleCalls(PrintWriter out, Settings settings) {
        this.out = out;
        this.settings = settings;
    }

    abstract List<Call> calls(Windlass windlass);

    /** Of the row for the next bare upsert. */
    abstract String nextName();

    public final void run(String url, @Nullable String user, @Nullable String password) throws Exception {
        try (Bench bench = new Bench(url, user, password, OutboxOptions.defaults())) {
            bench.execute(
                    "create table windlass_bench.bare (name text primary key, holder uuid, expires_at timestamptz)"
                            + " with (fillfactor = 50)");
            try (Windlass windlass = bench.builder()
                    .options(Bench.options().withBackgroundWorkers(false))
                    .start()) {
                measure(bench, calls(windlass));
            }
        }
    }

    private void measure(Bench bench, List<Call> calls) throws Exception {
        double[] bare = new double[settings.rounds()];
        double[][] micros = new double[calls.size()][settings.rounds()];
        for (int round = -1; round < settings.rounds(); round++) {
            int slot = Math.max(0, round); // the first time is for warming up
            bare[slot] = timed(() -> upsert(bench));
            for (int i = 0; i < calls.size(); i++) {
                micros[i][slot] = timed(calls.get(i).step());
            }
        }
        say("%,d times in each of %d rounds, one after another; medians", settings.times(), settings.rounds());
        say("  %-34s %,8.0f µs", "bare upsert of one row", Bench.median(bare));
        for (int i = 0; i < calls.size(); i++) {
            double median = Bench.median(micros[i]);
            say("  %-34s %,8.0f µs   %.2f times an upsert", calls.get(i).name(), median, median / Bench.median(bare));
        }
    }

    /** Microseconds for each time. */
    private double timed(Step step) throws Exception {
        long start = System.nanoTime();
        for (int i = 0; i < settings.times(); i++) {
            step.run();
        }
        return (System.nanoTime() - start) / 1e3 / settings.times();
    }

    private void upsert(Bench bench) throws SQLException {
        try (Connection connection = bench.pool.getConnection();
                PreparedStatement upsert = connection.prepareStatement(UPSERT)) {
            upsert.setString(1, nextName());
            upsert.executeUpdate();
        }
    }

    private void say(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
        out.flush();
    }
}
