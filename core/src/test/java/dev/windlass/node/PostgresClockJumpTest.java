package dev.windlass.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Repository;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.work.WorkEntry;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The repair that the documentation gives for a clock that jumped forward and back again. */
final class PostgresClockJumpTest {
    private static final Duration LEASE = Duration.ofMinutes(1);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Windlass windlass = database.passive();
    private final OwnerToken owner = OwnerToken.fresh();

    @Test
    void whatWasWrittenDuringTheJumpIsThereAfterTheRepairAndWhatIsDueLaterIsNot() throws Exception {
        windlass.outbox().enqueue(OutboxEntry.of("a", "taken"));
        windlass.outbox().claim(OwnerToken.fresh(), LEASE, 1);
        windlass.outbox().enqueue(OutboxEntry.of("a", "ready"));
        windlass.outbox()
                .enqueue(OutboxEntry.of("a", "later").withDueTime(Instant.now().plusSeconds(100_000)));
        windlass.inbox().enqueue(InboxEntry.of("source", "1", "a", "ready"));
        windlass.timers().schedule(TimerEntry.of("a", "taken", Duration.ZERO));
        windlass.timers().claim(OwnerToken.fresh(), LEASE, 1);
        windlass.timers().schedule(TimerEntry.of("a", "ready", Duration.ZERO));
        windlass.workQueue().enqueue(WorkEntry.of("reports", "monthly", "ready"));
        windlass.leases().tryAcquire("name", LEASE);
        jump();
        assertThat(windlass.outbox().claim(owner, LEASE, 10)).isEmpty();

        repair();

        assertThat(windlass.outbox().claim(owner, LEASE, 10))
                .extracting("payload")
                .containsExactly("ready");
        assertThat(windlass.inbox().claim(owner, LEASE, 10)).hasSize(1);
        assertThat(windlass.timers().claim(owner, LEASE, 10)).hasSize(1);
        assertThat(windlass.workQueue().claim("reports", owner, LEASE, 10)).hasSize(1);
        assertThat(windlass.leases().tryAcquire("name", LEASE)).isPresent();
        assertThat(database.count("payload = 'taken' and locked_until <= clock_timestamp()"))
                .isEqualTo(1);
        assertThat(database.value(
                        Boolean.class,
                        "select locked_until <= clock_timestamp() from %s.outbox_timer" + " where payload = 'taken'"))
                .isTrue();
    }

    /** As if all this had been written when the clock was a day ahead. */
    private static void jump() throws SQLException {
        for (String table : new String[] {"outbox", "inbox", "work", "outbox_timer"}) {
            database.execute(
                    "update %s." + table + " set next_attempt_at = greatest(due_at, next_attempt_at + interval '1 day')"
                            + ", locked_until = locked_until + interval '1 day'");
        }
        database.execute("update %s.lease set expires_at = expires_at + interval '1 day'");
    }

    private static void repair() throws IOException, SQLException {
        database.execute(Repository.documentedSql("docs/operations.md", "after the clock jumped"));
    }
}
