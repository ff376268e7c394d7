package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.WorkStatus;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinStatus;
import dev.windlass.operator.TopicLimit;
import dev.windlass.testkit.WindlassExtension;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class WorkRecipesTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private final List<String> written = new CopyOnWriteArrayList<>();

    private final WorkRecipes.Writer writer = new WorkRecipes.Writer() {
        @Override
        public int pages(String customer) {
            if (customer.equals("nobody")) {
                throw new PermanentFailure("no such customer");
            }
            return 2;
        }

        @Override
        public void write(String customer, int page) {
            written.add(customer + " " + page);
        }
    };

    private Windlass node() {
        return database.start(WorkRecipes.handle(database.windlass(), writer));
    }

    /** Only writes. */
    private Windlass producer() {
        return database.start(database.windlass());
    }

    private static WorkItem stored(Windlass windlass, WorkIdentifier id) {
        return windlass.workQueue().find(id).orElseThrow();
    }

    @Test
    void aReportTellsItsProgressAndItsResult() throws Exception {
        Windlass windlass = node();
        WorkIdentifier id = WorkRecipes.enqueue(windlass, "Ada");

        assertThat(WorkRecipes.await(windlass, id)).isEqualTo("/reports/" + id + ".pdf");

        assertThat(written).containsExactly("Ada 1", "Ada 2");
        assertThat(WorkRecipes.look(windlass, id)).isEqualTo("DONE, 100 %, page 2 of 2");
    }

    @Test
    void whoWaitsForWhatFailsLearnsWhy() throws Exception {
        Windlass windlass = node();
        assertThat(WorkRecipes.await(windlass, WorkRecipes.enqueue(windlass, "nobody")))
                .contains("FAILED: ", "no such customer");
    }

    @Test
    void manyAreWrittenAtOnce() {
        Windlass windlass = node();
        assertThat(WorkRecipes.enqueueMany(windlass, List.of("Ada", "Bob"))).hasSize(2);
        database.drain();
        assertThat(written).hasSize(4);
    }

    @Test
    void aReportIsWrittenOnlyIfItsTransactionIsCommitted() throws SQLException {
        Windlass windlass = node();
        assertThatThrownBy(() -> WorkRecipes.inTransaction(windlass, "Ada")).isInstanceOf(SQLException.class);
        database.drain();
        assertThat(written).isEmpty();

        execute("create table if not exists closed_month (customer text)");
        try {
            WorkRecipes.inTransaction(windlass, "Ada");
            database.drain();
            assertThat(written).containsExactly("Ada 1", "Ada 2");
        } finally {
            execute("drop table closed_month");
        }
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void payloadsCanBeObjects() {
        WindlassBuilder builder = database.windlass();
        Windlass windlass = producer();
        WorkIdentifier id = WorkRecipes.typed(builder, windlass);
        database.start(builder);
        database.drain();
        assertThat(stored(windlass, id).result()).contains("12 pages");
    }

    @Test
    void theHigherPriorityComesFirst() {
        Windlass windlass = producer();
        WorkRecipes.enqueue(windlass, "Ada");
        WorkRecipes.priority(windlass, "Bob");
        assertThat(windlass.workQueue().claim(OwnerToken.fresh(), Duration.ofMinutes(1), 1))
                .extracting(WorkItem::payload)
                .containsExactly("Bob");
    }

    @Test
    void ofEachCustomerOneIsInProgress() throws Exception {
        Windlass windlass = producer();
        WorkRecipes.limits(windlass);
        for (int i = 0; i < 3; i++) {
            WorkRecipes.key(windlass, "Ada");
        }
        WorkRecipes.key(windlass, "Bob");
        assertThat(WorkRecipes.claim(windlass, writer)).isEqualTo(2);
        assertThat(written).containsExactlyInAnyOrder("Ada 1", "Ada 2", "Bob 1", "Bob 2");
    }

    @Test
    void topicsCanBeLimitedToo() {
        Windlass windlass = producer();
        WorkRecipes.limitOfATopic(windlass);
        assertThat(windlass.outbox().operator("Ada").limits())
                .isEqualTo(Map.of("mail.send", TopicLimit.none().withRate(50, Duration.ofSeconds(1))));
    }

    @Test
    void aSecondReportOfTheSameKindIsNotWritten() {
        Windlass windlass = producer();
        WorkIdentifier first = WorkRecipes.unique(windlass, "Ada");
        assertThat(WorkRecipes.unique(windlass, "Ada")).isEqualTo(first);
        assertThat(WorkRecipes.unique(windlass, "Bob")).isNotEqualTo(first);
    }

    @Test
    void ofManyChangesTheLastIsIndexed() {
        Windlass windlass = database.start(database.windlass().workHandler("search", "index", item -> {
            written.add(item.payload());
        }));
        for (String change : List.of("name", "street", "phone")) {
            WorkRecipes.debounce(windlass, "Ada", change);
        }
        database.advance(Duration.ofSeconds(10));
        database.drain();
        assertThat(written).containsExactly("phone");
    }

    @Test
    void whatIsRunningStopsWhenItIsCancelled() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Windlass windlass = database.start(WorkRecipes.handle(database.windlass(), new WorkRecipes.Writer() {
            @Override
            public int pages(String customer) {
                return Integer.MAX_VALUE / 100;
            }

            @Override
            public void write(String customer, int page) {
                begun.countDown();
            }
        }));
        WorkIdentifier id = WorkRecipes.enqueue(windlass, "Ada");
        begun.await();

        assertThat(WorkRecipes.cancel(windlass, id)).isTrue();

        assertThat(windlass.workQueue().await(id, Duration.ofMinutes(1)).status())
                .isEqualTo(WorkStatus.CANCELLED);
    }

    @Test
    void whatIsNotReadyIsPutOffWithoutCostingAnAttempt() {
        AtomicBoolean ready = new AtomicBoolean();
        Windlass windlass = database.start(WorkRecipes.snooze(database.windlass(), video -> ready.get()));
        WorkIdentifier id = windlass.workQueue().enqueue(WorkEntry.of("videos", "publish", "birthday"));
        database.drain();
        assertThat(stored(windlass, id).retryCount()).isZero();
        assertThat(stored(windlass, id).status()).isEqualTo(WorkStatus.READY);

        ready.set(true);
        database.advance(Duration.ofMinutes(1));
        database.drain();
        assertThat(stored(windlass, id).result()).contains("published");
    }

    @Test
    void whenAllReportsAreThereAMessageFollows() throws Exception {
        Windlass windlass = database.start(WorkRecipes.handle(database.windlass(), writer)
                .outboxHandler("reports.mail", message -> written.add(message.payload())));
        JoinIdentifier join = WorkRecipes.join(windlass, List.of("Ada", "Bob", "Eve"));
        database.drain();
        assertThat(windlass.joins().find(join).orElseThrow().status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(written).hasSize(7).endsWith("all are there");
    }

    @Test
    void handlersHaveOptions() {
        Windlass windlass = database.start(WorkRecipes.options(database.windlass(), writer));
        WorkRecipes.enqueue(windlass, "Ada");
        database.drain();
        assertThat(written).containsExactly("Ada 1");
    }
}
