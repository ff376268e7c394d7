package dev.windlass.cli.demo;

import dev.windlass.Windlass;
import dev.windlass.internal.database.SafeCopies;
import dev.windlass.internal.engine.PostgresDialect;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets the shop work: places orders, and shows numbers each second, until it is closed. */
public final class Demo implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Demo.class);
    private static final int ORDER_MILLIS = 200;
    private static final int LINE_MILLIS = 1_000;

    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(2);
    private final Windlass windlass;
    private final Shop shop;
    private final DataSource dataSource;
    private final String outbox;
    private final Consumer<String> screen;
    private boolean troubled;

    private Demo(Windlass windlass, Shop shop, DataSource dataSource, String outbox, Consumer<String> screen) {
        this.windlass = windlass;
        this.shop = shop;
        this.dataSource = dataSource;
        this.outbox = outbox;
        this.screen = screen;
    }

    /**
     * Opens the shop.
     *
     * @param windlass has the handlers of this shop
     * @param outbox the table of the outbox, quoted
     * @param screen is given a line of numbers each second
     */
    public static Demo start(
            Windlass windlass, Shop shop, DataSource dataSource, String outbox, Consumer<String> screen)
            throws SQLException {
        shop.createTable();
        Shop.limitReports(windlass);
        Demo demo = new Demo(windlass, shop, dataSource, outbox, screen);
        demo.repeat(demo::placeOrder, ORDER_MILLIS);
        demo.repeat(demo::showNumbers, LINE_MILLIS);
        return demo;
    }

    private void repeat(Runnable task, int millis) {
        var unused = threads.scheduleWithFixedDelay(task, millis, millis, TimeUnit.MILLISECONDS);
    }

    private void placeOrder() {
        try {
            shop.placeOrder(windlass);
            if (troubled) {
                log.warn("orders can be placed again");
                troubled = false;
            }
        } catch (Exception e) {
            if (!troubled) {
                log.warn(
                        "no order can be placed, trying on: {}",
                        SafeCopies.of(e, new PostgresDialect()).toString());
                troubled = true;
            }
        }
    }

    private void showNumbers() {
        screen.accept(shop.tally.line(LocalTime.now(ZoneId.systemDefault()), waiting()));
    }

    /** Counts no further than the screen needs: the demo may run on a table with millions of others. */
    private String waiting() {
        String sql =
                "select count(*) from (select from %s where status = 0 and not keyed limit 10000) m".formatted(outbox);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            return "?";
        }
    }

    @Override
    public void close() {
        threads.shutdown();
        try {
            if (!threads.awaitTermination(10, TimeUnit.SECONDS)) {
                log.warn("the shop has not closed after 10 s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
