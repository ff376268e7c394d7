package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import dev.windlass.operator.TopicLimit;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkOptions;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Items of the work queue that do nothing, claimed and completed by one node: in several ways, each beside the outbox's drain. */
public final class WorkBench {
    private static final int WARM_UP = 2;
    private static final int KEYS = 200;
    private static final int PER_KEY = 10;
    private static final int AT_ONCE = 1000;

    private final PrintWriter out;
    private final int items;
    private final int payload;
    private final int batch;
    private final int rounds;

    /** What is measured, and what is aimed at, as a part of the outbox's drain. */
    private record Way(String told, double aim, String priority, String key, TopicLimit limit) {}

    private static final Way OUTBOX = new Way("messages of the outbox", 1, "4", "null", TopicLimit.none());
    private static final String A_KEY = "'key ' || i % " + KEYS;

    private static final List<Way> WAYS = List.of(
            OUTBOX,
            new Way("items without more", 0.9, "4", "null", TopicLimit.none()),
            new Way("items of ten priorities", 0.85, "i % 10", "null", TopicLimit.none()),
            new Way(
                    "in a queue of which " + AT_ONCE + " may run",
                    0.6,
                    "4",
                    "null",
                    TopicLimit.none().withRunning(AT_ONCE)),
            new Way("under " + KEYS + " keys", 0.6, "4", A_KEY, TopicLimit.none()),
            new Way(
                    "of each key " + PER_KEY + " may run",
                    0.6,
                    "4",
                    A_KEY,
                    TopicLimit.none().withPerKey(PER_KEY)));

    public WorkBench(PrintWriter out, int items, int payload, int batch, int rounds) {
        if (items < 1 || payload < 0 || batch < 1 || rounds < 1) {
            throw new IllegalArgumentException("expected positive numbers, got " + items + " items of " + payload
                    + " bytes, batches of " + batch + " and " + rounds + " rounds");
        }
        this.out = out;
        this.items = items;
        this.payload = payload;
        this.batch = batch;
        this.rounds = rounds;
    }

    public void run(String url, @Nullable String user, @Nullable String password) throws Exception {
        OutboxOptions options = OutboxOptions.defaults().withBatchSize(batch);
        try (Bench bench = new Bench(url, user, password, options)) {
            out.printf(Locale.ROOT, "%,d that do nothing, %d bytes each, batches of %d%n", items, payload, batch);
            double[][] rates = new double[WAYS.size()][rounds];
            for (int round = -WARM_UP; round < rounds; round++) {
                out.printf("round %d of %d, a second:", round + WARM_UP + 1, rounds + WARM_UP);
                for (Way way : WAYS) {
                    double rate = rate(bench, way);
                    rates[WAYS.indexOf(way)][Math.max(0, round)] = rate;
                    out.printf(Locale.ROOT, " %,.0f", rate);
                    out.flush();
                }
                out.println();
            }
            double outbox = Bench.median(rates[0]);
            for (Way way : WAYS) {
                double rate = Bench.median(rates[WAYS.indexOf(way)]);
                out.printf(
                        Locale.ROOT,
                        "%-40s %,9.0f /s  %5.2f of the outbox (aim %.2f)%n",
                        way.told(),
                        rate,
                        rate / outbox,
                        way.aim());
            }
            out.flush();
        }
    }

    private double rate(Bench bench, Way way) throws Exception {
        fill(bench, way);
        AtomicInteger written = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(1);
        WindlassListener listener = event -> {
            if (event instanceof WindlassEvent.Settled settled && written.addAndGet(settled.messages()) >= items) {
                all.countDown();
            }
        };
        long start = System.nanoTime();
        try (Windlass windlass = bench.builder()
                .work(WorkOptions.defaults().withBatchSize(batch))
                .listener(listener)
                .outboxHandler(Bench.TOPIC, message -> {})
                .workHandler(Bench.TOPIC, "type", (WorkItem item) -> {})
                .start()) {
            if (!windlass.isRunning() || !all.await(30, TimeUnit.MINUTES)) {
                throw new IllegalStateException("expected " + items + " outcomes, got " + written.get());
            }
            return items / ((System.nanoTime() - start) / 1e9);
        }
    }

    private void fill(Bench bench, Way way) throws Exception {
        bench.empty();
        bench.execute("truncate windlass_bench.work, windlass_bench.windlass_topic, windlass_bench.windlass_start");
        if (way.equals(OUTBOX)) {
            bench.fill(items, payload);
            return;
        }
        try (Windlass windlass = bench.builder().start()) {
            windlass.workQueue().operator("bench").limit(Bench.TOPIC, way.limit());
        }
        bench.execute("select windlass_bench.work_enqueue_all(null, array_agg('" + Bench.TOPIC
                + "'::text), array_agg('type'::text), array_agg(repeat('x', " + payload + ")), array_agg("
                + way.priority()
                + "), p_turn_keys => array_agg((" + way.key() + ")::text)) from generate_series(1, " + items
                + ") as i");
        bench.execute("vacuum analyze windlass_bench.work");
        bench.execute("checkpoint");
    }
}
