package dev.windlass.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.event.Events;
import dev.windlass.trace.Tracing;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class StuckWatchTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final List<WindlassEvent> heard = new ArrayList<>();
    private final Events events = new Events() {
        @Override
        public boolean areHeard() {
            return true;
        }

        @Override
        public void tell(WindlassEvent event) {
            heard.add(event);
        }
    };
    private final Database routines = new Database(
            database.dataSource(), new PostgresDialect(), database.schema(), "shop", events, Tracing.NONE, null);

    /** A look at the real table; all other verbs of a queue have no part in it. */
    private StuckWatch watch() {
        return new StuckWatch(
                routines,
                QueueKind.OUTBOX,
                limit -> routines.once((Connection connection) -> routines.call(connection, "outbox_stuck")
                        .integer(limit)
                        .list(row -> new WorkStore.Stuck(row.getString("id"), Instant.EPOCH))),
                0);
    }

    private static UUID inProgress(String claimed, String until) throws SQLException {
        UUID id = UUID.randomUUID();
        database.execute(
                "insert into %s.outbox (id, created_at, next_attempt_at, claimed_at, locked_until, owner_token,"
                        + " status, topic, payload) values ('" + id + "', now(), now(), now() + interval '" + claimed
                        + "', now() + interval '" + until + "', gen_random_uuid(), 1, 'a', 'secret')");
        return id;
    }

    @Test
    void whatIsFoundTwiceIsToldOnce() throws SQLException {
        inProgress("-10 min", "+1 min");
        inProgress("-60 s", "-10 s");
        UUID stuck = inProgress("-10 min", "-9 min");
        StuckWatch watch = watch();
        try (Logs logs = Logs.collect(Level.WARN)) {
            watch.look(1);
            assertThat(heard).isEmpty();
            assertThat(watch.isInDoubt()).isTrue();
            for (int i = 0; i < 3; i++) {
                watch.look(1);
                assertThat(watch.isInDoubt()).isFalse();
            }
            assertThat(heard)
                    .containsExactly(
                            new WindlassEvent.StuckFound("shop", QueueKind.OUTBOX, stuck.toString(), Instant.EPOCH));
            assertThat(logs.at(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains(stuck.toString())
                    .doesNotContain("secret");
        }
    }

    /** The oldest come first; whoever asked for so many only would never get past them. */
    @Test
    void allAreToldHoweverManyAndTheLogNamesTheFirst() throws SQLException {
        database.execute("""
                insert into %s.outbox (id, created_at, next_attempt_at, claimed_at, locked_until, owner_token, status, topic, payload)
                select gen_random_uuid(), now(), now(), now() - interval '10 min', now() - interval '9 min', gen_random_uuid(), 1, 'a', 'secret'
                  from generate_series(1, 2500)""");
        StuckWatch watch = watch();
        try (Logs logs = Logs.collect(Level.WARN)) {
            for (int i = 0; i < 8; i++) {
                watch.look(1);
            }
            assertThat(heard).hasSize(2500).doesNotHaveDuplicates();
            assertThat(logs.at(Level.WARN)).hasSize(3).allMatch(line -> line.length() < 3000);
            assertThat(logs.at(Level.WARN).get(0)).contains("and 980 more");
        }
    }

    @Test
    void theIdOfASenderForgesNoLine() throws SQLException {
        StuckWatch watch = new StuckWatch(
                routines,
                QueueKind.INBOX,
                limit -> List.of(new WorkStore.Stuck("shop 1\n2026-01-01 ERROR forged\u2028", Instant.EPOCH)),
                0);
        try (Logs logs = Logs.collect(Level.WARN)) {
            watch.look(1);
            watch.look(1);
            assertThat(logs.at(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains("shop 1?2026-01-01 ERROR forged? since")
                    .doesNotContain("\n", "\u2028");
        }
    }

    @Test
    void whatIsTakenBackInTimeIsNotTold() throws SQLException {
        inProgress("-10 min", "-9 min");
        StuckWatch watch = watch();
        watch.look(1);
        database.execute("delete from %s.outbox");
        watch.look(1);
        assertThat(heard).isEmpty();
    }
}
