package dev.windlass.cli.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Windlass;
import java.util.concurrent.CountDownLatch;

/** The second process of the latency measurement: prints when each handler started, by the machine's monotonic clock. */
final class LatencyNode {
    static final String READY = "ready";
    static final String STARTED = "started ";

    private LatencyNode() {}

    @SuppressWarnings("try") // open until this process is ended
    public static void main(String[] arguments) throws InterruptedException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(System.getenv("WINDLASS_URL"));
        if (!System.getenv("WINDLASS_USER").isEmpty()) {
            config.setUsername(System.getenv("WINDLASS_USER"));
            config.setPassword(System.getenv("WINDLASS_PASSWORD"));
        }
        try (HikariDataSource pool = new HikariDataSource(config);
                Windlass windlass = Windlass.on(pool)
                        .options(Bench.options())
                        .outboxHandler(Bench.TOPIC, message -> {
                            long now = System.nanoTime();
                            System.out.println(STARTED + message.messageId().value() + " " + now);
                        })
                        .start()) {
            System.out.println(READY);
            new CountDownLatch(1).await();
        }
    }
}
