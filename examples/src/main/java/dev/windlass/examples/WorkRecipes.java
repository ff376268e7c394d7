package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.NotYet;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.Topic;
import dev.windlass.join.FollowUp;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.operator.TopicLimit;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkOptions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** What docs/work.md shows. */
final class WorkRecipes {
    private WorkRecipes() {}

    /** Writes reports, page by page. */
    interface Writer {
        int pages(String customer);

        void write(String customer, int page) throws Exception;
    }

    /** A service that makes videos elsewhere. */
    interface Renderer {
        boolean isReady(String video);
    }

    static WorkIdentifier enqueue(Windlass windlass, String customer) {
        // tag::enqueue
        WorkIdentifier id = windlass.workQueue().enqueue(WorkEntry.of("reports", "monthly", customer));
        // end::enqueue
        return id;
    }

    static List<WorkIdentifier> enqueueMany(Windlass windlass, List<String> customers) {
        // tag::enqueue-many
        List<WorkIdentifier> ids = windlass.workQueue()
                .enqueueAll(customers.stream()
                        .map(customer -> WorkEntry.of("reports", "monthly", customer))
                        .toList());
        // end::enqueue-many
        return ids;
    }

    static void inTransaction(Windlass windlass, String customer) throws SQLException {
        // tag::in-transaction
        windlass.inTransaction(connection -> {
            closeMonth(connection, customer);
            return windlass.workQueue().enqueue(connection, WorkEntry.of("reports", "monthly", customer));
        });
        // end::in-transaction
    }

    private static void closeMonth(Connection connection, String customer) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("insert into closed_month (customer) values (?)")) {
            statement.setString(1, customer);
            statement.executeUpdate();
        }
    }

    /** What a typed handler gets. */
    record Order(String customer, int pages) {}

    static WorkIdentifier typed(WindlassBuilder builder, Windlass windlass) {
        // tag::typed
        Topic<Order> yearly = Topic.of("yearly", Order.class);

        builder.workHandler("reports", yearly, (order, item, context) -> context.result(order.pages() + " pages"));

        WorkIdentifier id =
                windlass.workQueue().enqueue(windlass.workQueue().entry("reports", yearly, new Order("Ada", 12)));
        // end::typed
        return id;
    }

    static WindlassBuilder handle(WindlassBuilder builder, Writer writer) {
        // tag::handle
        builder.workHandler("reports", "monthly", (item, context) -> {
            int pages = writer.pages(item.payload());
            for (int page = 1; page <= pages; page++) {
                context.throwIfCancelled();
                writer.write(item.payload(), page);
                context.progress(100 * page / pages, "page " + page + " of " + pages);
            }
            context.result("/reports/" + item.id() + ".pdf");
        });
        // end::handle
        return builder;
    }

    static WindlassBuilder options(WindlassBuilder builder, Writer writer) {
        // tag::options
        builder.work(WorkOptions.defaults().withLease(Duration.ofMinutes(1)).withAgeing(Duration.ofMinutes(10)))
                .workHandler(
                        "reports",
                        "monthly",
                        HandlerOptions.defaults()
                                .withConcurrency(4)
                                .withRetry(RetryPolicy.defaults().withMaxAttempts(3)),
                        (item, context) -> writer.write(item.payload(), 1));
        // end::options
        return builder;
    }

    static String await(Windlass windlass, WorkIdentifier id) throws InterruptedException {
        // tag::await
        try {
            WorkItem report = windlass.workQueue().await(id, Duration.ofSeconds(20));
            return report.result()
                    .orElse(report.status() + ": " + report.lastError().orElse("no result"));
        } catch (TimeoutException e) {
            return "still at work; ask again later with " + id;
        }
        // end::await
    }

    static String look(Windlass windlass, WorkIdentifier id) {
        // tag::look
        WorkItem report = windlass.workQueue().find(id).orElseThrow();
        String state = report.status() + ", " + report.progress().orElse(0) + " %, "
                + report.progressText().orElse("not begun");
        // end::look
        return state;
    }

    static void priority(Windlass windlass, String customer) {
        // tag::priority
        windlass.workQueue()
                .enqueue(WorkEntry.of("reports", "monthly", customer).withPriority(9));
        // end::priority
    }

    static void key(Windlass windlass, String customer) {
        // tag::key
        windlass.workQueue()
                .enqueue(WorkEntry.of("reports", "monthly", customer).withKey(customer));
        // end::key
    }

    static void limits(Windlass windlass) {
        // tag::limits
        windlass.workQueue()
                .operator("Ada")
                .limit(
                        "reports",
                        TopicLimit.none().withRunning(10).withPerKey(1).withRate(100, Duration.ofMinutes(1)));
        // end::limits
    }

    static void limitOfATopic(Windlass windlass) {
        // tag::limit-topic
        windlass.outbox().operator("Ada").limit("mail.send", TopicLimit.none().withRate(50, Duration.ofSeconds(1)));
        // end::limit-topic
    }

    static WorkIdentifier unique(Windlass windlass, String customer) {
        // tag::unique
        WorkIdentifier id = windlass.workQueue()
                .enqueue(WorkEntry.of("reports", "monthly", customer).ifAbsent("monthly of " + customer));
        // end::unique
        return id;
    }

    static void debounce(Windlass windlass, String customer, String change) {
        // tag::debounce
        windlass.workQueue()
                .enqueue(WorkEntry.of("search", "index", change)
                        .withDelay(Duration.ofSeconds(10))
                        .replacing(customer));
        // end::debounce
    }

    static boolean cancel(Windlass windlass, WorkIdentifier id) {
        // tag::cancel
        boolean cancelled = windlass.workQueue().cancel(id);
        // end::cancel
        return cancelled;
    }

    static WindlassBuilder snooze(WindlassBuilder builder, Renderer renderer) {
        // tag::snooze
        builder.workHandler("videos", "publish", (item, context) -> {
            if (!renderer.isReady(item.payload())) {
                throw new NotYet(Duration.ofMinutes(1), "is being rendered");
            }
            context.result("published");
        });
        // end::snooze
        return builder;
    }

    static JoinIdentifier join(Windlass windlass, List<String> customers) throws SQLException {
        // tag::join
        JoinIdentifier all = windlass.inTransaction(connection -> {
            JoinIdentifier join = windlass.joins()
                    .start(
                            connection,
                            JoinEntry.of(customers.size())
                                    .withFollowUp(FollowUp.completed("reports.mail", "all are there")));
            windlass.workQueue()
                    .enqueueAll(
                            connection,
                            customers.stream()
                                    .map(customer -> WorkEntry.of("reports", "monthly", customer)
                                            .withJoin(join))
                                    .toList());
            return join;
        });
        // end::join
        return all;
    }

    static int claim(Windlass windlass, Writer writer) throws Exception {
        // tag::claim
        OwnerToken owner = OwnerToken.fresh();
        Duration lease = Duration.ofMinutes(1);
        int done = 0;
        for (WorkItem item : windlass.workQueue().claim("reports", owner, lease, 10)) {
            writer.write(item.payload(), 1);
            if (windlass.workQueue().heartbeat(owner, item.id(), lease, 50, "page 1 of 2")) {
                writer.write(item.payload(), 2);
                done += windlass.workQueue().complete(owner, item.id(), "two pages") ? 1 : 0;
            }
        }
        // end::claim
        return done;
    }
}
