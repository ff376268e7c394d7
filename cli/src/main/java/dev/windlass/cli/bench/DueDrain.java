package dev.windlass.cli.bench;

import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How fast messages are handled that become due in several stores at one moment, until the last outcome is written. They are there
 * before, and the stores are open: neither to fill nor to open them is a part of it.
 */
final class DueDrain {
    private static final int IN_A_CALL = 1000;
    private static final int FILLED_AT_ONCE = 4;

    /** So that whoever was opened has looked in vain, and sleeps until the moment. */
    private static final Duration MARGIN = Duration.ofMillis(500);

    private final BenchStores stores;
    private final int payloadBytes;
    private final List<Integer> shares;
    /** Half as long again as it took the last time, and a little. */
    private Duration lead = Duration.ofSeconds(2);

    /** Opens what handles the messages, and returns when it could. */
    @FunctionalInterface
    interface Opening {
        AutoCloseable open(WindlassListener listener) throws Exception;
    }

    /** One time on two clocks. */
    private record Moment(Instant onServer, long nanos) {
        Moment plus(Duration time) {
            return new Moment(onServer.plus(time), nanos + time.toNanos());
        }
    }

    private static final class Tally implements WindlassListener {
        private final int expected;
        private final AtomicInteger written = new AtomicInteger();
        private final CountDownLatch all = new CountDownLatch(1);
        private volatile long end;

        Tally(int expected) {
            this.expected = expected;
        }

        @Override
        public void on(WindlassEvent event) {
            long now = System.nanoTime();
            if (event instanceof WindlassEvent.Settled settled && written.addAndGet(settled.messages()) >= expected) {
                end = now;
                all.countDown();
            }
        }

        void await() throws InterruptedException {
            if (!all.await(10, TimeUnit.MINUTES)) {
                throw new IllegalStateException("expected " + expected + " outcomes, got " + written.get());
            }
        }
    }

    /**
     * @param shares how many for each store, from the first on
     */
    DueDrain(BenchStores stores, int payloadBytes, List<Integer> shares) {
        this.stores = stores;
        this.payloadBytes = payloadBytes;
        this.shares = shares;
    }

    /** So many for each, and what is left for the first. */
    static List<Integer> evenly(int messages, int stores) {
        return withFirst(messages, stores, messages - messages / stores * (stores - 1));
    }

    /** So many for the first, and the others evenly. */
    static List<Integer> withFirst(int messages, int stores, int first) {
        List<Integer> shares = new ArrayList<>();
        for (int number = 1; number <= stores; number++) {
            shares.add(number == 1 ? first : (messages - first) / (stores - 1));
        }
        return shares;
    }

    int stores() {
        return shares.size();
    }

    /** Messages a second. */
    double rate(Opening opening) throws Exception {
        while (true) {
            OptionalDouble rate = tryRate(opening);
            if (rate.isPresent()) {
                return rate.getAsDouble();
            }
        }
    }

    /** Nothing, if the moment came before all was ready. */
    @SuppressWarnings("try") // open until all outcomes are written
    private OptionalDouble tryRate(Opening opening) throws Exception {
        Moment due = now().plus(lead);
        fill(due);
        int messages = shares.stream().mapToInt(Integer::intValue).sum();
        Tally tally = new Tally(messages);
        try (AutoCloseable handling = opening.open(tally)) {
            long early = due.nanos - System.nanoTime();
            lead = lead.minusNanos(early).multipliedBy(3).dividedBy(2).plus(MARGIN.multipliedBy(2));
            if (early < MARGIN.toNanos()) {
                return OptionalDouble.empty();
            }
            tally.await();
        }
        return OptionalDouble.of(messages / ((tally.end - due.nanos) / 1e9));
    }

    private Moment now() throws SQLException {
        try (Connection connection = stores.server.connect();
                PreparedStatement question = connection.prepareStatement("select clock_timestamp()")) {
            long before = System.nanoTime();
            try (var row = question.executeQuery()) {
                long after = System.nanoTime();
                row.next();
                Instant clock = row.getObject(1, OffsetDateTime.class).toInstant();
                return new Moment(clock, before + (after - before) / 2);
            }
        }
    }

    /** In empty tables, vacuumed, with no checkpoint due: each round starts alike. */
    private void fill(Moment due) throws Exception {
        AtOnce.run(FILLED_AT_ONCE, BenchStores.numbers(shares.size()), number -> {
            try (Connection connection = stores.connect(number)) {
                fill(connection, stores.schema(number), shares.get(number - 1), due.onServer);
            }
        });
        stores.server.execute("checkpoint");
    }

    private void fill(Connection connection, String schema, int messages, Instant due) throws SQLException {
        BenchServer.execute(
                connection,
                "truncate \"%1$s\".outbox, \"%1$s\".outbox_key, \"%1$s\".outbox_dedup, \"%1$s\".windlass_join cascade"
                        .formatted(schema));
        try (PreparedStatement enqueue = connection.prepareStatement("""
                select "%s".outbox_enqueue_all(
                           null, array_agg('%s'::text), array_agg(repeat('x', ?)), p_due_ats => array_agg(?::timestamptz),
                           p_notify => false)
                  from generate_series(1, ?)
                """.formatted(schema, Bench.TOPIC))) {
            for (int written = 0; written < messages; written += IN_A_CALL) {
                enqueue.setInt(1, payloadBytes);
                enqueue.setObject(2, due.atOffset(ZoneOffset.UTC));
                enqueue.setInt(3, Math.min(IN_A_CALL, messages - written));
                enqueue.execute();
            }
        }
        BenchServer.execute(connection, "vacuum analyze \"" + schema + "\".outbox");
    }
}
