package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.OwnerToken;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Job;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node at rest, whose features do not look by themselves: what nobody has told it of, it finds by looking at all of them at once. */
final class LookoutTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    /** Who would wait as long as this leaves it to the lookout at once. */
    private static final Duration RESTS_AT_ONCE = Duration.ofSeconds(10);

    private final Queue<String> handled = new ConcurrentLinkedQueue<>();

    private WindlassBuilder resting(boolean hears) {
        return database.windlass()
                .options(database.options().withWakeUp(hears))
                .outbox(database.shortLease().withPollingInterval(RESTS_AT_ONCE))
                .inbox(InboxOptions.defaults().withPollingInterval(RESTS_AT_ONCE))
                .outboxHandler("a", message -> handled.add(message.payload()))
                .inboxHandler("a", message -> handled.add(message.payload()));
    }

    private static void silently(String call) {
        assertThat(database.rows("select " + call)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void itFindsMessagesThatAreDueNowOrSoon(boolean hears) {
        database.start(resting(hears));
        silently("%s.outbox_enqueue('a', 'one', p_notify => false)");
        silently("%s.outbox_enqueue('a', 'soon', p_delay => '1 second', p_notify => false)");
        silently("%s.inbox_enqueue('source', 'id', 'a', 'inbox', p_notify => false)");

        eventually().until(() -> handled.size() == 3);
        assertThat(handled).containsExactlyInAnyOrder("one", "soon", "inbox");
    }

    @Test
    void itFindsTimersAndJobs() {
        Windlass node = database.start(
                resting(true).job(Job.cron("job", "0 0 0 1 1 *", ZoneId.of("UTC")), message -> handled.add("run")));
        silently("%s.outbox_timer_schedule('a', 'timer', p_delay => '1 second', p_notify => false)");
        eventually().until(() -> node.jobs().find("job").isPresent());
        database.update("update %s.outbox_job set next_tick_at = next_tick_at - interval '2 years', fires_at = now()");

        eventually().until(() -> handled.size() >= 2);
        assertThat(handled).contains("timer", "run");
    }

    @Test
    void itFindsATopicThatWasResumed() throws SQLException {
        Windlass node = database.start(resting(true));
        node.outbox().operator("me").pause("a", "stop");
        silently("%s.outbox_enqueue('a', 'one', p_notify => false)");
        node.outbox().enqueue(OutboxEntry.of("a", "two"));
        assertThat(handled).isEmpty();

        database.execute("delete from %s.windlass_topic");
        eventually().until(() -> handled.size() == 2);
    }

    @Test
    void itFindsLeasesThatRanOut() {
        Windlass passive = database.passive();
        silently("%s.outbox_enqueue('a', 'lost', p_notify => false)");
        assertThat(passive.outbox().claim(OwnerToken.fresh(), Duration.ofSeconds(1), 1))
                .hasSize(1);

        database.start(resting(true));
        eventually().until(() -> handled.contains("lost"));
    }

    @Test
    void itFindsWhatHasExpired() {
        database.start(resting(true));
        silently("%s.outbox_enqueue('b', 'old', p_expires_at => now() + interval '1 second', p_notify => false)");

        eventually().until(() -> database.count("status = 3") == 1);
    }

    @Test
    void itWarnsOnceOfATopicWithoutAHandler() {
        try (Logs logs = Logs.collect(Level.WARN)) {
            silently("%s.outbox_enqueue('b', 'lonely', p_notify => false)");
            database.start(resting(true));
            silently("%s.outbox_enqueue('a', 'one', p_notify => false)");

            eventually().until(() -> handled.contains("one"));
            assertThat(logs.count(Level.WARN, "topic b are waiting")).isEqualTo(1);
        }
    }

    @Test
    void aQueueThatIsAskedForOftenIsLookedAtOnce() {
        Windlass node = database.start(resting(true));
        for (int i = 0; i < 20; i++) { // as a program does that writes items
            node.workQueue();
            node.inbox();
        }
        Instant asked = database.now();

        List<String> looks = new ArrayList<>();
        eventually()
                .until(() -> looks.addAll(database.rows(
                        "select query from pg_stat_activity where query like 'select 0 as place%' and query_start > ?"
                                + " and query like '%' || ? || '%'",
                        asked, database.schema())));
        assertThat(looks)
                .allSatisfy(
                        look -> assertThat(look).containsOnlyOnce("work_look").containsOnlyOnce("inbox_look"));
    }

    @Test
    void aQuestionThatIsRefusedKeepsTheOthersFromNothing() throws SQLException {
        database.execute("revoke select on %s.inbox from windlass_runtime");
        try (Logs logs = Logs.collect(Level.WARN)) {
            database.start(resting(true));
            silently("%s.outbox_enqueue('a', 'one', p_notify => false)");

            eventually().until(() -> handled.contains("one")); // by a claim that is under way, perhaps, before any look
            eventually().until(() -> logs.count(Level.WARN, "looking for work failed and goes on trying") == 1);
        } finally {
            database.execute("grant select on %s.inbox to windlass_runtime");
        }
        silently("%s.inbox_enqueue('source', 'id', 'a', 'inbox', p_notify => false)");
        eventually().until(() -> handled.contains("inbox"));
    }

    @Test
    void aTableThatIsLockedKeepsTheOthersFromNothing() throws SQLException {
        database.start(resting(false));
        try (Connection owner = database.owner().getConnection()) {
            owner.setAutoCommit(false);
            database.update(owner, "lock table %s.inbox in access exclusive mode");
            for (String each : List.of("one", "two", "three")) { // the first may be found by a claim that is under way
                silently("%s.outbox_enqueue('a', '" + each + "', p_notify => false)");
                eventually().until(() -> handled.contains(each));
            }
        }
    }

    @Test
    void aLookThatTakesLongComesOftenEnoughForLeases() throws SQLException {
        String look = database.value(String.class, "select pg_get_functiondef('%s.outbox_look'::regproc)");
        database.execute(look.replaceFirst("\nbegin\n", "\nbegin perform pg_sleep(0.2);\n"));
        try {
            Windlass passive = database.passive();
            silently("%s.outbox_enqueue('a', 'lost', p_notify => false)");
            assertThat(passive.outbox().claim(OwnerToken.fresh(), Duration.ofSeconds(1), 1))
                    .hasSize(1);

            database.start(resting(true));
            eventually().until(() -> handled.contains("lost"));
        } finally {
            database.execute(look);
        }
    }
}
