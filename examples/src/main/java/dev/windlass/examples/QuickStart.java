package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxEntry;
import java.sql.PreparedStatement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** The ten lines of the README: a handler, and a message written with a business row in one transaction. */
public final class QuickStart {
    private static final CountDownLatch sent = new CountDownLatch(1);

    private QuickStart() {}

    public static void main(String[] args) throws Exception {
        DataSource dataSource = EmbeddedPostgres.shared().dataSource();
        try (var connection = dataSource.getConnection();
                var statement = connection.createStatement()) {
            statement.execute("create table if not exists orders (id text primary key)");
        }
        run(dataSource, args.length == 0 ? "order-1" : args[0]);
    }

    static void run(DataSource dataSource, String order) throws Exception {
        // tag::quick-start
        try (Windlass windlass = Windlass.on(dataSource)
                .ensureSchema() // creates Windlass's tables; in production a migration does
                .outboxHandler("order.placed", message -> sendMail(message.payload()))
                .start()) {

            windlass.inTransaction(connection -> {
                windlass.outbox().enqueue(connection, OutboxEntry.of("order.placed", order));
                return insertOrder(connection.prepareStatement("insert into orders (id) values (?)"), order);
            });
            awaitMail();
        }
        // end::quick-start
    }

    private static int insertOrder(PreparedStatement insert, String order) throws Exception {
        try (insert) {
            insert.setString(1, order);
            return insert.executeUpdate();
        }
    }

    private static void sendMail(String order) {
        System.out.println("sent a mail for " + order);
        sent.countDown();
    }

    private static void awaitMail() throws InterruptedException {
        if (!sent.await(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("expected a mail within 30 s, got none");
        }
    }
}
