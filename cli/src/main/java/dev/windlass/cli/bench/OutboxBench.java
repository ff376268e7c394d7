package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The outbox: draining, enqueuing and latency, each beside its yardstick. */
public final class OutboxBench {
    private static final int WARM_UP = 300_000;
    private static final int KEYS = 1000;
    private static final int[] SESSIONS = {1, 2, 3};
    private static final int[] BATCHES = {100, 500, 1000};

    private final PrintWriter out;
    private final Settings settings;

    /** What there is to measure. */
    public enum Part {
        DRAIN,
        ENQUEUE,
        LATENCY
    }

    /**
     * What to measure.
     *
     * @param openSnapshot whether to drain once more while another session holds a snapshot
     * @param parts which of it
     */
    public record Settings(Load load, boolean openSnapshot, Set<Part> parts) {}

    public OutboxBench(PrintWriter out, Settings settings) {
        this.out = out;
        this.settings = settings;
    }

    public void run(String url, @Nullable String user, @Nullable String password) throws Exception {
        try (Bench bench = new Bench(url, user, password, settings.load().outbox())) {
            say(
                    "%,d messages of %,d bytes, batches of %,d, %d rounds, handled messages are %s",
                    settings.load().messages(),
                    settings.load().payloadBytes(),
                    settings.load().batchSize(),
                    settings.load().rounds(),
                    settings.load().keep() ? "kept" : "deleted");
            say("%s, %d processors", server(bench), Runtime.getRuntime().availableProcessors());
            say("");
            if (settings.parts().contains(Part.DRAIN)) {
                drain(bench);
            }
            if (settings.parts().contains(Part.ENQUEUE)) {
                enqueue(bench);
            }
            if (settings.parts().contains(Part.LATENCY)) {
                latency(bench, url, user, password);
            }
        }
    }

    private void drain(Bench bench) throws Exception {
        say(
                "drain of no-op messages, against the same claim and ack in a stored procedure (best of sessions x batches)");
        double[] limits = new double[settings.load().rounds()];
        double[] rates = new double[settings.load().rounds()];
        int[] best = bestLimit(bench);
        warmUp(bench);
        for (int round = 0; round < settings.load().rounds(); round++) {
            limits[round] = limit(bench, best[0], best[1]);
            bench.fill(settings.load().messages(), settings.load().payloadBytes());
            rates[round] = DrainRate.measure(bench, settings.load().messages()).whole();
            say("  round %d   limit %,9.0f/s   windlass %,9.0f/s", round + 1, limits[round], rates[round]);
        }
        say(
                "  median    limit %,9.0f/s   windlass %,9.0f/s   %.0f %%",
                Bench.median(limits), Bench.median(rates), 100 * Bench.median(rates) / Bench.median(limits));
        keyed(bench);
        if (settings.openSnapshot()) {
            bench.fill(settings.load().messages(), settings.load().payloadBytes());
            DrainRate.Rate rate =
                    DrainRate.measureUnderSnapshot(bench, settings.load().messages());
            say(
                    "  with a snapshot held open elsewhere    windlass %,9.0f/s   %.0f %% of the median above; the last tenth"
                            + " %.0f %% as fast as the first",
                    rate.whole(), 100 * rate.whole() / Bench.median(rates), 100 * rate.lastToFirst());
        }
        say("");
    }

    /** The same messages under ordering keys, each round beside one without. */
    private void keyed(Bench bench) throws Exception {
        double[] plain = new double[settings.load().rounds()];
        double[] keyed = new double[settings.load().rounds()];
        for (int round = -1; round < settings.load().rounds(); round++) {
            int slot = Math.max(0, round); // the first time is for warming up
            bench.fill(settings.load().messages(), settings.load().payloadBytes());
            plain[slot] = DrainRate.measure(bench, settings.load().messages()).whole();
            bench.fill(settings.load().messages(), settings.load().payloadBytes(), KEYS);
            keyed[slot] = DrainRate.measure(bench, settings.load().messages()).whole();
        }
        say(
                "  under %,d ordering keys    without %,9.0f/s   with %,9.0f/s   %.0f %%",
                KEYS, Bench.median(plain), Bench.median(keyed), 100 * Bench.median(keyed) / Bench.median(plain));
    }

    /** The server has been warmed up by the search for its limit; the JVM compiles for some seconds of work. */
    private void warmUp(Bench bench) throws Exception {
        for (int drained = 0; drained < WARM_UP; drained += settings.load().messages()) {
            bench.fill(settings.load().messages(), settings.load().payloadBytes());
            DrainRate.measure(bench, settings.load().messages());
        }
    }

    private int[] bestLimit(Bench bench) throws Exception {
        int[] best = {1, 100};
        double highest = 0;
        for (int sessions : SESSIONS) {
            for (int batch : BATCHES) {
                double rate = limit(bench, sessions, batch);
                if (rate > highest) {
                    highest = rate;
                    best = new int[] {sessions, batch};
                }
            }
        }
        say("  the limit uses %d sessions and batches of %d", best[0], best[1]);
        return best;
    }

    private double limit(Bench bench, int sessions, int batch) throws Exception {
        bench.fill(settings.load().messages(), settings.load().payloadBytes());
        return ServerLimit.drain(bench, settings.load().messages(), sessions, batch);
    }

    private void enqueue(Bench bench) throws SQLException {
        say("enqueue in the caller's transaction, 1,000 messages in each, against bare INSERTs of the same row");
        EnqueueRate rate = new EnqueueRate(
                bench, settings.load().messages(), settings.load().payloadBytes());
        double[][] rates = new double[6][settings.load().rounds()];
        try (Windlass writer = rate.writer()) {
            for (int round = -1; round < settings.load().rounds(); round++) {
                int slot = Math.max(0, round); // the first time is for warming up
                rates[0][slot] = rate.bareSingle();
                rates[1][slot] = rate.single(writer.outbox());
                rates[2][slot] = rate.bareBatch();
                rates[3][slot] = rate.many(writer.outbox());
                rates[4][slot] = rate.singleOnce(writer.outbox());
                rates[5][slot] = rate.manyOnce(writer.outbox());
            }
        }
        compare("one by one", "INSERT", rates[0], rates[1]);
        compare("many in a call", "JDBC batch", rates[2], rates[3]);
        cost("one by one", rates[1], rates[4]);
        cost("many in a call", rates[3], rates[5]);
        say("");
    }

    private void compare(String what, String yardstick, double[] bare, double[] windlass) {
        say(
                "  %-16s %-10s %,9.0f/s   windlass %,9.0f/s   %.0f %%",
                what,
                yardstick,
                Bench.median(bare),
                Bench.median(windlass),
                100 * Bench.median(windlass) / Bench.median(bare));
    }

    private void cost(String what, double[] plain, double[] once) {
        say(
                "  %-16s with a deduplication key %,9.0f/s   %.2f times the cost of one without",
                what, Bench.median(once), Bench.median(plain) / Bench.median(once));
    }

    private void latency(Bench bench, String url, @Nullable String user, @Nullable String password) throws Exception {
        say("from the caller's commit to the start of the handler, 50 messages a second");
        say("  this process, inTransaction   %s", new Latency(bench, 500, 50).sameProcess());
        say("  this process, own commit      %s", new Latency(bench, 500, 50).sameProcessOwnCommit());
        say("  another process               %s", new Latency(bench, 500, 50).otherProcess(url, user, password));
    }

    private static String server(Bench bench) throws SQLException {
        try (Connection connection = bench.pool.getConnection()) {
            return BenchServer.describe(connection);
        }
    }

    private void say(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
        out.flush();
    }
}
