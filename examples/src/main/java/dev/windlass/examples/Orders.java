package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * An order and the message that speaks of it in one transaction, and a handler that is idempotent by the message's id.
 *
 * <p>An order that is refused leaves no message behind. An order that is committed is invoiced once, however often its
 * message comes.
 */
public final class Orders {
    private final DataSource dataSource;
    private final Outbox outbox;

    Orders(DataSource dataSource, Outbox outbox) {
        this.dataSource = dataSource;
        this.outbox = outbox;
    }

    public static void main(String[] args) throws Exception {
        DataSource dataSource = EmbeddedPostgres.shared().dataSource(); // in production: your pool
        createTables(dataSource);
        Invoices invoices = new Invoices(dataSource);
        CountDownLatch done = new CountDownLatch(1);

        try (Windlass windlass = Windlass.on(dataSource)
                .ensureSchema() // creates Windlass's tables; in production a migration does
                .outboxHandler("order.placed", message -> {
                    invoices.write(message);
                    done.countDown();
                })
                .start()) {
            Orders orders = new Orders(dataSource, windlass.outbox());
            orders.place("Ada", 1999);
            try {
                orders.place("Bob", 0);
            } catch (SQLException e) {
                System.out.println("refused the order of Bob, so there is no message of it either");
            }
            if (!done.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("expected an invoice within 30 s, got none");
            }
        }
    }

    // tag::place
    void place(String customer, int cents) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            try {
                outbox.enqueue(connection, OutboxEntry.of("order.placed", customer));
                execute(connection, "insert into orders (customer, cents) values (?, ?)", customer, cents);
                connection.commit();
            } catch (SQLException | RuntimeException e) {
                connection.rollback();
                throw e;
            }
        }
    }
    // end::place

    /** What orders lead to. */
    record Invoices(DataSource dataSource) {

        // tag::idempotent
        void write(OutboxMessage message) throws SQLException {
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                boolean first = execute(
                                connection,
                                "insert into processed (message_id) values (?) on conflict do nothing",
                                message.messageId().value())
                        == 1;
                if (first) {
                    execute(connection, "insert into invoices (customer) values (?)", message.payload());
                }
                connection.commit();
                System.out.println((first ? "invoiced " : "had already invoiced ") + message.payload());
            }
        }
        // end::idempotent
    }

    private static int execute(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement.executeUpdate();
        }
    }

    static void createTables(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("""
                    create table if not exists orders (customer text, cents integer check (cents > 0));
                    create table if not exists invoices (customer text);
                    create table if not exists processed (message_id uuid primary key)""");
        }
    }
}
