package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** How fast messages are written inside the caller's transaction, beside bare INSERTs of the same row. */
final class EnqueueRate {
    private static final int PER_TRANSACTION = 1000;
    private static final String INSERT = """
            insert into windlass_bench.outbox (id, created_at, next_attempt_at, topic, payload)
            values (?, clock_timestamp(), clock_timestamp(), ?, ?)
            """;

    private final Bench bench;
    private final int messages;
    private final String payload;
    private long key;

    EnqueueRate(Bench bench, int messages, int payloadBytes) {
        this.bench = bench;
        this.messages = messages;
        this.payload = "x".repeat(payloadBytes);
    }

    /** One call for each message. */
    double single(Outbox outbox) throws SQLException {
        OutboxEntry entry = OutboxEntry.of(Bench.TOPIC, payload);
        return measure(connection -> {
            for (int i = 0; i < PER_TRANSACTION; i++) {
                outbox.enqueue(connection, entry);
            }
        });
    }

    /** One INSERT statement for each message. */
    double bareSingle() throws SQLException {
        return measure(connection -> {
            try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
                for (int i = 0; i < PER_TRANSACTION; i++) {
                    bind(insert, i);
                    insert.executeUpdate();
                }
            }
        });
    }

    /** One call for a whole transaction. */
    double many(Outbox outbox) throws SQLException {
        List<OutboxEntry> entries = Collections.nCopies(PER_TRANSACTION, OutboxEntry.of(Bench.TOPIC, payload));
        return measure(connection -> outbox.enqueueAll(connection, entries));
    }

    /** One call for each message, with a deduplication key that is new. */
    double singleOnce(Outbox outbox) throws SQLException {
        return measure(connection -> {
            for (int i = 0; i < PER_TRANSACTION; i++) {
                outbox.enqueue(connection, once());
            }
        });
    }

    /** One call for a whole transaction, each message with a deduplication key that is new. */
    double manyOnce(Outbox outbox) throws SQLException {
        return measure(connection -> outbox.enqueueAll(
                connection, Stream.generate(this::once).limit(PER_TRANSACTION).toList()));
    }

    private OutboxEntry once() {
        return OutboxEntry.of(Bench.TOPIC, payload).withDeduplication("order-" + ++key, Duration.ofDays(1));
    }

    /** One JDBC batch for a whole transaction. */
    double bareBatch() throws SQLException {
        return measure(connection -> {
            try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
                for (int i = 0; i < PER_TRANSACTION; i++) {
                    bind(insert, i);
                    insert.addBatch();
                }
                insert.executeBatch();
            }
        });
    }

    private void bind(PreparedStatement insert, int i) throws SQLException {
        insert.setObject(
                1, new UUID(System.currentTimeMillis() << 16 | 0x7000, Long.MIN_VALUE | System.nanoTime() + i));
        insert.setString(2, Bench.TOPIC);
        insert.setString(3, payload);
    }

    private double measure(Body body) throws SQLException {
        bench.empty();
        bench.execute("checkpoint");
        try (Connection connection = bench.pool.getConnection()) {
            connection.setAutoCommit(false);
            long start = System.nanoTime();
            for (int i = 0; i < messages / PER_TRANSACTION; i++) {
                body.run(connection);
                connection.commit();
            }
            return messages / ((System.nanoTime() - start) / 1e9);
        }
    }

    /** A node that only writes, as producers often are. */
    Windlass writer() {
        return bench.builder()
                .options(Bench.options().withBackgroundWorkers(false))
                .start();
    }

    @FunctionalInterface
    private interface Body {
        void run(Connection connection) throws SQLException;
    }
}
