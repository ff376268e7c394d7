package dev.windlass.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.EngineDatabase;
import dev.windlass.OwnerToken;
import dev.windlass.PostgresDatabase;
import dev.windlass.TestDatabase;
import dev.windlass.runtime.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Timers that are ended while a transaction replaces them, in the order of their keys, as {@code scheduleAll} does. */
final class TimerLockOrderTest extends TimerConformance {
    @RegisterExtension
    static final TestDatabase postgres = new TestDatabase();

    @Override
    EngineDatabase database() {
        return new PostgresDatabase(postgres);
    }

    private static TimerEntry due(String key) {
        return TimerEntry.of("topic", "payload", Duration.ZERO).replacing(key);
    }

    @Test
    void anAckDoesNotDeadlockWithATransactionThatReplacesItsTimers() throws Exception {
        doesNotDeadlock("outbox_timer_ack");
    }

    @Test
    void anAbandonDoesNotDeadlockWithATransactionThatReplacesItsTimers() throws Exception {
        doesNotDeadlock("outbox_timer_abandon");
    }

    private void doesNotDeadlock(String routine) throws Exception {
        List<UUID> ids = List.of( // the order of the ids is not that of the keys
                timers.schedule(due("b")).value(), timers.schedule(due("a")).value());
        OwnerToken owner = OwnerToken.fresh();
        assertThat(timers.claim(owner, Duration.ofMinutes(1), 10)).hasSize(2);
        try (Connection connection = database().transaction()) {
            timers.schedule(connection, due("a"));
            CompletableFuture<Integer> ended = CompletableFuture.supplyAsync(() -> once(routine, ids, owner.value()));
            eventually().until(this::somebodyWaits);
            timers.schedule(connection, due("b"));
            connection.commit();
            assertThat(ended.get(30, TimeUnit.SECONDS)).isZero();
        }
        assertThat(count("outbox_timer")).isEqualTo(2);
    }

    /** Not repeated, as a deadlock otherwise would be. */
    private int once(String routine, List<UUID> ids, UUID owner) {
        Database routines = database().routines();
        try {
            return routines.once(connection ->
                    routines.call(connection, routine).uuids(ids).uuid(owner).count());
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean somebodyWaits() {
        String waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like ?";
        return database().value(Long.class, waiting, "%" + postgres.schema() + "%outbox_timer_a%") == 1;
    }
}
