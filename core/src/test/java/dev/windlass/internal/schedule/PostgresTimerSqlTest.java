package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Timers from psql or any other language. */
final class PostgresTimerSqlTest extends TimerConformance {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static <T> T call(Class<T> type, String sql) {
        return database.value(type, "select " + sql);
    }

    @Test
    void aTimerNeedsATopicAPayloadAndATime() {
        UUID id = call(UUID.class, "%s.outbox_timer_schedule('a', 'x', p_delay => '1 hour')");
        assertThat(call(Integer.class, "%s.outbox_timer_reschedule(array['" + id + "']::uuid[])"))
                .isEqualTo(1);
        assertThat(call(Integer.class, "handed from %s.outbox_timer_hand_off()"))
                .isEqualTo(1);
        assertThat(database.count("id = '" + id + "' and correlation_id = 'timer-" + id + "'"))
                .isEqualTo(1);
        assertThat(call(Integer.class, "%s.outbox_timer_cancel(array['" + id + "']::uuid[])"))
                .isZero();
    }

    @Test
    void manyTimersNeedNoMoreThanTheirArrays() {
        assertThat(
                        call(
                                Integer.class,
                                "cardinality(%s.outbox_timer_schedule_all(null, array['a', 'b'], array['1', '2'], array[now(), now()]))"))
                .isEqualTo(2);
        assertThat(call(Integer.class, "handed from %s.outbox_timer_hand_off(1)"))
                .isEqualTo(1);
        assertThat(call(Integer.class, "handed from %s.outbox_timer_hand_off()"))
                .isEqualTo(1);
    }

    @Test
    void aTimerWithoutATimeOrWithTwoIsRefused() {
        assertThatThrownBy(() -> call(UUID.class, "%s.outbox_timer_schedule('a', 'x')"))
                .hasMessageContaining("expected a due time or a delay, got neither");
        assertThatThrownBy(() -> call(UUID.class, "%s.outbox_timer_schedule('a', 'x', now(), '1 s')"))
                .hasMessageContaining("expected a due time or a delay, got both");
        assertThatThrownBy(() -> call(
                        UUID[].class,
                        "%s.outbox_timer_schedule_all(null, array['a', 'b'], array['1', '2'], array[now(), null])"))
                .hasMessageContaining("expected a due time or a delay, got neither");
        assertThatThrownBy(() -> call(UUID.class, "%s.outbox_timer_schedule(' ', 'x', now())"))
                .hasMessageContaining("windlass_name_check");
        assertThatThrownBy(() -> call(UUID.class, "%s.outbox_timer_schedule('a', 'x', now(), p_unique_key => ' ')"))
                .hasMessageContaining("windlass_name_check");
    }

    /** A trigger of the user's own may leave messages out, and raise errors of its own kinds. */
    @Test
    void triggersOnTheOutboxDoNotHoldUpOtherTimers() {
        database.update("""
                create function %s.picky() returns trigger language plpgsql as $$
                begin
                    if new.payload = 'refused' then
                        raise exception 'no' using errcode = 'MY001';
                    end if;
                    return case when new.payload = 'left out' then null else new end;
                end $$""");
        database.update("create trigger picky before insert on %s.outbox for each row execute function %s.picky()");
        try {
            timers.schedule(TimerEntry.of("a", "left out", PAST));
            assertThat(handOffResult(10).topics()).isEmpty();
            TimerIdentifier bad = timers.schedule(TimerEntry.of("a", "refused", PAST));
            timers.schedule(TimerEntry.of("b", "fine", PAST));
            assertThat(handOffResult(10).topics()).containsExactly("b");
            assertThat(timers.find(bad).orElseThrow().lastError().orElseThrow()).contains("MY001");
            assertThat(count("outbox_timer")).isEqualTo(1);
        } finally {
            database.update("drop function %s.picky() cascade");
        }
    }

    /** Whatever the planner believes of the table: a look reads the next timer, not all of them. */
    @Test
    void aLookCostsTheSameHoweverManyArePending() throws SQLException {
        database.execute("""
                insert into %s.outbox_timer (id, created_at, due_at, next_attempt_at, topic, payload)
                select gen_random_uuid(), now(), now() + interval '1 day', now() + n * interval '1 s' + interval '1 day',
                       'topic-' || n % 5, 'x'
                  from generate_series(1, 30000) n""");
        assertThat(buffers("select * from %s.outbox_timer_hand_off()")).isLessThan(60);
        assertThat(buffers("select * from %s.outbox_timer_list(10, 0, 'topic-3')"))
                .isLessThan(60);
        assertThat(buffers("select * from %s.outbox_timer_list(10, 0)")).isLessThan(150);
        assertThat(buffers("select * from %s.outbox_timer_claim(gen_random_uuid(), '1 min', 10)"))
                .isLessThan(60);
    }

    /** The second time, when what a session reads once of the catalogue has been read. */
    private static int buffers(String sql) throws SQLException {
        String explain = "explain (analyze, buffers, format json) " + sql.replace("%s", database.schema());
        try (Connection connection = database.owner().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(explain);
            try (ResultSet row = statement.executeQuery(explain)) {
                row.next();
                String hits = row.getString(1).split("\"Shared Hit Blocks\": ", 2)[1];
                String reads = row.getString(1).split("\"Shared Read Blocks\": ", 2)[1];
                return Integer.parseInt(hits.split(",", 2)[0]) + Integer.parseInt(reads.split(",", 2)[0]);
            }
        }
    }
}
