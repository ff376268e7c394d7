package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.join.FollowUp;
import dev.windlass.join.Join;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinFilter;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.sql.Connection;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/** What docs/joins.md shows. */
final class JoinRecipes {
    private JoinRecipes() {}

    static JoinIdentifier fanOut(Windlass windlass, Connection connection, String customer) {
        // tag::fan-out
        JoinIdentifier extraction = windlass.outbox()
                .fanOut(
                        connection,
                        JoinEntry.of(3)
                                .withGroupingKey(customer)
                                .withFollowUp(FollowUp.completed("etl.transform", customer)
                                        .withFailed("etl.failed", customer)),
                        List.of(
                                OutboxEntry.of("extract.customers", customer),
                                OutboxEntry.of("extract.orders", customer),
                                OutboxEntry.of("extract.products", customer)));
        // end::fan-out
        return extraction;
    }

    static WindlassBuilder handle(WindlassBuilder builder, Consumer<String> work) {
        // tag::handle
        builder.outboxHandler("extract.orders", message -> work.accept(message.payload()));
        builder.outboxHandler("etl.transform", message -> work.accept(message.payload()));
        // end::handle
        return builder;
    }

    static JoinIdentifier stepByStep(Windlass windlass, String customer) {
        // tag::step-by-step
        JoinIdentifier extraction = windlass.joins().start(JoinEntry.of(2).withGroupingKey(customer));

        OutboxMessageIdentifier orders = windlass.outbox().enqueue(OutboxEntry.of("extract.orders", customer));
        windlass.outbox().attach(extraction, List.of(orders));
        windlass.outbox().enqueue(OutboxEntry.of("extract.products", customer).withJoin(extraction));

        windlass.joins().follow(extraction, FollowUp.completed("etl.transform", customer));
        // end::step-by-step
        return extraction;
    }

    static void nested(Windlass windlass, List<String> customers) {
        // tag::nested
        JoinIdentifier all = windlass.joins()
                .start(JoinEntry.of(customers.size()).withFollowUp(FollowUp.completed("report.send", "all customers")));
        for (String customer : customers) {
            windlass.outbox()
                    .fanOut(
                            JoinEntry.of(1)
                                    .withFollowUp(FollowUp.completed("etl.transform", customer)
                                            .withStepOf(all)),
                            List.of(OutboxEntry.of("extract.orders", customer)));
        }
        // end::nested
    }

    static void report(Windlass windlass, JoinIdentifier join, UUID upload) {
        // tag::report
        windlass.joins().reportCompleted(join, upload);
        // end::report
    }

    static String look(Windlass windlass, String customer) {
        // tag::look
        StringBuilder text = new StringBuilder();
        for (Join join : windlass.joins().list(JoinFilter.all().withGroupingKey(customer), 10)) {
            text.append(join.status()).append(", ").append(join.openSteps()).append(" to go\n");
        }
        // end::look
        return text.toString();
    }

    static boolean cancel(Windlass windlass, JoinIdentifier join) {
        // tag::cancel
        boolean cancelled = windlass.joins().cancel(join);
        // end::cancel
        return cancelled;
    }
}
