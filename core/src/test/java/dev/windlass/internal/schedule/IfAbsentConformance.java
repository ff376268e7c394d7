package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Transactions that find the timer they want. */
@OnEveryEngine
final class IfAbsentConformance extends TimerConformance {
    private static TimerEntry wanted() {
        return TimerEntry.of("topic", "wanted", Duration.ZERO).ifAbsent("key");
    }

    @Test
    void whoFindsATimerDoesNotKeepOthersWaitingWhoFindIt() throws SQLException {
        TimerIdentifier id = timers.schedule(wanted());
        try (Connection connection = database().transaction()) {
            assertThat(timers.schedule(connection, wanted())).isEqualTo(id);
            assertThat(timers.schedule(wanted())).isEqualTo(id);
            assertThat(timers.schedule(
                            TimerEntry.of("topic", "new", Duration.ZERO).replacing("key")))
                    .isEqualTo(id);
            connection.commit();
        }
    }

    /** Else its handler would not see what the transaction wrote, and no other timer would follow. */
    @Test
    void aTimerThatATransactionHasFoundIsDoneAfterItsEnd() throws SQLException {
        timers.schedule(wanted());
        try (Connection connection = database().transaction()) {
            timers.schedule(connection, wanted());
            assertThat(handOff(10)).isZero();
            connection.commit();
        }
        assertThat(handOff(10)).isEqualTo(1);
    }
}
