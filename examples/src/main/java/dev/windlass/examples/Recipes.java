package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.NotYet;
import dev.windlass.base.Overtime;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WindlassOptions;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schema.Migrator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;

/** What docs/outbox.md shows one by one, too small for programs of their own. */
final class Recipes {

    private Recipes() {}

    static OutboxMessageIdentifier alone(Windlass windlass) {
        // tag::alone
        OutboxMessageIdentifier id = windlass.outbox().enqueue(OutboxEntry.of("report.wanted", "2026-11"));
        // end::alone
        return id;
    }

    static int inTransaction(Windlass windlass, long customer, String name) throws Exception {
        // tag::in-transaction
        int renamed = windlass.inTransaction(connection -> {
            windlass.outbox().enqueue(connection, OutboxEntry.of("customer.renamed", name));
            try (PreparedStatement update = connection.prepareStatement("update customers set name = ? where id = ?")) {
                update.setString(1, name);
                update.setLong(2, customer);
                return update.executeUpdate();
            }
        });
        // end::in-transaction
        return renamed;
    }

    static void many(Windlass windlass, List<String> addresses) {
        // tag::many
        windlass.outbox()
                .enqueueAll(addresses.stream()
                        .map(address -> OutboxEntry.of("newsletter.send", address))
                        .toList());
        // end::many
    }

    static void later(Windlass windlass, Instant monday) {
        // tag::later
        windlass.outbox().enqueue(OutboxEntry.of("reminder.due", "order 7").withDelay(Duration.ofDays(3)));
        windlass.outbox().enqueue(OutboxEntry.of("report.wanted", "weekly").withDueTime(monday));
        // end::later
    }

    static void expiring(Windlass windlass, Instant kickOff) {
        // tag::expiring
        windlass.outbox()
                .enqueue(OutboxEntry.of("line-up.announced", "match 12").withExpiresAt(kickOff));
        // end::expiring
    }

    static void annotated(Windlass windlass, String traceParent) {
        // tag::annotated
        windlass.outbox()
                .enqueue(OutboxEntry.of("order.placed", "{\"order\": 7}")
                        .withCorrelationId("order-7")
                        .withHeaders(Map.of("traceparent", traceParent)));
        // end::annotated
    }

    static void ordered(Windlass windlass) {
        // tag::ordered
        windlass.outbox().enqueue(OutboxEntry.of("order.placed", "order 7").withOrderingKey("order-7"));
        windlass.outbox().enqueue(OutboxEntry.of("order.cancelled", "order 7").withOrderingKey("order-7"));
        // end::ordered
    }

    static WindlassBuilder failedHead(WindlassBuilder builder) {
        // tag::failed-head
        builder.outbox(OutboxOptions.defaults().withFailedHead("position.reported", FailedHead.IS_SKIPPED));
        // end::failed-head
        return builder;
    }

    static OutboxMessageIdentifier once(Windlass windlass) {
        // tag::once
        OutboxMessageIdentifier id = windlass.outbox()
                .enqueue(OutboxEntry.of("invoice.wanted", "order 7").withDeduplication("order-7", Duration.ofDays(1)));
        // end::once
        return id;
    }

    static boolean cancel(Windlass windlass, OutboxMessageIdentifier reminder, Instant monday) {
        // tag::cancel
        boolean moved = windlass.outbox().reschedule(reminder, monday);
        boolean cancelled = windlass.outbox().cancel(reminder);
        // end::cancel
        return moved && cancelled;
    }

    static int deadLetters(Windlass windlass) {
        // tag::dead-letters
        OutboxOperator anna = windlass.outbox().operator("anna");
        MessageFilter timeouts =
                MessageFilter.failed().withTopic("invoice.wanted").withError("timed out");

        for (ListedMessage letter : anna.list(timeouts, 50)) {
            System.out.println(letter.at() + " " + letter.lastError().orElse(""));
            windlass.outbox().failures(letter.id()).forEach(attempt -> System.out.println("  " + attempt.at()));
        }
        int requeued = anna.requeue(timeouts, Attempts.RESET);
        // end::dead-letters
        return requeued;
    }

    static boolean pause(Windlass windlass) {
        // tag::pause
        OutboxOperator anna = windlass.outbox().operator("anna");
        anna.pause("invoice.wanted", "the printer is out of paper");
        boolean resumed = anna.resume("invoice.wanted");
        // end::pause
        return resumed;
    }

    static int erase(Windlass windlass, OutboxMessageIdentifier id) {
        // tag::erase
        windlass.outbox().cancel(id); // if nobody has handled it yet
        int erased = windlass.outbox().operator("privacy request 4711").erase(List.of(id));
        // end::erase
        return erased;
    }

    static WindlassBuilder options(WindlassBuilder builder) {
        // tag::options
        HandlerOptions careful = HandlerOptions.defaults()
                .withConcurrency(2)
                .withTimeout(Duration.ofMinutes(1))
                .withRetry(RetryPolicy.defaults().withMaxAttempts(5).withCap(Duration.ofMinutes(10)));

        builder.outboxHandler("newsletter.send", careful, (OutboxMessage message) -> send(message.payload()));
        // end::options
        return builder;
    }

    static WindlassBuilder overtime(WindlassBuilder builder) {
        // tag::overtime
        HandlerOptions exclusive =
                HandlerOptions.defaults().withTimeout(Duration.ofMinutes(5)).withOvertime(Overtime.HOLD);

        builder.outboxHandler("account.closed", exclusive, (OutboxMessage message) -> send(message.payload()));
        // end::overtime
        return builder;
    }

    static WindlassBuilder notYet(WindlassBuilder builder, BooleanSupplier bankIsOpen) {
        // tag::not-yet
        builder.outboxHandler("transfer.wanted", message -> {
            if (!bankIsOpen.getAsBoolean()) {
                throw new NotYet(Duration.ofMinutes(10), "the bank is closed");
            }
            send(message.payload());
        });
        // end::not-yet
        return builder;
    }

    static Windlass service(DataSource dataSource) {
        // tag::service
        Windlass windlass = Windlass.on(dataSource)
                .options(WindlassOptions.defaults()
                        .withNodeName("shop-7") // stored with what it processes
                        .withShutdownGrace(Duration.ofMinutes(1)))
                .outboxHandler("report.wanted", message -> send(message.payload()))
                .closeOnShutdown()
                .start();
        // end::service
        return windlass;
    }

    static WindlassBuilder resting(WindlassBuilder builder) {
        // tag::resting
        HandlerOptions resting = HandlerOptions.defaults()
                .withCircuit(Circuit.defaults().withFailures(5).withRest(Duration.ofMinutes(1)));

        builder.outboxHandler("order.published", resting, (OutboxMessage message) -> send(message.payload()));
        // end::resting
        return builder;
    }

    static WindlassBuilder cancellable(WindlassBuilder builder, Path directory) {
        // tag::cancellable
        builder.outboxHandler("export.wanted", (message, cancellation) -> {
            for (int page = 0; page < 100; page++) {
                cancellation.throwIfCancelled();
                Files.writeString(directory.resolve(message.messageId().value() + "-" + page), "…");
            }
        });
        // end::cancellable
        return builder;
    }

    static WindlassBuilder retention(WindlassBuilder builder) {
        // tag::retention
        builder.outbox(OutboxOptions.defaults().withRetention(Duration.ofDays(30)));
        // end::retention
        return builder;
    }

    static WindlassBuilder onlyWrites(WindlassBuilder builder) {
        // tag::only-writes
        builder.options(WindlassOptions.defaults().withBackgroundWorkers(false));
        // end::only-writes
        return builder;
    }

    static WindlassBuilder behindAPooler(DataSource pooled, DataSource direct) {
        // tag::pooler
        WindlassBuilder builder = Windlass.on(pooled).backgroundDataSource(direct);
        // end::pooler
        return builder;
    }

    static String migrate(DataSource owner) {
        // tag::migrate
        Migrator migrator = Windlass.on(owner).migrator();
        migrator.migrate(); // or run migrator.fullSql() by other means
        String grants = migrator.grants("app"); // what the program's own user needs
        // end::migrate
        return grants;
    }

    private static void send(String address) {
        System.out.println("newsletter to " + address);
    }
}
