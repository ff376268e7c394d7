-- The outbox from psql, from the first message to the last dead letter. docs/sql.md explains it.
--
--   psql -v ON_ERROR_STOP=1 -f worked-example.sql
--
-- Run it on a database with Windlass's schema and no messages. A comment that begins with an arrow says what the statement
-- before it answers; the build checks every one of them.

create schema shop;
create table shop.orders (customer text not null, cents integer not null check (cents > 0));
create table shop.invoices (message_id uuid primary key, payload text not null);

-- What this session has claimed. A program keeps that in memory.

-- tag::hand
create temporary table hand (id uuid primary key, owner uuid not null, topic text, payload text, retry_count integer);
create temporary view held as select array_agg(id) as ids, array_agg(owner) as owners from hand;
-- end::hand


-- A message is written with what it speaks of, or not at all.

-- tag::enqueue
begin;
insert into shop.orders (customer, cents) values ('Ada', 1999);
select windlass.outbox_enqueue(p_topic => 'order.placed', p_payload => 'Ada, 1999');
commit;
-- end::enqueue

-- tag::rollback
begin;
insert into shop.orders (customer, cents) values ('Bob', 500);
select windlass.outbox_enqueue(p_topic => 'order.placed', p_payload => 'Bob, 500');
rollback;

select payload from windlass.outbox;
--> Ada, 1999
-- end::rollback


-- A claim takes messages for the length of a lease. Its token is new each time, and the claim is committed before the work
-- begins: here by itself, since no transaction is open.

-- tag::claim
with claimer as materialized (select gen_random_uuid() as owner)
insert into hand
select m.id, claimer.owner, m.topic, m.payload, m.retry_count
  from claimer,
       windlass.outbox_claim(p_owner => claimer.owner, p_lease => '30 s', p_limit => 10, p_topics => '{order.placed}') m;

select topic, payload, retry_count from hand;
--> order.placed | Ada, 1999 | 0
-- end::claim

-- Nobody else gets it meanwhile.

select count(*) from windlass.outbox_claim(gen_random_uuid(), '30 s', 10);
--> 0

-- Whoever writes down that the work begins lets the database tell a crash from an outage.

-- tag::start
select a.changed, a.locked, a.lost from held, windlass.outbox_start(held.ids, held.owners) a;
--> 1 | {} | {}
-- end::start

-- Work that takes longer than a third of the lease renews it. Every verb for claimed messages answers in three parts: how
-- many were changed, which are locked by somebody else at this moment, and which are not this owner's.

-- tag::heartbeat
select a.changed, a.locked, a.lost from held, windlass.outbox_heartbeat(held.ids, held.owners, p_lease => '30 s') a;
--> 1 | {} | {}
-- end::heartbeat

-- Work in this same database can end in one transaction with the message. Roll back if the answer is not what you hold.

-- tag::ack
begin;
insert into shop.invoices (message_id, payload) select id, payload from hand on conflict do nothing;
select a.changed, a.locked, a.lost
  from held, windlass.outbox_ack(held.ids, held.owners, p_processed_by => 'psql', p_again => false) a;
--> 1 | {} | {}
commit;
-- end::ack

-- If the answer is lost, ask again: an ack that has been written counts again. With p_again => false it does not, so that
-- work in the same transaction is not done twice.

-- tag::again
select a.changed, cardinality(a.lost) as lost from held, windlass.outbox_ack(held.ids, held.owners) a;
--> 1 | 0
select a.changed, cardinality(a.lost) as lost from held, windlass.outbox_ack(held.ids, held.owners, p_again => false) a;
--> 0 | 1
-- end::again

select status, processed_by from windlass.outbox;
--> 2 | psql
truncate hand;


-- An attempt that failed is abandoned: it counts, and the message comes again after a pause.

select windlass.outbox_enqueue('order.placed', 'Cleo, 700') is not null;
--> t
with claimer as materialized (select gen_random_uuid() as owner)
insert into hand
select m.id, claimer.owner, m.topic, m.payload, m.retry_count
  from claimer, windlass.outbox_claim(claimer.owner, '30 s', 10) m;

-- tag::abandon
select a.changed, a.locked, a.lost
  from held,
       windlass.outbox_abandon(held.ids, held.owners,
                               p_delays => '{5 minutes}',
                               p_errors => '{the printer has no paper}') a;
--> 1 | {} | {}

select status, retry_count, last_error, next_attempt_at > now() + interval '4 minutes' as later
  from windlass.outbox
 where payload = 'Cleo, 700';
--> 0 | 1 | the printer has no paper | t
-- end::abandon

-- The token is worth nothing from then on: a second answer changes nothing, and says so.

-- tag::lost
select a.changed, a.lost = held.ids as lost from held, windlass.outbox_ack(held.ids, held.owners) a;
--> 0 | t
-- end::lost
truncate hand;

-- Nobody has it now, so it can be moved, or cancelled.

-- tag::reschedule
select windlass.outbox_reschedule(array_agg(id), p_delay => '0 s') from windlass.outbox where payload = 'Cleo, 700';
--> 1
-- end::reschedule

-- This owner dies. Whoever looks after the outbox gives the message back when the lease has run out; that is counted apart.

-- tag::reap
select payload from windlass.outbox_claim(p_owner => gen_random_uuid(), p_lease => '100 ms', p_limit => 10);
--> Cleo, 700
select pg_sleep(0.2) is not null as "the lease ends";
--> t
select windlass.outbox_reap(p_quiet => '100 ms');
--> 1
select status, retry_count, lease_expiries from windlass.outbox where payload = 'Cleo, 700';
--> 0 | 1 | 1
-- end::reap

-- This one is asked to stop. It gives the message back at once, and no attempt is counted.

with claimer as materialized (select gen_random_uuid() as owner)
insert into hand
select m.id, claimer.owner, m.topic, m.payload, m.retry_count
  from claimer, windlass.outbox_claim(claimer.owner, '30 s', 10) m;

-- tag::release
select a.changed, a.locked, a.lost from held, windlass.outbox_release(held.ids, held.owners) a;
--> 1 | {} | {}
-- end::release
truncate hand;

-- This one never hears what its claim has taken. The token is all it knows, and that is enough.

-- tag::give-back
select count(*) from windlass.outbox_claim('6f9619ff-8b86-4011-b42d-00c04fc964ff', '30 s', 10); -- the answer is lost
--> 1
select given, left_locked from windlass.outbox_give_back(p_owner => '6f9619ff-8b86-4011-b42d-00c04fc964ff');
--> 1 | 0
-- end::give-back

-- tag::cancel
select windlass.outbox_cancel(array_agg(id)) from windlass.outbox where payload = 'Cleo, 700';
--> 1
-- end::cancel


-- A deduplication key lets a message be written once, however often the program says it within the window.

-- tag::dedup
select windlass.outbox_enqueue('mail.send', 'welcome Ada', p_dedup_key => 'welcome-Ada', p_dedup_window => '1 day')
     = windlass.outbox_enqueue('mail.send', 'welcome Ada', p_dedup_key => 'welcome-Ada', p_dedup_window => '1 day') as same;
--> t
select count(*) from windlass.outbox where topic = 'mail.send';
--> 1
-- end::dedup


-- A paused topic is claimed by nobody.

-- tag::pause
select windlass.outbox_pause_topic(p_by => 'ada', p_topic => 'mail.send', p_reason => 'the mail server moves');
--> t
select count(*) from windlass.outbox_claim(gen_random_uuid(), '30 s', 10);
--> 0
select windlass.outbox_resume_topic(p_by => 'ada', p_topic => 'mail.send');
--> t
-- end::pause
select windlass.outbox_cancel(array_agg(id)) from windlass.outbox where topic = 'mail.send';
--> 1


-- Messages of one ordering key are handled one after another, in the order in which they were written.

-- tag::ordering
select windlass.outbox_enqueue('account.changed', 'opened', p_ordering_key => 'account-7') is not null;
--> t
select windlass.outbox_enqueue('account.changed', 'renamed', p_ordering_key => 'account-7') is not null;
--> t
select windlass.outbox_enqueue('account.changed', 'closed', p_ordering_key => 'account-7') is not null;
--> t

with claimer as materialized (select gen_random_uuid() as owner)
insert into hand
select m.id, claimer.owner, m.topic, m.payload, m.retry_count
  from claimer, windlass.outbox_claim(claimer.owner, '30 s', 10) m;

select payload from hand;
--> opened
-- end::ordering

-- One that can never be handled fails. It is a dead letter then, and keeps the others of its key waiting.

-- tag::fail
select a.changed, a.locked, a.lost
  from held, windlass.outbox_fail(held.ids, held.owners, p_errors => '{no such account}') a;
--> 1 | {} | {}
select count(*) from windlass.outbox_claim(gen_random_uuid(), '30 s', 10);
--> 0
-- end::fail
truncate hand;

-- tag::dead-letters
select topic, ordering_key, blocks_key, last_error from windlass.outbox_list(p_limit => 50, p_status => 3);
--> account.changed | account-7 | t | no such account
select f.attempt, f.error
  from windlass.outbox_list(p_limit => 50, p_status => 3) d, windlass.outbox_failures(p_id => d.id) f;
--> 1 | no such account
-- end::dead-letters

-- What an operator does names the operator. Requeued, the message is the first of its key again.

-- tag::requeue
select messages from windlass.outbox_requeue(p_by => 'ada', p_topic => 'account.changed');
--> 1
-- end::requeue

with claimer as materialized (select gen_random_uuid() as owner)
insert into hand
select m.id, claimer.owner, m.topic, m.payload, m.retry_count
  from claimer, windlass.outbox_claim(claimer.owner, '30 s', 10) m;
select payload from hand;
--> opened
select a.changed from held, windlass.outbox_fail(held.ids, held.owners, p_errors => '{still no such account}') a;
--> 1
truncate hand;

-- Passed over, it stays failed, and the next one's turn has come.

-- tag::skip
select messages from windlass.outbox_skip(p_by => 'ada', p_topic => 'account.changed');
--> 1

with claimer as materialized (select gen_random_uuid() as owner)
insert into hand
select m.id, claimer.owner, m.topic, m.payload, m.retry_count
  from claimer, windlass.outbox_claim(claimer.owner, '30 s', 10) m;

select payload from hand;
--> renamed
-- end::skip
select a.changed from held, windlass.outbox_ack(held.ids, held.owners) a;
--> 1
truncate hand;

-- Its end was the turn of the last one. A batch that was claimed earlier never has two of a key.

select payload from windlass.outbox_claim(gen_random_uuid(), '30 s', 10);
--> closed

-- tag::purge
select messages from windlass.outbox_purge(p_by => 'ada', p_error => 'no such account');
--> 1
select acted_by, verb, messages from windlass.outbox_actions(p_limit => 3);
--> ada | purge | 1
--> ada | skip | 1
--> ada | requeue | 1
-- end::purge


-- What no Java node does here has to be done by somebody, every few seconds: reap (above), expire, clean.

-- tag::expire
select windlass.outbox_enqueue('offer.made', 'today only', p_expires_at => now() - interval '1 minute') is not null;
--> t
select count(*) from windlass.outbox_claim(gen_random_uuid(), '30 s', 10, p_topics => '{offer.made}');
--> 0
select windlass.outbox_expire();
--> 1
select status, last_error from windlass.outbox where topic = 'offer.made';
--> 3 | expired before it was handled
-- end::expire

-- tag::clean
select windlass.outbox_clean(p_keep => '7 days'); -- nothing has been done for that long
--> 0
select windlass.outbox_clean(p_keep => '0 s'); -- done and cancelled ones; dead letters stay until somebody decides
--> 4
-- end::clean


-- Timers become messages when they are due. Java nodes see to it; where there are none, somebody calls hand_off.

-- tag::timer
select windlass.outbox_timer_schedule('session.expired', 'Ada', p_delay => '30 min', p_unique_key => 'Ada')
     = windlass.outbox_timer_schedule('session.expired', 'Ada', p_delay => '45 min', p_unique_key => 'Ada') as same;
--> t
select windlass.outbox_timer_cancel_key('session.expired', 'Ada');
--> t
select windlass.outbox_timer_schedule('reminder.due', 'Bob', p_due_at => now()) is not null;
--> t
select handed, topics from windlass.outbox_timer_hand_off();
--> 1 | {reminder.due}
select payload from windlass.outbox where topic = 'reminder.due' and correlation_id = 'timer-' || id;
--> Bob
-- end::timer

-- A program that wants no messages claims timers itself, with the verbs of a queue.

-- tag::timer-claim
select windlass.outbox_timer_schedule('reminder.due', 'Cleo', p_due_at => now()) is not null;
--> t
truncate hand;
with claimer as materialized (select gen_random_uuid() as owner)
insert into hand
select t.id, claimer.owner, t.topic, t.payload, t.retry_count
  from claimer, windlass.outbox_timer_claim(p_owner => claimer.owner, p_lease => '30 s', p_limit => 10) t;
select a.changed, a.locked, a.lost from held, windlass.outbox_timer_heartbeat(held.ids, held.owners, p_lease => '30 s') a;
--> 1 | {} | {}
select a.changed, a.locked, a.lost from held, windlass.outbox_timer_ack(held.ids, held.owners) a;
--> 1 | {} | {}
-- end::timer-claim
truncate hand;


-- Jobs: whoever saves one says when its next tick is. A program that knows cron goes on from there.

-- tag::job
select windlass.outbox_job_save('poll-bank', 'bank.poll', '{}', p_cron => null, p_zone => null, p_period => '5 min',
                                p_anchor_at => now(), p_next_tick_at => now() + interval '5 min', p_fires_at => now() + interval '5 min',
                                p_overlap => 1);
--> t
select run_id is not null from windlass.outbox_job_trigger('poll-bank', p_hand_off => true);
--> t
select state, triggered from windlass.outbox_job_runs('poll-bank');
--> 0 | t

with claimer as materialized (select gen_random_uuid() as owner)
insert into hand
select m.id, claimer.owner, m.topic, m.payload, m.retry_count
  from claimer, windlass.outbox_claim(claimer.owner, '30 s', 10, p_topics => '{bank.poll}') m;
select a.changed from held, windlass.outbox_ack(held.ids, held.owners) a;
--> 1
select state, ended_at is not null from windlass.outbox_job_runs('poll-bank');
--> 2 | t
select windlass.outbox_job_pause('poll-bank');
--> t
select windlass.outbox_job_delete('poll-bank');
--> 0
-- end::job

drop schema shop cascade;
