package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.inbox.Processed;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;

/**
 * Payments from a broker that delivers at least once, and a consumer that dies at the worst moments: each payment is booked
 * once.
 */
public final class Payments {
    private final Windlass windlass;
    private final Broker broker;
    private final Set<String> crashes = new HashSet<>(Set.of("p-2 after the commit", "p-3 in the middle"));

    Payments(Windlass windlass, Broker broker) {
        this.windlass = windlass;
        this.broker = broker;
    }

    /** What matters of a broker: what is not acknowledged is delivered again. */
    static final class Broker {
        private final Deque<Delivery> queue = new ArrayDeque<>();

        record Delivery(String id, String body) {}

        void send(String id, String body) {
            queue.add(new Delivery(id, body));
        }

        Optional<Delivery> next() {
            return Optional.ofNullable(queue.peekFirst());
        }

        void ack(Delivery delivery) {
            queue.removeFirstOccurrence(delivery);
        }

        /** Later, after the others. */
        void giveBack(Delivery delivery) {
            queue.removeFirstOccurrence(delivery);
            queue.addLast(delivery);
        }
    }

    public static void main(String[] args) throws Exception {
        DataSource dataSource = EmbeddedPostgres.shared().dataSource(); // in production: your pool
        createTables(dataSource);
        Broker broker = new Broker();
        broker.send("p-1", "10");
        broker.send("p-2", "20");
        broker.send("p-3", "30");
        broker.send("p-1", "10"); // the sender was not sure
        broker.send("p-4", "plenty");
        broker.send("p-1", "99"); // somebody gives ids twice

        try (Windlass windlass = Windlass.on(dataSource)
                .ensureSchema() // creates Windlass's tables; in production a migration does
                .inbox(InboxOptions.defaults()
                        .withGuardLease(Duration.ofSeconds(1)) // so that the example ends soon
                        .withMaxAttempts(3))
                .start()) {
            new Payments(windlass, broker).run();
        }
    }

    private void run() {
        Optional<Broker.Delivery> next = broker.next();
        while (next.isPresent()) {
            receive(next.get());
            next = broker.next();
        }
    }

    private void receive(Broker.Delivery delivery) {
        try {
            consume(delivery);
        } catch (Crash e) {
            System.out.println("the consumer died: " + e.getMessage());
        } catch (Exception e) {
            System.out.println(delivery.id() + ": " + e.getMessage());
        }
    }

    // tag::consume
    void consume(Broker.Delivery delivery) throws Exception {
        crashInTheMiddle(delivery);
        Processed processed = windlass.inbox()
                .process(
                        "payments",
                        delivery.id(),
                        ContentHash.of(delivery.body()),
                        connection -> book(connection, delivery.id(), Integer.parseInt(delivery.body())));
        crashAfterTheCommit(delivery);
        switch (processed.outcome()) {
            case PROCESSED, ALREADY_PROCESSED, DEAD -> broker.ack(delivery);
            case IN_PROGRESS -> broker.giveBack(delivery);
        }
        tell(delivery, processed);
    }
    // end::consume

    private static void tell(Broker.Delivery delivery, Processed processed) {
        if (processed.outcome() != Processed.Outcome.IN_PROGRESS) {
            System.out.println(delivery.id() + ": " + processed.outcome()
                    + (processed.contentDiffers() ? ", but it is not what came first" : ""));
        }
    }

    private static void book(Connection connection, String id, int amount) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into bookings values (?, ?)")) {
            insert.setString(1, id);
            insert.setInt(2, amount);
            insert.executeUpdate();
        }
    }

    /** What a power cut leaves behind: an attempt that was begun, and nobody who ends it. */
    private void crashInTheMiddle(Broker.Delivery delivery) {
        if (crashes.remove(delivery.id() + " in the middle")
                && windlass.inbox().begin("payments", delivery.id()) instanceof Begin.Proceed) {
            throw new Crash(delivery.id() + " in the middle");
        }
    }

    /** The booking is committed, and the broker does not know. */
    private void crashAfterTheCommit(Broker.Delivery delivery) {
        if (crashes.remove(delivery.id() + " after the commit")) {
            throw new Crash(delivery.id() + " after the commit");
        }
    }

    private static final class Crash extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Crash(String message) {
            super(message);
        }
    }

    static void createTables(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create table if not exists bookings (id text, amount integer)");
        }
    }
}
