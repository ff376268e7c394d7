// tag::quick-start
package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxEntry;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

public final class QuickStart {
    public static void main(String[] args) throws Exception {
        DataSource dataSource = EmbeddedPostgres.shared().dataSource(); // or the one your application has
        CountDownLatch sent = new CountDownLatch(1);
        try (Windlass windlass = Windlass.on(dataSource)
                .ensureSchema() // creates Windlass's tables; in production a migration does
                .outboxHandler("order.placed", message -> {
                    System.out.println("sent a mail for " + message.payload());
                    sent.countDown();
                })
                .closeOnShutdown() // SIGTERM and Ctrl-C let handlers finish
                .start()) {

            windlass.inTransaction(connection -> {
                try (Statement statement = connection.createStatement()) {
                    statement.execute("create table if not exists orders (id text)");
                    statement.execute("insert into orders values ('order-1')");
                }
                return windlass.outbox().enqueue(connection, OutboxEntry.of("order.placed", "order-1"));
            });
            sent.await();
        }
    }
}
// end::quick-start
