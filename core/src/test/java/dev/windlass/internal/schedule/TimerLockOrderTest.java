package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.database.Database;
import dev.windlass.schedule.TimerEntry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Timers that are ended while a transaction replaces them, in the order of their keys, as {@code scheduleAll} does. */
final class TimerLockOrderTest extends TimerConformance {
    @RegisterExtension
    static final TestDatabase postgres = new TestDatabase();

    private static TimerEntry due(String key) {
        return TimerEntry.of("topic", "payload", Duration.ZERO).replacing(key);
    }

    @Test
    void anAckLeavesOutTheTimerThatATransactionReplaces() throws Exception {
        leavesOut("outbox_timer_ack");
    }

    @Test
    void anAbandonLeavesOutTheTimerThatATransactionReplaces() throws Exception {
        leavesOut("outbox_timer_abandon");
    }

    private void leavesOut(String routine) throws Exception {
        UUID free = timers.schedule(due("b")).value();
        UUID replaced = timers.schedule(due("a")).value();
        OwnerToken owner = OwnerToken.fresh();
        assertThat(timers.claim(owner, Duration.ofMinutes(1), 10)).hasSize(2);
        try (Connection connection = database().transaction()) {
            timers.schedule(connection, due("a"));
            assertThat(call(routine, List.of(free, replaced), owner.value()))
                    .as("nobody waits for the transaction")
                    .isEqualTo("1 [" + replaced + "] []");
            timers.schedule(connection, due("b"));
            connection.commit();
        }
        assertThat(call(routine, List.of(replaced), owner.value())).isEqualTo("0 [] [" + replaced + "]");
        assertThat(count("outbox_timer")).isEqualTo(2);
    }

    private String call(String routine, List<UUID> ids, UUID owner) throws SQLException {
        Database routines = database().routines();
        return routines.once(connection -> routines.call(connection, routine)
                .uuids(ids)
                .uuids(List.of(owner))
                .list(row -> row.getInt("changed") + " "
                        + Arrays.toString((Object[]) row.getArray("locked").getArray()) + " "
                        + Arrays.toString((Object[]) row.getArray("lost").getArray()))
                .get(0));
    }
}
