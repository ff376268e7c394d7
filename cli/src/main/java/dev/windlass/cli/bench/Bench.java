package dev.windlass.cli.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The database under measurement: a schema of its own, dropped at the end, and a pool. */
final class Bench implements AutoCloseable {
    static final String SCHEMA = "windlass_bench";
    static final String TOPIC = "bench";

    final HikariDataSource pool;
    final OutboxOptions outbox;

    Bench(String url, @Nullable String user, @Nullable String password, OutboxOptions outbox) throws SQLException {
        this.outbox = outbox;
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(16);
        pool = new HikariDataSource(config);
        execute("drop schema if exists " + SCHEMA + " cascade");
        builder().migrator().migrate();
        execute(ServerLimit.PROCEDURES);
    }

    WindlassBuilder builder() {
        return Windlass.on(pool).options(options()).outbox(outbox);
    }

    static WindlassOptions options() {
        return WindlassOptions.defaults().withSchemaName(SCHEMA).withShutdownGrace(Duration.ofSeconds(5));
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** This many messages in an empty table, vacuumed, with no checkpoint due: each round starts alike. */
    void fill(int messages, int payloadBytes) throws SQLException {
        fill(messages, payloadBytes, 0);
    }

    /** The same, under this many ordering keys in turn; none if zero. */
    void fill(int messages, int payloadBytes, int keys) throws SQLException {
        empty();
        execute("call " + SCHEMA + ".fill(" + messages + ", " + payloadBytes + ", " + keys + ")");
        execute("vacuum analyze " + SCHEMA + ".outbox");
        execute("checkpoint");
    }

    void empty() throws SQLException {
        execute("truncate windlass_bench.outbox, windlass_bench.outbox_key, windlass_bench.outbox_dedup,"
                + " windlass_bench.windlass_join cascade");
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    @Override
    public void close() throws SQLException {
        execute("drop schema if exists " + SCHEMA + " cascade");
        pool.close();
    }
}
