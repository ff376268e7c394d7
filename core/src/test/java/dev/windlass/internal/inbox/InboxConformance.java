package dev.windlass.internal.inbox;

import dev.windlass.EngineDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.inbox.SeenMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;

/** What the parts of the conformance suite have in common. */
abstract class InboxConformance {
    static final String SOURCE = "orders";

    /** So short a lease that the quiet time after the server's start is over; a guard's lease as long as any test takes. */
    static final InboxOptions OPTIONS = InboxOptions.defaults()
            .withLease(Duration.ofMillis(10))
            .withWaitAtMost(Duration.ofSeconds(30))
            .withMaxAttempts(3);

    /** For leases that are to run out. */
    static final InboxOptions SHORT = OPTIONS.withGuardLease(Duration.ofMillis(150));

    static final Duration LEASE = Duration.ofMinutes(5);

    Windlass windlass;
    Inbox inbox;

    private EngineDatabase database;

    @BeforeEach
    void startWithoutBackgroundWork(EngineDatabase database) {
        this.database = database;
        windlass = windlass(OPTIONS);
        inbox = windlass.inbox();
    }

    final EngineDatabase database() {
        return database;
    }

    Windlass windlass(InboxOptions options) {
        return database()
                .start(database()
                        .windlass()
                        .options(database()
                                .options()
                                .withBackgroundWorkers(false)
                                .withNodeName("node-1"))
                        .inbox(options));
    }

    Inbox inbox(InboxOptions options) {
        return windlass(options).inbox();
    }

    /** Begins a message that can be begun. */
    InboxAttempt begun(String id) {
        return begun(inbox, id);
    }

    static InboxAttempt begun(Inbox inbox, String id) {
        Begin begin = inbox.begin(SOURCE, id);
        if (begin instanceof Begin.Proceed proceed) {
            return proceed.attempt();
        }
        throw new IllegalStateException("expected to begin " + id + ", got " + begin);
    }

    /** A message that was processed. */
    void processed(String id) {
        inbox.markProcessed(begun(id));
    }

    InboxEntry entry(String id) {
        return InboxEntry.of(SOURCE, id, "topic", "payload of " + id);
    }

    SeenMessage seen(String id) {
        return inbox.find(SOURCE, id).orElseThrow();
    }

    WorkStatus status(String id) {
        return seen(id).status();
    }

    /** Of all that the inbox has seen, queued or not. */
    long count(String where) {
        return database()
                .value(
                        Long.class,
                        "select count(*) from (select s.source, s.message_id, s.last_seen_at, q.topic, coalesce(q.status, s.status) as status,"
                                + " coalesce(q.lease_expiries, s.lease_expiries) as lease_expiries, q.next_attempt_at,"
                                + " coalesce(q.locked_until, s.locked_until) as locked_until"
                                + " from %s.inbox_seen s left join %s.inbox q on q.id = s.id) seen where "
                                + where);
    }

    /** As if the owner had been silent for the whole lease. */
    void runOutLease(String id) {
        database()
                .update(
                        "update %s.inbox_seen set locked_until = first_seen_at where status = 1 and message_id = ?",
                        id);
        database().update("update %s.inbox set locked_until = created_at where status = 1 and message_id = ?", id);
    }

    /** As if the rest after a failure, or the delay, were over. */
    void endPause(String id) {
        database().update("update %s.inbox_seen set state_at = first_seen_at where status = 0 and message_id = ?", id);
        database().update("update %s.inbox set next_attempt_at = created_at where status = 0 and message_id = ?", id);
    }

    /** A connection in a transaction. */
    Connection transaction() throws SQLException {
        return database().transaction();
    }

    /** Runs the same on every racer, all starting together, and returns what each returned. */
    static <T> List<T> race(int racers, Callable<T> work) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(racers);
        try {
            CyclicBarrier start = new CyclicBarrier(racers);
            List<Callable<T>> tasks = Collections.nCopies(racers, () -> {
                start.await();
                return work.call();
            });
            List<T> results = new ArrayList<>();
            for (Future<T> result : threads.invokeAll(tasks)) {
                results.add(result.get());
            }
            return results;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        } finally {
            threads.shutdownNow();
        }
    }
}
