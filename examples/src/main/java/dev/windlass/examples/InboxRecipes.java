package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.Topic;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Enqueued;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxOperator;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.inbox.ListedMessage;
import dev.windlass.inbox.SeenMessage;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What docs/inbox.md shows one by one, too small for programs of their own. */
final class InboxRecipes {

    private InboxRecipes() {}

    static String stepByStep(Windlass windlass, String id) throws Exception {
        Inbox inbox = windlass.inbox();
        // tag::steps
        Begin begin = inbox.begin("shipments", id);
        if (begin instanceof Begin.Proceed proceed) {
            InboxAttempt attempt = proceed.attempt();
            try {
                windlass.inTransaction(connection -> {
                    ship(connection, id);
                    inbox.markProcessed(connection, attempt);
                    return true;
                });
            } catch (SQLException e) {
                inbox.abandon(attempt, "could not ship: " + e.getSQLState(), Duration.ofMinutes(1));
                return "later";
            }
            return "shipped";
        } else if (begin instanceof Begin.InProgress) {
            return "later";
        } else if (begin instanceof Begin.Done) {
            return "shipped before";
        }
        return "given up";
        // end::steps
    }

    static void asking(Inbox inbox, String id, Runnable work) {
        // tag::asking
        if (inbox.alreadyProcessed("newsletters", id)) {
            return;
        }
        try {
            work.run();
            inbox.markProcessed("newsletters", id);
        } catch (IllegalArgumentException e) {
            inbox.markDead("newsletters", id, "cannot be sent: " + e.getMessage());
        } catch (RuntimeException e) {
            inbox.abandon("newsletters", id, e.toString(), Duration.ofSeconds(10));
        }
        // end::asking
    }

    static WindlassBuilder queue(WindlassBuilder builder) {
        // tag::handler
        builder.inboxHandlerInTransaction(
                "shipment.wanted", (connection, message) -> ship(connection, message.payload()));
        // end::handler
        return builder;
    }

    static WindlassBuilder together(WindlassBuilder builder) {
        // tag::together
        builder.inboxHandlerInTransaction("shipment.wanted", 100, (connection, messages) -> {
            try (PreparedStatement insert = connection.prepareStatement("insert into shipments values (?)")) {
                for (InboxMessage message : messages) {
                    insert.setString(1, message.payload());
                    insert.addBatch();
                }
                insert.executeBatch();
            }
        });
        // end::together
        return builder;
    }

    static Enqueued enqueue(Inbox inbox, String id, String order) {
        // tag::enqueue
        Enqueued enqueued = inbox.enqueue(InboxEntry.of("shop", id, "shipment.wanted", order));
        // end::enqueue
        return enqueued;
    }

    // tag::typed
    record Shipment(String order, int parcels) {}

    static final Topic<Shipment> SHIPMENT = Topic.of("shipment.packed", Shipment.class);

    static void addHandler(WindlassBuilder builder) {
        builder.inboxHandlerInTransaction(
                SHIPMENT, (connection, shipment, message) -> ship(connection, shipment.order()));
    }

    static Enqueued enqueue(Inbox inbox, String id, Shipment shipment) {
        return inbox.enqueue(inbox.entry("shop", id, SHIPMENT, shipment));
    }
    // end::typed

    private static void ship(Connection connection, String order) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into shipments values (?)")) {
            insert.setString(1, order);
            insert.executeUpdate();
        }
    }

    static int operate(Inbox inbox) {
        // tag::failed
        InboxOperator operator = inbox.operator("anna");
        List<ListedMessage> failed = operator.list(MessageFilter.failed().withSource("shop"), 50);
        int requeued = operator.requeue(failed.stream().map(ListedMessage::key).toList(), Attempts.RESET);
        int purged = operator.purge(List.of(new InboxKey("shop", "broken")));
        // end::failed
        // tag::stuck
        List<ListedMessage> stuck = operator.stuck(Duration.ofHours(1), 100);
        // end::stuck
        return failed.size() + requeued + purged + stuck.size();
    }

    static Optional<SeenMessage> find(Inbox inbox) {
        // tag::find
        Optional<SeenMessage> seen = inbox.find("shop", "order-7");
        // end::find
        return seen;
    }

    static WindlassBuilder options(WindlassBuilder builder) {
        // tag::options
        builder.inbox(InboxOptions.defaults()
                .withGuardLease(Duration.ofMinutes(2))
                .withMaxAttempts(8)
                .withRetention(Duration.ofDays(90)));
        // end::options
        return builder;
    }
}
