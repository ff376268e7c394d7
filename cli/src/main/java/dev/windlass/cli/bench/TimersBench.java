package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.Timers;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Timers: writing them and letting them become messages, beside writing messages; how late they are; what they cost at rest. */
public final class TimersBench {
    private static final int PER_TRANSACTION = 1000;
    private static final int LOOKS = 2000;
    private static final Duration LATER = Duration.ofDays(1);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final PrintWriter out;
    private final Settings settings;

    /**
     * What to measure.
     *
     * @param timers how many in each round
     * @param spread over how much time the timers are due whose lateness is measured
     * @param pending how many others wait meanwhile
     */
    public record Settings(int timers, int payloadBytes, int rounds, Duration spread, int pending) {
        public Settings {
            if (timers < PER_TRANSACTION || payloadBytes < 0 || rounds < 1 || pending < 0 || spread.isNegative()) {
                throw new IllegalArgumentException(
                        "expected at least 1,000 timers, a payload of 0 or more bytes, 1 round and 0 or more pending, got "
                                + timers + ", " + payloadBytes + ", " + rounds + " and " + pending);
            }
        }
    }

    public TimersBench(PrintWriter out, Settings settings) {
        this.out = out;
        this.settings = settings;
    }

    public void run(String url, @Nullable String user, @Nullable String password) throws Exception {
        try (Bench bench =
                new Bench(url, user, password, OutboxOptions.defaults().withBatchSize(500))) {
            say("%,d timers of %,d bytes, %d rounds", settings.timers(), settings.payloadBytes(), settings.rounds());
            rates(bench);
            rest(bench);
            lateness(bench);
        }
    }

    private void rates(Bench bench) throws Exception {
        EnqueueRate messages = new EnqueueRate(bench, settings.timers(), settings.payloadBytes());
        double[][] rates = new double[5][settings.rounds()];
        try (Windlass writer = messages.writer()) {
            writer.outbox().operator("bench").pause(Bench.TOPIC, "so that the node that hands off does nothing else");
            for (int round = -1; round < settings.rounds(); round++) {
                int slot = Math.max(0, round); // the first time is for warming up
                rates[0][slot] = messages.single(writer.outbox());
                rates[1][slot] = schedule(bench, writer.timers(), false);
                rates[2][slot] = messages.many(writer.outbox());
                rates[3][slot] = schedule(bench, writer.timers(), true);
                rates[4][slot] = handOff(bench);
            }
            writer.outbox().operator("bench").resume(Bench.TOPIC);
        }
        say("in the caller's transaction, 1,000 in each, against enqueuing messages of the same size in the same way");
        compare("schedule one by one", rates[0], rates[1]);
        compare("schedule many in a call", rates[2], rates[3]);
        compare("hand-off of due timers", rates[2], rates[4]);
        say("");
    }

    private double schedule(Bench bench, Timers timers, boolean many) throws SQLException {
        TimerEntry entry = TimerEntry.of(Bench.TOPIC, "x".repeat(settings.payloadBytes()), LATER);
        List<TimerEntry> entries = Collections.nCopies(PER_TRANSACTION, entry);
        empty(bench);
        bench.execute("checkpoint");
        try (Connection connection = bench.pool.getConnection()) {
            connection.setAutoCommit(false);
            long start = System.nanoTime();
            for (int done = 0; done < settings.timers(); done += PER_TRANSACTION) {
                if (many) {
                    timers.scheduleAll(connection, entries);
                } else {
                    entries.forEach(each -> timers.schedule(connection, each));
                }
                connection.commit();
            }
            return settings.timers() / ((System.nanoTime() - start) / 1e9);
        }
    }

    /** Of the timers that were just written, all due at once, by one node. */
    private double handOff(Bench bench) throws Exception {
        bench.empty();
        bench.execute("update windlass_bench.outbox_timer set next_attempt_at = created_at");
        bench.execute("vacuum analyze windlass_bench.outbox_timer");
        bench.execute("checkpoint");
        long start = System.nanoTime();
        try (Windlass node = bench.builder()
                        .outboxHandler(Bench.TOPIC, message -> {})
                        .start();
                Connection connection = bench.pool.getConnection();
                PreparedStatement left =
                        connection.prepareStatement("select exists (select from windlass_bench.outbox_timer)")) {
            while (node.isRunning() && isTrue(left)) {
                LockSupport.parkNanos(POLL_NANOS);
            }
            return settings.timers() / ((System.nanoTime() - start) / 1e9);
        }
    }

    private static boolean isTrue(PreparedStatement question) throws SQLException {
        try (ResultSet row = question.executeQuery()) {
            return row.next() && row.getBoolean(1);
        }
    }

    private static void empty(Bench bench) throws SQLException {
        bench.execute("truncate windlass_bench.outbox_timer");
    }

    /** What a look for due timers costs that finds none. */
    private void rest(Bench bench) throws SQLException {
        empty(bench);
        look(bench);
        double none = look(bench);
        bench.execute(
                "insert into windlass_bench.outbox_timer (id, created_at, due_at, next_attempt_at, topic, payload)"
                        + " select windlass_bench.windlass_new_id(), now(), now() + n * interval '1 s' + interval '1 day',"
                        + " now() + n * interval '1 s' + interval '1 day', 'later', repeat('x', "
                        + settings.payloadBytes()
                        + ") from generate_series(1, " + settings.pending() + ") n");
        bench.execute("vacuum analyze windlass_bench.outbox_timer");
        look(bench);
        say(
                "a look that finds nothing due: %.0f µs with no timer pending, %.0f µs with %,d",
                none, look(bench), settings.pending());
        say("");
    }

    private static double look(Bench bench) throws SQLException {
        try (Connection connection = bench.pool.getConnection();
                PreparedStatement look =
                        connection.prepareStatement("select * from windlass_bench.outbox_timer_hand_off()")) {
            long start = System.nanoTime();
            for (int i = 0; i < LOOKS; i++) {
                look.executeQuery().close();
            }
            return (System.nanoTime() - start) / 1e3 / LOOKS;
        }
    }

    /** Beside those that are pending. By the database's clock, save for the handlers, who add what they need to learn of it. */
    private void lateness(Bench bench) throws Exception {
        int count = (int) Math.max(1, 10_000 * settings.spread().toMillis() / 1000);
        say("%,d timers spread over %s, one node: how late", count, settings.spread());
        for (int round = -1; round < settings.rounds(); round++) {
            bench.empty();
            bench.execute("checkpoint");
            long[] started = fire(bench, count);
            if (round >= 0) {
                say("  written as messages by the hand-off  %s", percentiles(bench, "created_at"));
                say("  claimed, so committed before that    %s", percentiles(bench, "claimed_at"));
                say("  handler started                      %s", Percentiles.of(started));
            }
        }
    }

    private long[] fire(Bench bench, int count) throws Exception {
        long[] late = new long[count];
        AtomicInteger next = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(count);
        long before = System.nanoTime();
        Instant clock = now(bench);
        long nanos = before + (System.nanoTime() - before) / 2;
        Instant first = clock.plusSeconds(2);
        try (Windlass node = bench.builder()
                .outboxHandler(Bench.TOPIC, message -> {
                    Instant started = clock.plusNanos(System.nanoTime() - nanos);
                    Instant due = message.dueTime().orElseThrow();
                    late[next.getAndIncrement()] =
                            Duration.between(due, started).toNanos();
                    all.countDown();
                })
                .start()) {
            long gap = settings.spread().toNanos() / count;
            String payload = "x".repeat(settings.payloadBytes());
            node.timers()
                    .scheduleAll(IntStream.range(0, count)
                            .mapToObj(n -> TimerEntry.of(Bench.TOPIC, payload, first.plusNanos(n * gap)))
                            .toList());
            if (!all.await(5, TimeUnit.MINUTES)) {
                throw new IllegalStateException(
                        "expected all timers to fire within 5 minutes, missed " + all.getCount());
            }
        }
        return Arrays.copyOf(late, count);
    }

    private static Instant now(Bench bench) throws SQLException {
        try (Connection connection = bench.pool.getConnection();
                PreparedStatement question = connection.prepareStatement("select clock_timestamp()");
                ResultSet row = question.executeQuery()) {
            row.next();
            return row.getObject(1, OffsetDateTime.class).toInstant();
        }
    }

    private static Percentiles percentiles(Bench bench, String column) throws SQLException {
        try (Connection connection = bench.pool.getConnection();
                PreparedStatement question = connection.prepareStatement("select array_agg((extract(epoch from "
                        + column + " - due_at) * 1000000000)::bigint)" + " from windlass_bench.outbox");
                ResultSet row = question.executeQuery()) {
            row.next();
            Long[] nanos = (Long[]) row.getArray(1).getArray();
            return Percentiles.of(
                    Arrays.stream(nanos).mapToLong(Long::longValue).toArray());
        }
    }

    private void compare(String what, double[] messages, double[] timers) {
        say(
                "  %-24s messages %,9.0f/s   timers %,9.0f/s   %.0f %%",
                what,
                Bench.median(messages),
                Bench.median(timers),
                100 * Bench.median(timers) / Bench.median(messages));
    }

    private void say(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
        out.flush();
    }
}
