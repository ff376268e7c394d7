package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.join.FollowUp;
import dev.windlass.join.JoinEntry;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.io.PrintWriter;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A join of many members, beside the same messages without it: written in one call, handled, and followed by one. */
public final class JoinsBench {
    private static final String LAST = "last";

    private final PrintWriter out;
    private final int members;
    private final int rounds;

    public JoinsBench(PrintWriter out, int members, int rounds) {
        if (members < 1 || rounds < 1) {
            throw new IllegalArgumentException(
                    "expected at least one member and one round, got " + members + " and " + rounds);
        }
        this.out = out;
        this.members = members;
        this.rounds = rounds;
    }

    public void run(String url, @Nullable String user, @Nullable String password) throws Exception {
        OutboxOptions options = OutboxOptions.defaults().withBatchSize(1000).withHandlers(HandlerOptions.defaults());
        try (Bench bench = new Bench(url, user, password, options)) {
            double[] plain = new double[rounds];
            double[] joined = new double[rounds];
            for (int round = -2; round < rounds; round++) {
                int slot = Math.max(0, round); // the first times are for warming up
                plain[slot] = seconds(bench, false);
                joined[slot] = seconds(bench, true);
            }
            out.printf(
                    Locale.ROOT,
                    "%,d messages written and handled: %.2f s; as members of one join, with what follows: %.2f s, %.2f times%n",
                    members,
                    Bench.median(plain),
                    Bench.median(joined),
                    Bench.median(joined) / Bench.median(plain));
            out.flush();
        }
    }

    private double seconds(Bench bench, boolean join) throws Exception {
        bench.empty();
        CountDownLatch all = new CountDownLatch(members + (join ? 1 : 0));
        try (Windlass windlass = bench.builder()
                .outboxHandler(Bench.TOPIC, message -> all.countDown())
                .outboxHandler(LAST, message -> all.countDown())
                .start()) {
            List<OutboxEntry> steps = Collections.nCopies(members, OutboxEntry.of(Bench.TOPIC, "x".repeat(200)));
            long start = System.nanoTime();
            if (join) {
                windlass.outbox().fanOut(JoinEntry.of(members).withFollowUp(FollowUp.completed(LAST, "")), steps);
            } else {
                windlass.outbox().enqueueAll(steps);
            }
            if (!all.await(10, TimeUnit.MINUTES)) {
                throw new IllegalStateException("expected all messages to be handled, got " + all.getCount() + " less");
            }
            return (System.nanoTime() - start) / 1e9;
        }
    }
}
