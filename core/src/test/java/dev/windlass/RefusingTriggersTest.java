package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.OwnerToken;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.Timers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A trigger of the user's refuses whatever is done to one row, of whatever table and in whatever way: the rows beside it are tended as
 * if it were not there.
 */
final class RefusingTriggersTest {
    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final String OWNER = "'00000000-0000-0000-0000-000000000001'::uuid";

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    /** How a row is refused. */
    enum Refusal {
        RAISE("raise 'no'", false),
        ASSERT("assert false", false),
        AT_THE_COMMIT("raise 'no'", true);

        private final String statement;
        private final boolean deferred;

        Refusal(String statement, boolean deferred) {
            this.statement = statement;
            this.deferred = deferred;
        }

        /** From now on: no row of the table that has the word "poison" in a column can be updated or deleted. */
        void in(String table) throws SQLException {
            database.execute("create function %s.refuse() returns trigger language plpgsql as $$ begin"
                    + " if to_jsonb(old)::text like '%\"poison\"%' then " + statement + "; end if;"
                    + " return coalesce(new, old); end $$");
            database.execute(
                    deferred
                            ? "create constraint trigger refuse after update or delete on %s." + table
                                    + " deferrable initially deferred for each row execute function %s.refuse()"
                            : "create trigger refuse before update or delete on %s." + table
                                    + " for each row execute function %s.refuse()");
        }
    }

    @AfterEach
    void release() throws SQLException {
        database.execute("drop function if exists %s.refuse() cascade");
    }

    private static void three(String columns, String values) throws SQLException {
        database.execute("insert into %s.outbox (id, created_at, next_attempt_at, topic, payload" + columns
                + ") select gen_random_uuid(), now(), now(), 'a', p" + values
                + " from unnest(array['one', 'poison', 'three']) p");
    }

    private static void threeHeld() throws SQLException {
        three(", status, claimed_at, owner_token, locked_until", ", 1, now(), " + OWNER + ", now() + interval '10 s'");
    }

    private static int number(String sql) {
        return database.value(Integer.class, "select (" + sql + ")::integer");
    }

    private static String ids(String table) {
        return "array(select id from %s." + table + " order by id)";
    }

    @ParameterizedTest
    @EnumSource
    void aRenewalCostsNoOtherItsLease(Refusal refusal) throws SQLException {
        threeHeld();
        refusal.in("outbox");
        assertThat(number("select changed from %s.outbox_heartbeat(" + ids("outbox") + ", array[" + OWNER
                        + "], '1 hour')"))
                .isEqualTo(2);
        assertThat(database.count("locked_until > now() + interval '1 minute'")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void aStartKeepsNoOtherFromBeingWrittenDown(Refusal refusal) throws SQLException {
        threeHeld();
        refusal.in("outbox");
        assertThat(number("select changed from %s.outbox_start(" + ids("outbox") + ", array[" + OWNER + "])"))
                .isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void ofALostClaimTheOthersAreGivenBack(Refusal refusal) throws SQLException {
        threeHeld();
        refusal.in("outbox");
        assertThat(database.value(String.class, "select (%s.outbox_give_back(" + OWNER + "))::text"))
                .isEqualTo("(2,1)");
        assertThat(database.count("status = 0")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void whatCannotBeReapedKeepsNoOther(Refusal refusal) throws SQLException {
        three(", status, claimed_at, owner_token, locked_until", ", 1, now(), " + OWNER + ", now() - interval '10 s'");
        refusal.in("outbox");
        assertThat(number("select %s.outbox_reap(interval '0')")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void whatCannotExpireKeepsNoOther(Refusal refusal) throws SQLException {
        three(", expires_at", ", now() - interval '1 hour'");
        refusal.in("outbox");
        assertThat(number("select %s.outbox_expire()")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void whatCannotBeDeletedKeepsNoOther(Refusal refusal) throws SQLException {
        three(", status, ended_at", ", 2, now() - interval '1 hour'");
        refusal.in("outbox");
        assertThat(number("select %s.outbox_clean(interval '0')")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void aProgramClaimsTheMessagesBesideOneThatCannotBeClaimed(Refusal refusal) throws SQLException {
        Outbox outbox = database.passive().outbox();
        for (String payload : new String[] {"poison", "two", "three"}) {
            outbox.enqueue(OutboxEntry.of("a", payload));
        }
        refusal.in("outbox");
        assertThat(outbox.claim(OwnerToken.fresh(), LEASE, 1))
                .extracting(OutboxMessage::payload)
                .containsExactly("two");
        assertThat(outbox.claim(OwnerToken.fresh(), LEASE, 10))
                .extracting(OutboxMessage::payload)
                .containsExactly("three");
    }

    @ParameterizedTest
    @EnumSource
    void aProgramClaimsTheInboxMessagesBesideOneThatCannotBeClaimed(Refusal refusal) throws SQLException {
        Inbox inbox = database.passive().inbox();
        for (String payload : new String[] {"poison", "two", "three"}) {
            inbox.enqueue(InboxEntry.of("s", payload, "a", payload));
        }
        refusal.in("inbox");
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource
    void aProgramClaimsTheTimersBesideOneThatCannotBeClaimed(Refusal refusal) throws SQLException {
        Timers timers = database.passive().timers();
        for (String payload : new String[] {"poison", "two", "three"}) {
            timers.schedule(TimerEntry.of("a", payload, Duration.ZERO));
        }
        refusal.in("outbox_timer");
        assertThat(timers.claim(OwnerToken.fresh(), LEASE, 1))
                .extracting(Timer::payload)
                .containsExactly("two");
        assertThat(timers.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void aProgramClaimsTheRunsBesideOneThatCannotBeClaimed(Refusal refusal) throws SQLException {
        threeJobs();
        database.execute("select %s.outbox_job_trigger(n) from unnest(array['poison', 'one', 'three']) n");
        refusal.in("outbox_job_run");
        assertThat(database.passive().jobs().runClaims().claim(OwnerToken.fresh(), LEASE, 2))
                .hasSize(2);
    }

    @ParameterizedTest
    @EnumSource
    void aTimerThatCannotBeChangedKeepsNoOther(Refusal refusal) throws SQLException {
        Timers timers = database.passive().timers();
        for (String payload : new String[] {"one", "poison", "three"}) {
            timers.schedule(TimerEntry.of("a", payload, Duration.ZERO));
        }
        refusal.in("outbox_timer");
        database.execute("select %s.outbox_timer_hand_off()");
        assertThat(database.count("topic = 'a'")).isEqualTo(2);
    }

    private static void threeJobs() throws SQLException {
        database.execute("select %s.outbox_job_save(n, 'a', 'p', null, null, interval '1 hour', now(), now(), now())"
                + " from unnest(array['one', 'poison', 'three']) n");
    }

    @ParameterizedTest
    @EnumSource
    void aJobThatCannotBeChangedKeepsNoOther(Refusal refusal) throws SQLException {
        threeJobs();
        refusal.in("outbox_job");
        String each = "array[now() + interval '1 hour', now() + interval '1 hour', now() + interval '1 hour']";
        assertThat(number(
                        "select looked_at from %s.outbox_job_take(array['one', 'poison', 'three'], array[1, 1, 1]::bigint[], "
                                + each + ", " + each + ", array[0, 0, 0]::bigint[], array[1, 2, 3],"
                                + " array[gen_random_uuid(), gen_random_uuid(), gen_random_uuid()], " + each
                                + ", true)"))
                .isEqualTo(2);
        assertThat(database.count("topic = 'a'")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void aRunThatCannotBeHandedOverKeepsNoOther(Refusal refusal) throws SQLException {
        threeJobs();
        database.execute("select %s.outbox_job_trigger(n) from unnest(array['one', 'poison', 'three']) n");
        refusal.in("outbox_job_run");
        assertThat(number("select looked_at from %s.outbox_job_run_hand_off()")).isEqualTo(2);
        assertThat(database.count("topic = 'a'")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void aRunThatCannotBeEndedKeepsNoOther(Refusal refusal) throws SQLException {
        threeJobs();
        database.execute(
                "select %s.outbox_job_trigger(n, p_hand_off => true) from unnest(array['one', 'poison', 'three']) n");
        database.execute("delete from %s.outbox");
        database.execute("update %s.outbox_job_run set created_at = now() - interval '1 hour'");
        refusal.in("outbox_job_run");
        assertThat(number("select %s.outbox_job_run_end_lost()")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void aLeaseThatCannotBeRenewedCostsNoOther(Refusal refusal) throws SQLException {
        database.execute("select %s.lease_acquire(n, " + OWNER + ", 'me', interval '10 s')"
                + " from unnest(array['one', 'poison', 'three']) n");
        refusal.in("lease");
        database.execute("select %s.lease_renew(array['one', 'poison', 'three'], array[" + OWNER + ", " + OWNER + ", "
                + OWNER + "], array[interval '1 hour', interval '1 hour', interval '1 hour'])");
        assertThat(number("select count(*) from %s.lease where expires_at > now() + interval '1 minute'"))
                .isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void aLeaseThatCannotBeForgottenKeepsNoOther(Refusal refusal) throws SQLException {
        database.execute("select %s.lease_acquire(n, " + OWNER + ", 'me', interval '10 s')"
                + " from unnest(array['one', 'poison', 'three']) n");
        database.execute("update %s.lease set expires_at = now() - interval '1 hour'");
        refusal.in("lease");
        assertThat(number("select %s.lease_clean(interval '1 minute', 100)")).isEqualTo(2);
    }

    private static void threeGuarded() throws SQLException {
        database.execute("select %s.inbox_begin('s', n, " + OWNER + ", interval '10 s', 5)"
                + " from unnest(array['one', 'poison', 'three']) n");
    }

    @ParameterizedTest
    @EnumSource
    void anAttemptThatCannotBeRenewedCostsNoOther(Refusal refusal) throws SQLException {
        threeGuarded();
        refusal.in("inbox_seen");
        database.execute("select %s.inbox_renew(array['s', 's', 's'], array['one', 'poison', 'three'], array[" + OWNER
                + ", " + OWNER + ", " + OWNER + "], interval '1 hour')");
        assertThat(number("select count(*) from %s.inbox_seen where locked_until > now() + interval '1 minute'"))
                .isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void aGuardThatCannotBeForgottenKeepsNoOther(Refusal refusal) throws SQLException {
        threeGuarded();
        database.execute(
                "update %s.inbox_seen set state_at = now() - interval '1 hour', locked_until = now() - interval '1 hour'");
        refusal.in("inbox_seen");
        assertThat(number("select %s.inbox_clean_guards(interval '1 minute')")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void aDeduplicationKeyThatCannotBeForgottenKeepsNoOther(Refusal refusal) throws SQLException {
        database.execute("insert into %s.outbox_dedup select 'a', n, gen_random_uuid(), now() - interval '1 hour'"
                + " from unnest(array['one', 'poison', 'three']) n");
        refusal.in("outbox_dedup");
        assertThat(number("select %s.outbox_clean_dedup()")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void aMessageThatCannotBeReapedKeepsNoRedeliveryFromBecomingWork(Refusal refusal) throws SQLException {
        Inbox inbox = database.start(database.windlass()
                        .options(database.options().withBackgroundWorkers(false))
                        .inbox(InboxOptions.defaults().withLease(Duration.ofMillis(1))))
                .inbox();
        inbox.enqueue(InboxEntry.of("s", "queued", "a", "poison"));
        inbox.claim(OwnerToken.fresh(), LEASE, 1);
        database.execute("select %s.inbox_begin('s', 'begun', " + OWNER + ", interval '1 hour', 5)");
        inbox.enqueue(InboxEntry.of("s", "begun", "a", "x"));
        database.execute("update %s.inbox set locked_until = now() - interval '1 hour' where message_id = 'queued'");
        database.execute("select %s.inbox_mark_abandoned('s', 'begun', " + OWNER + ", 'no', interval '0', 5)");
        refusal.in("inbox");
        assertThat(inbox.reapExpired()).isEqualTo(1);
        assertThat(number("select count(*) from %s.inbox where status = 0 and message_id = 'begun'"))
                .isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void aRedeliveryThatCannotBecomeWorkKeepsNoOther(Refusal refusal) throws SQLException {
        threeGuarded();
        for (String id : List.of("one", "poison", "three")) {
            database.execute("select %s.inbox_enqueue('s', '" + id + "', 'a', 'p')");
        }
        database.execute("update %s.inbox_seen set locked_until = now() - interval '1 s'");
        refusal.in("inbox");
        assertThat(number("select %s.inbox_adopt(interval '0')")).isEqualTo(2);
    }
}
