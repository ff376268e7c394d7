package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.base.OwnerToken;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.Timers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * One row that a constraint of the user's refuses to have changed, or behind which something is locked, keeps no other from being
 * renewed, reaped, expired, cleaned, handed off or passed on.
 */
final class PostgresRefusedRowTest {
    private static final Duration LEASE = Duration.ofMinutes(5);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Outbox outbox = database.passive().outbox();
    private final OwnerToken owner = OwnerToken.fresh();

    @BeforeEach
    void prepare() throws SQLException {
        database.execute("alter table %s.outbox add constraint mine check (payload <> 'poison') not valid");
    }

    @AfterEach
    void release() throws SQLException {
        database.execute("alter table %s.outbox drop constraint mine");
        database.execute("alter table %s.inbox drop constraint if exists mine");
    }

    /** Three of a kind, the second of which nobody can change any more. */
    private void three(String columns, String values) throws SQLException {
        database.execute("alter table %s.outbox drop constraint mine");
        for (String payload : new String[] {"one", "poison", "three"}) {
            database.execute("insert into %s.outbox (id, created_at, next_attempt_at, topic, payload, " + columns
                    + ") values (gen_random_uuid(), now(), now(), 'a', '" + payload + "', " + values + ")");
        }
        database.execute("alter table %s.outbox add constraint mine check (payload <> 'poison') not valid");
    }

    private static int routine(String call) {
        return database.value(Integer.class, "select * from %s." + call);
    }

    @Test
    void whatCannotBeReapedKeepsNoOther() throws SQLException {
        three(
                "status, claimed_at, owner_token, locked_until",
                "1, now(), gen_random_uuid(), now() - interval '1 hour'");
        assertThat(routine("outbox_reap(interval '0')")).isEqualTo(2);
        assertThat(database.count("status = 0 and payload <> 'poison'")).isEqualTo(2);
    }

    @Test
    void whatCannotExpireKeepsNoOther() throws SQLException {
        three("expires_at", "now() - interval '1 hour'");
        assertThat(routine("outbox_expire()")).isEqualTo(2);
        assertThat(database.count("status = 3 and payload <> 'poison'")).isEqualTo(2);
    }

    @Test
    void whatCannotBeDeletedKeepsNoOther() throws SQLException {
        three("status, ended_at", "2, now() - interval '1 hour'");
        database.execute("create table %s.mine (id uuid references %s.outbox)");
        try {
            database.execute("insert into %s.mine select id from %s.outbox where payload = 'poison'");
            assertThat(routine("outbox_clean(interval '0')")).isEqualTo(2);
        } finally {
            database.execute("drop table %s.mine");
        }
        assertThat(database.count("payload = 'poison'")).isEqualTo(1);
    }

    @Test
    void whatIsRefusedForAllIsAnErrorAsTheDatabaseTellsIt() throws SQLException {
        three("expires_at", "now() - interval '1 hour'");
        database.execute("delete from %s.outbox where payload <> 'poison'");
        assertThatThrownBy(() -> routine("outbox_expire()")).hasMessageContaining("constraint \"mine\"");
    }

    @Test
    void aRenewalThatIsRefusedCostsNoOtherItsLease() throws SQLException {
        three(
                "status, claimed_at, owner_token, locked_until",
                "1, now(), '" + owner.value() + "', now() + interval '10 s'");
        List<OutboxWorkItemIdentifier> ids = ids();

        assertThatThrownBy(() -> outbox.heartbeat(owner, ids, LEASE))
                .hasMessageContaining("could not renew 1 messages");
        assertThat(database.count("locked_until > now() + interval '1 minute'")).isEqualTo(2);
    }

    @Test
    void renewalsThatAreAllRefusedAreAnErrorAndNotTakenForLocked() throws SQLException {
        three(
                "status, claimed_at, owner_token, locked_until",
                "1, now(), '" + owner.value() + "', now() + interval '10 s'");
        database.execute("delete from %s.outbox where payload <> 'poison'");
        String own = "(array(select id from %s.outbox), array['" + owner.value() + "'::uuid]";

        assertThatThrownBy(() -> routine("outbox_heartbeat" + own + ", interval '1 hour')"))
                .hasMessageContaining("constraint \"mine\"");
        assertThatThrownBy(() -> routine("outbox_start" + own + ")")).hasMessageContaining("constraint \"mine\"");
    }

    private static List<OutboxWorkItemIdentifier> ids() {
        String all = database.value(String.class, "select string_agg(id::text, ' ') from %s.outbox");
        return Stream.of(all.split(" "))
                .map(UUID::fromString)
                .map(OutboxWorkItemIdentifier::new)
                .toList();
    }

    @Test
    void aSuccessorThatIsRefusedDoesNotUndoTheEndOfTheOneBeforeNorStopOthers() throws SQLException {
        database.execute("alter table %s.outbox drop constraint mine");
        for (String payload : new String[] {"first", "poison"}) {
            outbox.enqueue(OutboxEntry.of("a", payload).withOrderingKey("key"));
        }
        database.execute("alter table %s.outbox add constraint mine check (payload <> 'poison') not valid");
        OutboxMessage first = outbox.claim(owner, LEASE, 1).get(0);

        assertThat(outbox.ack(owner, List.of(first.id()))).isEqualTo(1);
        outbox.enqueue(OutboxEntry.of("a", "other"));
        assertThat(outbox.claim(owner, LEASE, 10))
                .extracting(OutboxMessage::payload)
                .containsExactly("other");

        database.execute("update %s.outbox set payload = 'good' where payload = 'poison'");
        assertThat(outbox.claim(owner, LEASE, 10))
                .extracting(OutboxMessage::payload)
                .containsExactly("good");
    }

    @Test
    void aRedeliveryThatIsRefusedKeepsNoOther() throws SQLException {
        Inbox inbox = database.passive().inbox();
        for (String payload : new String[] {"one", "poison", "three"}) {
            database.execute("select * from %s.inbox_begin('s', '" + payload + "', gen_random_uuid(), '1 hour', 5)");
            inbox.enqueue(InboxEntry.of("s", payload, "a", payload));
        }
        database.execute("update %s.inbox_seen set locked_until = now() - interval '1 s'");
        database.execute("alter table %s.inbox add constraint mine check (payload <> 'poison') not valid");

        assertThat(database.value(Integer.class, "select %s.inbox_adopt(interval '0')"))
                .isEqualTo(2);
        assertThat(database.value(Long.class, "select count(*) from %s.inbox where status = 0"))
                .isEqualTo(2);
        assertThat(database.value(Long.class, "select count(*) from %s.inbox where status = 4"))
                .isEqualTo(1);
        database.execute("truncate %s.inbox, %s.inbox_seen");
    }

    @Test
    void whatIsLockedBehindOneMessageKeepsNoOtherFromExpiring() throws SQLException {
        three("expires_at, ordering_key, ordering_sequence, awaited", "now() - interval '1 hour', null, null, true");
        database.execute("update %s.outbox set payload = 'joined' where payload = 'poison'");
        database.execute("update %s.outbox set joined = true where payload = 'joined'");
        database.execute("insert into %s.windlass_join (id, created_at, updated_at, expected_steps, members)"
                + " values (gen_random_uuid(), now(), now(), 1, 1)");
        database.execute("insert into %s.windlass_join_member (join_id, message_id, created_at)"
                + " select j.id, m.id, now() from %s.windlass_join j, %s.outbox m where m.payload = 'joined'");
        try (Connection other = database.owner().getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("select from \"" + database.schema() + "\".windlass_join for update");
            assertThat(routine("outbox_expire()")).isEqualTo(2);
            other.rollback();
        }
        assertThat(routine("outbox_expire()")).isEqualTo(1);
    }

    @Test
    void aLockedNoteOfWhoWatchesDoesNotStopReaping() throws SQLException {
        three(
                "status, claimed_at, owner_token, locked_until",
                "1, now(), gen_random_uuid(), now() - interval '1 hour'");
        database.execute("update %s.windlass_watch set seen_at = now() - interval '1 hour', quiet_until = '-infinity'");
        try (Connection other = database.owner().getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("select from \"" + database.schema() + "\".windlass_watch for update");
            assertThat(routine("outbox_reap(interval '1 ms', 10, true)")).isEqualTo(2);
            other.rollback();
        }
    }

    @Test
    void aTimerThatADeferredTriggerRefusesKeepsNoOther() throws SQLException {
        Timers timers = database.passive().timers();
        for (String payload : new String[] {"one", "poison", "three"}) {
            timers.schedule(TimerEntry.of("a", payload, Duration.ZERO));
        }
        database.execute("create function %s.refuse() returns trigger language plpgsql as $$ begin"
                + " if new.payload = 'poison' then raise 'no'; end if; return new; end $$");
        database.execute("create constraint trigger refuse after insert on %s.outbox deferrable initially deferred"
                + " for each row execute function %s.refuse()");
        database.execute("alter table %s.outbox drop constraint mine");
        try {
            routine("outbox_timer_hand_off()");
        } finally {
            database.execute("drop function %s.refuse() cascade");
            database.execute("alter table %s.outbox add constraint mine check (payload <> 'poison') not valid");
        }
        assertThat(database.count("topic = 'a'")).isEqualTo(2);
        assertThat(timers.operator("me").list(MessageFilter.all(), 10))
                .singleElement()
                .matches(timer -> timer.lastError().isPresent());
    }

    @Test
    void aTimerThatCannotBeMovedIsNotKeptLocked() throws SQLException {
        Timers timers = database.passive().timers();
        TimerIdentifier failed =
                timers.schedule(TimerEntry.of("a", "", Duration.ZERO).replacing("k"));
        timers.claim(owner, LEASE, 10);
        timers.fail(owner, List.of(failed), "no");
        timers.schedule(TimerEntry.of("a", "", Duration.ofHours(1)).replacing("k"));
        try (Connection other = database.owner().getConnection()) {
            other.setAutoCommit(false);
            assertThat(timers.reschedule(other, failed, Duration.ZERO)).isFalse();
            assertThat(timers.operator("me").purge(List.of(failed))).isEqualTo(1);
            other.rollback();
        }
    }
}
