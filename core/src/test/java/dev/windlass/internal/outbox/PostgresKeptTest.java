package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.HeldStatements;
import dev.windlass.SilentLogins;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.node.Pools;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a node keeps that it has written, where triggers of the user's or a pool are in its way. */
final class PostgresKeptTest {
    private static final OutboxOptions OPTIONS = OutboxOptions.defaults().withConcurrency(2);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Queue<String> handled = new ConcurrentLinkedQueue<>();

    @AfterEach
    void forgetTheTrigger() throws SQLException {
        database.execute("drop trigger if exists of_users on %s.outbox");
    }

    private static void trigger(String when, String does) throws SQLException {
        database.execute("create or replace function %s.of_users() returns trigger language plpgsql as $$ begin " + does
                + " return new; end $$");
        database.execute("grant execute on function %s.of_users() to public");
        database.execute(
                "create trigger of_users " + when + " on %s.outbox for each row execute function %s.of_users()");
    }

    private Windlass node(WindlassBuilder builder, OutboxOptions options) {
        Windlass windlass =
                database.start(builder.outbox(options).outboxHandler("a", message -> handled.add(message.payload())));
        eventually()
                .until(() ->
                        windlass.inTransaction(connection -> isKept(connection, write(windlass, connection, "p"))));
        eventually().until(() -> database.count("status in (0, 1)") == 0);
        handled.clear();
        return windlass;
    }

    private static OutboxMessageIdentifier write(Windlass windlass, Connection connection, String payload) {
        return windlass.outbox().enqueue(connection, OutboxEntry.of("a", payload));
    }

    private static boolean isKept(Connection connection, OutboxMessageIdentifier id) {
        try {
            return database.lock(connection, "outbox", "id = ? and status = 1", id.value()) == 1;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whatATriggerPutsOffStaysPutOff() throws SQLException {
        Windlass windlass = node(database.windlass(), OPTIONS);
        trigger("before insert", "new.next_attempt_at := new.next_attempt_at + interval '1 hour';");

        windlass.outbox().enqueue(OutboxEntry.of("a", "in an hour"));

        eventually()
                .until(() -> database.count(
                                "payload = 'in an hour' and status = 0 and next_attempt_at > now() + interval '50 min'")
                        == 1);
        assertThat(handled).isEmpty();
    }

    @Test
    void whatATriggerLetsExpireIsNotHandled() throws SQLException {
        Windlass windlass = node(database.windlass(), OPTIONS);
        trigger("before insert", "new.expires_at := clock_timestamp();");

        windlass.outbox().enqueue(OutboxEntry.of("a", "too late"));

        eventually().until(() -> database.count("payload = 'too late' and status <> 1") == 1);
        assertThat(handled).isEmpty();
    }

    @Test
    void oneThatATriggerRefusesToGiveBackKeepsNoOther() throws SQLException {
        Windlass windlass = node(database.windlass(), OPTIONS.withLease(Duration.ofMinutes(10)));
        trigger("before update", "if new.status = 0 and new.payload = 'refused' then raise 'no'; end if;");

        windlass.inTransaction(connection -> {
            assertThat(isKept(connection, write(windlass, connection, "refused")))
                    .isTrue();
            assertThat(isKept(connection, write(windlass, connection, "other"))).isTrue();
            // So both are to be given back.
            database.update(
                    connection, "update %s.outbox set expires_at = now() where payload in ('refused', 'other')");
            return true;
        });

        eventually().until(() -> database.count("payload = 'other' and status <> 1") == 1);
        assertThat(database.count("payload = 'refused' and status = 1")).isOne();
    }

    /** A pool that gives out nothing but what the node keeps, from before the commit on. */
    @Test
    void aNodeWhosePoolIsUsedUpLeavesWhatItHasKeptToOthers() throws SQLException {
        SilentLogins pool = new SilentLogins(database.dataSource());
        Windlass poor = node(Windlass.on(pool.source()).options(database.options()), OPTIONS);
        Queue<String> byTheOther = new ConcurrentLinkedQueue<>();
        database.start(
                database.windlass().outbox(OPTIONS).outboxHandler("a", message -> byTheOther.add(message.payload())));
        try {
            poor.inTransaction(connection -> {
                assertThat(isKept(connection, write(poor, connection, "1"))).isTrue();
                pool.fallSilent();
                return true;
            });
            eventually().until(() -> byTheOther.contains("1"));
            assertThat(handled).isEmpty();
        } finally {
            pool.answerNewOnes().countDown();
        }
    }

    /** Each of them holds a connection already: whoever gives something back on a second one may wait for himself. */
    @Test
    void whoCommitsWhileANodeEndsNeedsNoSecondConnection() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch written = new CountDownLatch(2);
        CountDownLatch commit = new CountDownLatch(1);
        try (HikariDataSource small =
                Pools.of(database.unpooled(), 3, config -> config.setConnectionTimeout(600_000))) {
            WindlassBuilder builder = Windlass.on(small)
                    .options(database.options().withShutdownGrace(Duration.ofMinutes(5)))
                    .outboxHandler("slow", message -> {
                        begun.countDown();
                        end.await();
                    });
            Windlass windlass = node(builder, OutboxOptions.defaults());
            windlass.outbox().enqueue(OutboxEntry.of("slow", "x"));
            begun.await();
            List<CompletableFuture<Boolean>> writers = Stream.of("1", "2")
                    .map(payload -> CompletableFuture.supplyAsync(() -> windlass.inTransaction(connection -> {
                        boolean kept = isKept(connection, write(windlass, connection, payload));
                        written.countDown();
                        awaited(commit);
                        return kept;
                    })))
                    .toList();
            written.await();
            Thread closer = new Thread(windlass::close);
            closer.start();
            eventually().until(() -> closer.getState() == Thread.State.TIMED_WAITING);

            commit.countDown();

            eventually().until(() -> writers.stream().allMatch(CompletableFuture::isDone));
            assertThat(writers).allMatch(CompletableFuture::join);
            eventually().until(() -> database.count("payload in ('1', '2') and status = 0") == 2);
            end.countDown();
            closer.join();
        } finally {
            end.countDown();
        }
        assertThat(handled).isEmpty();
    }

    /** The id of a message may be known elsewhere before its commit. */
    @Test
    void whoIsInAnotherTransactionTakesNothingAwayFromAHandler() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        HeldStatements held = new HeldStatements(database.dataSource(), "outbox_release");
        AtomicInteger runs = new AtomicInteger();
        Windlass windlass = database.start(
                Windlass.on(held.source()).options(database.options()).outboxHandler("b", message -> {
                    runs.incrementAndGet();
                    begun.countDown();
                    awaited(end);
                }));
        eventually().until(() -> keepsThatIsTakenBack(windlass));
        CompletableFuture<OutboxMessageIdentifier> known = new CompletableFuture<>();
        CountDownLatch commit = new CountDownLatch(1);
        CompletableFuture<Boolean> writer = CompletableFuture.supplyAsync(() -> windlass.inTransaction(connection -> {
            OutboxMessageIdentifier id = windlass.outbox().enqueue(OutboxEntry.of("b", "x"));
            boolean kept = isKept(connection, id);
            known.complete(id);
            awaited(commit);
            return kept;
        }));
        OutboxMessageIdentifier id = known.join();

        CompletableFuture<Boolean> cancelled =
                CompletableFuture.supplyAsync(() -> windlass.outbox().cancel(id));
        eventually().until(() -> cancelled.isDone() || held.begun().getCount() == 0);
        commit.countDown();
        assertThat(writer.join()).isTrue();
        begun.await();
        held.goOn();

        assertThat(cancelled.join()).isFalse();
        end.countDown();
        eventually().until(() -> database.count("topic = 'b' and status <> 2") == 0);
        assertThat(runs).hasValue(1);
    }

    private static boolean keepsThatIsTakenBack(Windlass windlass) {
        AtomicBoolean kept = new AtomicBoolean();
        assertThatThrownBy(() -> windlass.inTransaction(connection -> {
                    kept.set(isKept(connection, windlass.outbox().enqueue(OutboxEntry.of("b", "never"))));
                    throw new IllegalStateException("taken back");
                }))
                .hasMessage("taken back");
        return kept.get();
    }

    private static void awaited(CountDownLatch latch) {
        try {
            assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
