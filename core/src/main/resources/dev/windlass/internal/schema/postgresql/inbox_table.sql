-- The inbox: a queue of messages that arrived, and what it has seen, so that a message which arrives twice is processed once.
--
-- A message is named by its source, which is who sent it, and the id it has there. A row of the queue that waits (4) is a copy of
-- a message that somebody has begun without the queue; see adopt. All others have the key of their message: seen.id is their id.
alter table {schema}.{inbox}
    add column message_id {schema}.windlass_name not null,
    add column hash       {schema}.windlass_hash, -- of a copy that waits
    alter column source type {schema}.windlass_name,
    alter column source set not null,
    alter column next_attempt_at type {schema}.windlass_bound,
    add constraint {inbox_waiting_check} check (status <> 4 or awaited);

create unique index {inbox_waiting} on {schema}.{inbox} (source, message_id) where status = 4;

-- What has arrived. The key decides what is new. The state of a queued message is that of its row in the queue; if that row is
-- gone, an ack has deleted it: it is done. The state of another, which whoever received it processes, stands here:
--
--   0 rests --begin--> 1 in progress --mark done--> 2 done
--      ^                  |   |
--      +--mark abandoned--+   +--mark failed, attempts used up--> 3 failed --requeue--> 0 rests
--
-- The token of whoever ended a message stays with it: who repeats its last word, because the answer was lost, is told the truth.
create table {schema}.{inbox_seen} (
    source         {schema}.windlass_name  not null,
    message_id     {schema}.windlass_name  not null,
    id             uuid,                   -- of its row in the queue
    first_seen_at  timestamptz             not null,
    last_seen_at   timestamptz             not null,
    state_at       {schema}.windlass_time, -- when its attempt began, or it ended; when it can be begun again
    claimed_at     {schema}.windlass_time, -- when the attempt began that is going on, or was the last
    locked_until   {schema}.windlass_time,
    owner_token    uuid,
    retry_count    {schema}.windlass_count not null default 0, -- attempts that failed, since it was requeued perhaps
    lease_expiries {schema}.windlass_count not null default 0, -- attempts nobody heard of again
    requeues       {schema}.windlass_count not null default 0,
    status         smallint,
    processed_by   varchar(100),
    last_error     varchar(2048),
    hash           {schema}.windlass_hash,
    constraint {inbox_seen_pk} primary key (source, message_id),
    constraint {inbox_seen_status_check} check (status between 0 and 3 and (id is null) = (status is not null)
                                            and (status is null) = (state_at is null)
                                            and (status <> 0 or state_at >= '0001-01-01 00:00:00+00')),
    constraint {inbox_seen_lease_check} check ((status is distinct from 1) = (locked_until is null)
                                      and (status <> 1 or owner_token is not null and claimed_at is not null)
                                      and (status <> 0 or owner_token is null))
) with (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- A message that is processed without the queue pays for each of the two indexes twice (begin, mark), one of the queue for the key once.
create index {inbox_seen_state} on {schema}.{inbox_seen} (status, state_at) where status is not null;

-- Messages as they are listed: without their content. First those of the queue, then, with the same columns, the others.
create view {schema}.{inbox_listed} with (security_invoker = true) as
select m.id, m.source::varchar, m.message_id::varchar, m.topic::varchar, m.status::smallint, m.priority::smallint, m.keyed,
       m.created_at, m.due_at, m.next_attempt_at::timestamptz, m.expires_at, m.claimed_at::timestamptz, m.locked_until::timestamptz,
       m.ended_at::timestamptz, m.erased_at,
       case m.status when 0 then m.next_attempt_at when 1 then m.claimed_at when 4 then m.created_at else m.ended_at end::timestamptz as state_at,
       m.processed_by, m.retry_count::integer, m.lease_expiries::integer, m.requeues::smallint, m.last_error
  from {schema}.{inbox} m;

create view {schema}.{inbox_guarded} with (security_invoker = true) as
select s.id, s.source::varchar, s.message_id::varchar, null::varchar collate "C" as topic, s.status, 4::smallint as priority,
       false as keyed, s.first_seen_at as created_at, null::timestamptz as due_at, case s.status when 0 then s.state_at::timestamptz end as next_attempt_at,
       null::timestamptz as expires_at, s.claimed_at::timestamptz, s.locked_until::timestamptz,
       case when s.status in (2, 3) then s.state_at::timestamptz end as ended_at, null::timestamptz as erased_at,
       s.state_at::timestamptz, s.processed_by, s.retry_count::integer, s.lease_expiries::integer, s.requeues::smallint, s.last_error
  from {schema}.{inbox_seen} s
 where s.status is not null;
