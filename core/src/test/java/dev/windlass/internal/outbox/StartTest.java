package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.base.Deadline;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.QueueKind;
import dev.windlass.base.QueueOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WindlassOptions;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.dispatch.DispatcherOptions;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.WorkStore;
import dev.windlass.internal.schema.Channel;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.trace.Tracing;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What happens between a claim and the start of its handler. */
final class StartTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Workers workers = new Workers();
    private final Queue<String> events = new ConcurrentLinkedQueue<>();
    private final CountDownLatch goOn = new CountDownLatch(1);
    private @Nullable Node shared;
    private @Nullable Dispatcher<OutboxMessage> dispatcher;

    @AfterEach
    void stop() throws InterruptedException {
        goOn.countDown();
        if (dispatcher != null && shared != null) {
            Deadline end = Deadline.in(MonotonicClock.system(), Duration.ofSeconds(5));
            dispatcher.askToStop();
            dispatcher.awaitHandlers(end);
            dispatcher.finish(end, end);
            shared.end(end);
        }
        workers.close();
    }

    private static void write(String payload, int count, int leaseExpiries) throws SQLException {
        database.execute("insert into %s.outbox (id, created_at, next_attempt_at, lease_expiries, topic, payload)"
                + " select gen_random_uuid(), clock_timestamp(), clock_timestamp(), " + leaseExpiries + ", 'a', '"
                + payload
                + "' from generate_series(1, " + count + ")");
    }

    private void node(
            UnaryOperator<Claimed<OutboxMessage>> change,
            ChangedStore.Start start,
            Handling.Handler<OutboxMessage> handler) {
        node(change, start, handler, Events.NONE, 16);
    }

    private void node(
            UnaryOperator<Claimed<OutboxMessage>> change,
            ChangedStore.Start start,
            Handling.Handler<OutboxMessage> handler,
            Events events,
            int concurrency) {
        node(change, start, new Handling<>(handler, HandlerOptions.defaults()), events, concurrency);
    }

    private void node(
            UnaryOperator<Claimed<OutboxMessage>> change,
            ChangedStore.Start start,
            Handling<OutboxMessage> handling,
            Events events,
            int concurrency) {
        Database routines = new Database(
                database.dataSource(), new PostgresDialect(), database.schema(), "outbox", events, Tracing.NONE, null);
        OutboxStore store = new OutboxStore(routines, OutboxOptions.defaults(), "node", () -> true);
        Node background = new Node(routines, routines, Node.Shared.none(workers), true, Duration.ofMillis(100));
        shared = background;
        dispatcher = new Dispatcher<>(
                routines,
                background,
                new ChangedStore(store, change, start),
                Channel.of(database.schema(), "outbox"),
                Map.of("a", handling),
                new DispatcherOptions(
                        QueueOptions.defaults()
                                .withPollingInterval(Duration.ofMillis(20))
                                .withBatchSize(20)
                                .withConcurrency(concurrency),
                        WindlassOptions.defaults()
                                .withMaxPollingInterval(Duration.ofMillis(100))
                                .withShutdownGrace(Duration.ZERO)),
                QueueKind.OUTBOX);
        dispatcher.start();
        background.lookout().start();
    }

    private static WorkStore.Answer changed(WorkStore.Held held) {
        return WorkStore.Answer.all(1);
    }

    private static Claimed<OutboxMessage> with(Claimed<OutboxMessage> claimed, int crashes, @Nullable String problem) {
        return new Claimed<>(
                claimed.id(),
                claimed.owner(),
                claimed.topic(),
                claimed.retryCount(),
                claimed.leaseExpiries(),
                crashes,
                claimed.requeues(),
                claimed.ordered(),
                claimed.awaited(),
                claimed.jobRun(),
                claimed.priority(),
                claimed.keyed(),
                claimed.size(),
                claimed.waited(),
                claimed.position(),
                claimed.proof(),
                problem == null ? claimed.message() : null,
                problem);
    }

    @Test
    void aMessageWhoseLeaseRanOutIsMarkedBeforeItsHandlerStartsAndNoOther() throws Exception {
        write("fresh", 20, 0);
        write("expired", 3, 1);
        node(
                claimed -> claimed,
                held -> {
                    events.add("mark " + held.id());
                    return WorkStore.Answer.all(1);
                },
                (message, cancellation) -> {
                    if (message.payload().equals("expired")) {
                        events.add("handle " + message.id().value());
                    }
                });
        eventually().until(() -> database.count("status = 2") == 23);
        assertThat(events).hasSize(6);
        List<String> order = List.copyOf(events);
        for (String event : order) {
            if (event.startsWith("handle ")) {
                assertThat(order.indexOf(event.replace("handle", "mark"))).isBetween(0, order.indexOf(event) - 1);
            }
        }
    }

    @Test
    void whatCannotBeMarkedIsNotHandledAndNothingIsHeldAgainstIt() throws Exception {
        write("x", 1, 2);
        AtomicInteger tries = new AtomicInteger();
        try (Logs logs = Logs.collect(Level.WARN)) {
            quick(
                    held -> switch (tries.incrementAndGet()) {
                        case 1 -> new WorkStore.Answer(0, Set.of(held.id()), Set.of());
                        case 2 -> new WorkStore.Answer(0, Set.of(), Set.of(held.id()));
                        case 3, 4 -> throw new SQLException("no", "57014");
                        case 5 -> throw new IllegalStateException("the pool has a bad day");
                        default -> changed(held);
                    },
                    (message, cancellation) -> events.add("handled in try " + tries.get()));
            eventually().until(() -> database.count("status = 2") == 1);
            assertThat(logs.lines())
                    .anyMatch(line -> line.text().contains("could not be written down: somebody has it locked"))
                    .anyMatch(line -> line.text().contains("could not be written down: java.lang.IllegalState"));
        }
        assertThat(events).containsExactly("handled in try 6");
        assertThat(database.count("retry_count = 0 and lease_expiries = 2")).isEqualTo(1);
    }

    private void quick(ChangedStore.Start start, Handling.Handler<OutboxMessage> handler) {
        RetryPolicy quick = RetryPolicy.defaults().withBase(Duration.ofMillis(50));
        node(
                claimed -> claimed,
                start,
                new Handling<>(handler, HandlerOptions.defaults().withRetry(quick)),
                Events.NONE,
                16);
    }

    /** A trigger of the user's refuses it for ever: it is no reason to claim it again and again. */
    @Test
    void whatCannotBeMarkedWaitsAsLongAsItsRetryPolicySaysWithAReason() throws Exception {
        write("x", 1, 2);
        node(
                claimed -> claimed,
                held -> {
                    throw new SQLException("x is secret", "P0001");
                },
                (message, cancellation) -> events.add("handled"));
        eventually()
                .until(() -> database.count("status = 0 and retry_count = 0 and next_attempt_at > clock_timestamp()"
                                + " and last_error like '%its start could not be written down: %P0001%'"
                                + " and strpos(last_error, 'secret') = 0")
                        == 1);
        assertThat(events).isEmpty();
    }

    @Test
    void leasesThatRanOutBeforeAHandlerStartedAreHeldAgainstNobody() throws Exception {
        write("x", 40, 100);
        AtomicInteger running = new AtomicInteger();
        node(claimed -> claimed, StartTest::changed, (message, cancellation) -> {
            running.incrementAndGet();
            goOn.await();
        });
        eventually().until(() -> running.get() == 16);
        goOn.countDown();
        eventually().until(() -> database.count("status = 2") == 40);
    }

    @Test
    void suspectsAreHandledOneAtATimeBesideOthersThatTakeLong() throws Exception {
        write("suspect", 12, 2);
        write("long", 5, 0);
        write("short", 100, 0);
        AtomicInteger suspects = new AtomicInteger();
        node(
                claimed -> with(claimed, claimed.leaseExpiries() / 2, null),
                StartTest::changed,
                (message, cancellation) -> {
                    if (message.payload().equals("suspect")) {
                        events.add(suspects.incrementAndGet() + " at once");
                        Thread.sleep(2);
                        suspects.decrementAndGet();
                    } else if (message.payload().equals("long")) {
                        goOn.await();
                    }
                });
        eventually().until(() -> database.count("status = 2 and payload <> 'long'") == 112);
        assertThat(events).hasSize(12).containsOnly("1 at once");
        assertThat(database.count("status = 1 and payload = 'long'")).isEqualTo(5);
    }

    @Test
    @Shows("OBX-064")
    void aMessageThatEndedItsProcessTooOftenFailsUnhandled() throws Exception {
        write("x", 1, 6);
        node(
                claimed -> with(claimed, 5, null),
                StartTest::changed,
                (message, cancellation) -> events.add(message.payload()));
        eventually()
                .until(() -> database.count("status = 3 and last_error like 'its lease ran out 5 times after%'") == 1);
        assertThat(events).isEmpty();
    }

    @Test
    void aMessageThatCannotBeReadFailsAloneAndIsLoggedOnce() throws Exception {
        write("broken", 1, 0);
        write("whole", 30, 0);
        String problem = "its headers are no JSON object";
        try (Logs logs = Logs.collect(Level.ERROR)) {
            node(
                    claimed -> claimed.readable().payload().equals("broken") ? with(claimed, 0, problem) : claimed,
                    StartTest::changed,
                    (message, cancellation) -> events.add(message.payload()));
            eventually().until(() -> database.count("status = 2") == 30);
            eventually().until(() -> database.count("status = 3 and last_error = '" + problem + "'") == 1);
            String id = database.value(String.class, "select id::text from %s.outbox where status = 3");
            assertThat(logs.at(Level.ERROR))
                    .containsExactly("[outbox] message " + id + " of topic a has failed: " + problem);
        }
        assertThat(events).hasSize(30).containsOnly("whole");
        assertThat(database.count("retry_count > 0")).isZero();
    }

    @Test
    void aWorkerOutlivesWhatGoesWrongAfterAHandler() throws Exception {
        write("x", 10, 0);
        Events broken = new BrokenEvents(WindlassEvent.Handled.class, () -> {
            throw new AssertionError("no events today");
        });
        node(claimed -> claimed, StartTest::changed, (message, cancellation) -> {}, broken, 1);
        eventually().until(() -> database.count("status = 2") == 10);
    }
}
