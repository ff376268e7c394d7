package dev.windlass.benchmarks.scenario;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.benchmarks.system.Payloads;
import dev.windlass.benchmarks.system.Tables;
import dev.windlass.benchmarks.system.WindlassSystem;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The yardstick of writing: the rows of a message by bare INSERTs, into a table with the columns and indexes of the outbox. */
final class BareRows implements AutoCloseable {
    static final String NAME = "bare INSERT";
    private static final String INSERT = """
            insert into outbox (id, created_at, next_attempt_at, topic, payload)
            values (?, clock_timestamp(), clock_timestamp(), ?, ?)
            """;
    private static final AtomicLong LAST = new AtomicLong();

    private final Tables tables;
    private final HikariDataSource pool;
    private final BusinessTable business;
    private final String payload;

    BareRows(Lab lab) throws SQLException {
        tables = new Tables(lab.server(), "bench_bare_" + lab.label());
        pool = lab.server().pool(tables.schema(), WindlassSystem.CONNECTIONS);
        business = new BusinessTable(tables.schema() + ".orders");
        payload = Payloads.of(0, lab.scale().payloadBytes());
        tables.execute("drop schema if exists " + tables.schema() + " cascade");
        tables.execute("create schema " + tables.schema());
        tables.execute(business.ddl());
        tables.execute(
                "create table outbox "
                        + (lab.windlass("windlass").isPresent()
                                ? "(like bench_windlass.outbox including all)"
                                : "(id uuid primary key, created_at timestamptz, next_attempt_at timestamptz, topic text, payload text)"));
    }

    void empty() throws SQLException {
        tables.execute("truncate outbox, " + business.name());
        tables.settle("outbox", business.name());
    }

    BusinessTable business() {
        return business;
    }

    @FunctionalInterface
    interface Call {
        void run() throws Exception;
    }

    /** Rows a second. */
    static double rate(int rows, int threads, int perCall, Call call) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            AtomicInteger left = new AtomicInteger(rows / perCall);
            List<Future<?>> running = new ArrayList<>();
            long start = System.nanoTime();
            for (int i = 0; i < threads; i++) {
                running.add(executor.submit(() -> {
                    while (left.getAndDecrement() > 0) {
                        call.run();
                    }
                    return true;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
            return rows / ((System.nanoTime() - start) / 1e9);
        } finally {
            executor.shutdownNow();
        }
    }

    void batch(int rows) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement(INSERT)) {
            connection.setAutoCommit(false);
            for (int i = 0; i < rows; i++) {
                bind(insert);
                insert.addBatch();
            }
            insert.executeBatch();
            connection.commit();
        }
    }

    void together() throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement(INSERT)) {
            connection.setAutoCommit(false);
            business.insert(connection);
            bind(insert);
            insert.executeUpdate();
            connection.commit();
        }
    }

    private void bind(PreparedStatement insert) throws SQLException {
        insert.setObject(
                1, new UUID(System.currentTimeMillis() << 16 | 0x7000, Long.MIN_VALUE | LAST.incrementAndGet()));
        insert.setString(2, Lab.TOPIC);
        insert.setString(3, payload);
    }

    @Override
    public void close() {
        pool.close();
        tables.close();
    }
}
