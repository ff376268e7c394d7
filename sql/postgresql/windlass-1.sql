-- What has been applied to this schema, one row for each version of each component. The newest row of a component tells
-- its version and the oldest program version that can still work with it.
-- Whoever owns a schema that is there need not have the right to create one, which "if not exists" would ask for.
do $sql$
begin
    if not exists (select from pg_namespace where nspname = 'windlass') then
        create schema "windlass";
    end if;
end
$sql$;

create table if not exists "windlass".windlass_version (
    table_name     varchar(63)  not null,
    component      varchar(63)  not null,
    version        integer      not null,
    min_compatible integer      not null,
    applied_at     timestamptz  not null default clock_timestamp(),
    applied_by     varchar(255) not null default current_user,
    primary key (table_name, component, version)
);

-- The outbox. One state machine:
--
--   0 ready --claim--> 1 in progress --ack--> 2 done
--     ^  |                |   |
--     |  +---- expire ----|---+--fail--> 3 failed
--     +--abandon, release, reap
--
-- The check constraints are the invariants: a message has an owner and a lease exactly while it is in progress, and an
-- end exactly when it has ended.
create table "windlass"."outbox" (
    id              uuid         not null,             -- time-ordered, so that the index grows at one end
    created_at      timestamptz  not null,
    next_attempt_at timestamptz  not null,             -- never earlier than the moment the message became ready
    due_at          timestamptz,                       -- as the user wrote it; retries move next_attempt_at only
    expires_at      timestamptz,
    locked_until    timestamptz,
    ended_at        timestamptz,
    owner_token     uuid,
    retry_count     integer      not null default 0,
    lease_expiries  integer      not null default 0,   -- apart from retries: a neighbour may have killed the process
    status          smallint     not null default 0,
    joined          boolean      not null default false, -- a member of a join; other messages pay nothing for joins
    topic           varchar(255) collate "C" not null, -- byte order: cheap to compare, and case-sensitive everywhere
    correlation_id  varchar(255),
    processed_by    varchar(100),
    last_error      varchar(2048),
    headers         jsonb,
    payload         text         not null,
    constraint "outbox_pk" primary key (id),
    constraint "outbox_topic_check" check (btrim(topic) <> ''),
    constraint "outbox_headers_check" check (jsonb_typeof(headers) = 'object'), -- or no claim that meets it can be read
    constraint "outbox_lease_check" check ((status = 1) = (owner_token is not null)
                                       and (status = 1) = (locked_until is not null)),
    constraint "outbox_end_check" check ((status in (2, 3)) = (ended_at is not null) and status between 0 and 3)
) with (
    -- Every message leaves two or three dead rows behind; the default (a fifth of the table) comes too late for a queue.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- Ready messages by topic, then by time: a node looks only at topics it has a handler and room for, so a paused, saturated
-- or unknown topic with any backlog costs the others nothing.
create index "outbox_ready" on "windlass"."outbox" (topic, next_attempt_at, id) where status = 0;
create index "outbox_leased" on "windlass"."outbox" (locked_until) where status = 1;
create index "outbox_expiring" on "windlass"."outbox" (expires_at) where status = 0 and expires_at is not null;
create index "outbox_done" on "windlass"."outbox" (ended_at) where status = 2;
create index "outbox_failed" on "windlass"."outbox" (ended_at, id) where status = 3;

-- Joins: ack and fail of a message count its memberships in the same transaction.
create table "windlass"."outbox_join" (
    join_id         uuid         not null,
    created_at      timestamptz  not null default clock_timestamp(),
    last_updated_at timestamptz  not null default clock_timestamp(),
    expected_steps  integer      not null,
    completed_steps integer      not null default 0,
    failed_steps    integer      not null default 0,
    status          smallint     not null default 0,   -- 0 pending, 1 completed, 2 failed, 3 cancelled
    grouping_key    varchar(255),
    metadata        text,
    constraint "outbox_join_pk" primary key (join_id),
    constraint "outbox_join_steps_check" check (expected_steps > 0 and completed_steps >= 0 and failed_steps >= 0),
    constraint "outbox_join_status_check" check (status between 0 and 3)
);

create index "outbox_join_grouping" on "windlass"."outbox_join" (grouping_key) where grouping_key is not null;

create table "windlass"."outbox_join_member" (
    join_id    uuid        not null,
    message_id uuid        not null,
    created_at timestamptz not null default clock_timestamp(),
    status     smallint    not null default 0,         -- 0 pending, 1 completed, 2 failed
    constraint "outbox_join_member_pk" primary key (join_id, message_id),
    constraint "outbox_join_member_join" foreign key (join_id) references "windlass"."outbox_join" on delete cascade,
    constraint "outbox_join_member_check" check (status between 0 and 2)
);

create index "outbox_join_member_message" on "windlass"."outbox_join_member" (message_id);

-- The outbox's verbs. Every change of state is one call of one of these, from Java, psql or any other language.
--
-- What they have in common:
-- * The database's clock decides; delays arrive as intervals, never as somebody else's now.
-- * Only the holder of the owner token changes a message in progress. A message has a token exactly while it is in
--   progress (the lease check of the table), so a matching token is the check of the state too; naming status = 1 beside
--   it makes the planner scan the index of all leases. Ids that do not match are ignored; the result tells how many, or
--   which, did.
-- * Whatever becomes ready is stamped with a time read after the transaction has its number, so that a claimer can prove
--   that nothing older is still to come (see claim).
-- * Several rows are locked in the order of their ids, so that two batches cannot deadlock.
-- * The planner may believe that the table is empty, because it was when somebody counted; it then joins by reading all of
--   it, a whole backlog perhaps. So rows are found by "id = any (ids)", which is one index scan in the order of the ids
--   whatever the statistics say; a list that brings more than ids is sorted, and hash-joined to what was found.
--   Planning again for each call, as PostgreSQL would, doubles the time of a small ack.

-- Writes one message. Returns its id.
create or replace function "windlass"."outbox_enqueue"(
    p_topic          text,
    p_payload        text,
    p_correlation_id text default null,
    p_headers        jsonb default null,
    p_due_at         timestamptz default null,
    p_delay          interval default null,
    p_expires_at     timestamptz default null,
    p_id             uuid default null,
    p_notify         boolean default true
) returns uuid
    language plpgsql
as $sql$
declare
    v_now timestamptz;
    v_id  uuid := p_id;
begin
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    if v_id is null then -- version 7: 48 bits of time, the rest random
        v_id := encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
                    placing substring(int8send(floor(extract(epoch from v_now) * 1000)::bigint) from 3) from 1 for 6),
                    52, 1), 53, 1), 'hex')::uuid;
    end if;
    insert into "windlass"."outbox"
        (id, created_at, next_attempt_at, due_at, expires_at, topic, correlation_id, headers, payload)
    values (v_id, v_now, greatest(v_now, coalesce(p_due_at, v_now + p_delay)), coalesce(p_due_at, v_now + p_delay),
            p_expires_at, p_topic, nullif(p_correlation_id, ''), p_headers, p_payload);
    if p_notify then
        perform pg_notify('windlass.windlass.outbox', p_topic);
    end if;
    return v_id;
end
$sql$;

-- Writes many messages in one round trip. An array of optional values may be null as a whole. Returns how many.
create or replace function "windlass"."outbox_enqueue_many"(
    p_ids             uuid[],
    p_topics          text[],
    p_payloads        text[],
    p_correlation_ids text[],
    p_headers         text[],
    p_due_ats         timestamptz[],
    p_delays          interval[],
    p_expires_ats     timestamptz[],
    p_notify          boolean
) returns integer
    language plpgsql
as $sql$
declare
    v_now   timestamptz;
    v_count integer;
begin
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    insert into "windlass"."outbox"
        (id, created_at, next_attempt_at, due_at, expires_at, topic, correlation_id, headers, payload)
    select e.id, v_now, greatest(v_now, coalesce(e.due_at, v_now + e.delay)), coalesce(e.due_at, v_now + e.delay),
           e.expires_at, e.topic, nullif(e.correlation_id, ''), e.headers::jsonb, e.payload
      from unnest(p_ids, p_topics, p_payloads, p_correlation_ids, p_headers, p_due_ats, p_delays, p_expires_ats)
           as e (id, topic, payload, correlation_id, headers, due_at, delay, expires_at);
    get diagnostics v_count = row_count;
    if p_notify then
        perform pg_notify('windlass.windlass.outbox', t.topic) from (select distinct unnest(p_topics) as topic) t;
    end if;
    return v_count;
end
$sql$;

-- Takes up to p_limit ready and due messages, at most p_places[i] of topic p_topics[i], for p_lease. Without topics, of
-- whatever topic there is, in random order, so that a full one cannot keep the others waiting. Expired messages are left to
-- expire().
--
-- Under an open snapshot the dead entries of claimed messages stay in the index, and every claim would step over all of
-- them. So a claimer gives, for each topic, the position (next_attempt_at, id) up to which it knows that nothing is left.
-- How it knows: let F be the number of a claim that reached position P. Whoever stamped a message at or before P did so
-- before that claim read its clock, and had its own transaction number by then, so that number is below F. Once a later
-- claim from the old bound reaches past P in a snapshot with xmin > F, all of those transactions had ended in that
-- snapshot, and the claim has seen what they committed. claim_xid is F, snapshot_xmin is xmin.
create or replace function "windlass"."outbox_claim"(
    p_owner     uuid,
    p_lease     interval,
    p_limit     integer,
    p_topics    text[] default null,
    p_places    integer[] default null,
    p_after_ats timestamptz[] default null,
    p_after_ids uuid[] default null
) returns table (
    id              uuid,
    topic           varchar,
    payload         text,
    correlation_id  varchar,
    headers         jsonb,
    created_at      timestamptz,
    due_at          timestamptz,
    expires_at      timestamptz,
    next_attempt_at timestamptz,
    retry_count     integer,
    lease_expiries  integer,
    last_error      varchar,
    claim_xid       bigint,
    snapshot_xmin   bigint
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[] := coalesce(p_topics, array(select t from "windlass"."outbox_ready_topics"() t order by random()));
begin
    return query
    update "windlass"."outbox" m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease
     where m.id = any (array(
               select f.id
                 from unnest(v_topics, p_places, p_after_ats, p_after_ids) as want (topic, places, after_at, after_id)
                cross join lateral (
                      select r.id
                        from "windlass"."outbox" r
                       where r.status = 0
                         and r.topic = want.topic
                         and r.next_attempt_at <= v_now
                         and (r.next_attempt_at, r.id) > (coalesce(want.after_at, '-infinity'),
                                                          coalesce(want.after_id, '00000000-0000-0000-0000-000000000000'))
                         and (r.expires_at is null or r.expires_at > v_now)
                       order by r.next_attempt_at, r.id
                       limit coalesce(want.places, p_limit)
                         for update skip locked) f
                limit p_limit))
    returning m.id, m.topic, m.payload, m.correlation_id, m.headers, m.created_at, m.due_at, m.expires_at,
              m.next_attempt_at, m.retry_count, m.lease_expiries, m.last_error,
              (select pg_current_xact_id_if_assigned()::text::bigint),
              (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint);
end
$sql$;

-- The topics that have ready messages, due or not: one step in the index for each.
create or replace function "windlass"."outbox_ready_topics"() returns setof text
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with recursive step (topic) as (
        (select m.topic from "windlass"."outbox" m where m.status = 0 order by m.topic limit 1)
        union all
        select (select m.topic
                  from "windlass"."outbox" m
                 where m.status = 0 and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
end
$sql$;

-- How many milliseconds until the next ready message of these topics is due, at most a day; zero or less when one is due
-- now, null when there is none. The bounds are those of claim.
create or replace function "windlass"."outbox_next_due"(
    p_topics    text[],
    p_after_ats timestamptz[],
    p_after_ids uuid[]
) returns bigint
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    return (
        select ceil(extract(epoch from min(least(f.next_attempt_at, v_now + interval '1 day')) - v_now) * 1000)
          from unnest(p_topics, p_after_ats, p_after_ids) as want (topic, after_at, after_id)
         cross join lateral (
               select m.next_attempt_at
                 from "windlass"."outbox" m
                where m.status = 0
                  and m.topic = want.topic
                  and (m.next_attempt_at, m.id) > (want.after_at, want.after_id)
                  and (m.expires_at is null or m.expires_at > v_now)
                order by m.next_attempt_at, m.id
                limit 1) f);
end
$sql$;

-- Ends messages as done, or deletes them when nothing is to be kept. Returns how many.
create or replace function "windlass"."outbox_ack"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text,
    p_keep         boolean
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_count  integer;
    v_joined uuid[];
begin
    if p_keep then
        with ended as (
            update "windlass"."outbox" m
               set status = 2, owner_token = null, locked_until = null,
                   ended_at = clock_timestamp(), processed_by = p_processed_by
              from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
             where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token
            returning m.id, m.joined)
        select count(*), array_agg(ended.id) filter (where ended.joined) into v_count, v_joined from ended;
    else
        with ended as (
            delete from "windlass"."outbox" m
             using (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
             where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token
            returning m.id, m.joined)
        select count(*), array_agg(ended.id) filter (where ended.joined) into v_count, v_joined from ended;
    end if;
    if v_joined is not null then
        perform "windlass"."outbox_join_count"(v_joined, 1::smallint);
    end if;
    return v_count;
end
$sql$;

-- Returns messages to ready after a failed attempt, which is counted. A null delay means min(2^retry_count s, 60 s).
-- Returns how many.
create or replace function "windlass"."outbox_abandon"(
    p_ids    uuid[],
    p_owners uuid[],
    p_delays interval[],
    p_errors text[]
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_count integer;
begin
    perform pg_current_xact_id();
    update "windlass"."outbox" m
       set status = 0, owner_token = null, locked_until = null, retry_count = m.retry_count + 1,
           next_attempt_at = clock_timestamp()
               + coalesce(c.delay, make_interval(secs => least(2 ^ least(m.retry_count, 6), 60))),
           last_error = coalesce(left(c.error, 2048), m.last_error)
      from (select * from unnest(p_ids, p_owners, p_delays, p_errors) as u (id, owner_token, delay, error) order by u.id) c
     where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token;
    get diagnostics v_count = row_count;
    return v_count;
end
$sql$;

-- Returns messages to ready without counting an attempt: the owner is shutting down or cannot handle them; another node is
-- told. Returns how many.
create or replace function "windlass"."outbox_release"(
    p_ids    uuid[],
    p_owners uuid[],
    p_delay  interval
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_count integer;
begin
    perform pg_current_xact_id();
    update "windlass"."outbox" m
       set status = 0, owner_token = null, locked_until = null, next_attempt_at = clock_timestamp() + p_delay
      from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
     where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token;
    get diagnostics v_count = row_count;
    if v_count > 0 then
        perform pg_notify('windlass.windlass.outbox', '');
    end if;
    return v_count;
end
$sql$;

-- Ends messages as failed; they are not claimed again. Returns how many.
create or replace function "windlass"."outbox_fail"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_errors       text[],
    p_processed_by text
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_count  integer;
    v_joined uuid[];
begin
    with ended as (
        update "windlass"."outbox" m
           set status = 3, owner_token = null, locked_until = null, ended_at = clock_timestamp(),
               processed_by = p_processed_by, last_error = coalesce(left(c.error, 2048), m.last_error)
          from (select * from unnest(p_ids, p_owners, p_errors) as u (id, owner_token, error) order by u.id) c
         where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token
        returning m.id, m.joined)
    select count(*), array_agg(ended.id) filter (where ended.joined) into v_count, v_joined from ended;
    if v_joined is not null then
        perform "windlass"."outbox_join_count"(v_joined, 2::smallint);
    end if;
    return v_count;
end
$sql$;

-- Renews the leases that have not run out. Returns the ids that were renewed; the owner has lost the others.
create or replace function "windlass"."outbox_heartbeat"(
    p_ids    uuid[],
    p_owners uuid[],
    p_lease  interval
) returns setof uuid
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
as $sql$
begin
    return query
    update "windlass"."outbox" m
       set locked_until = clock_timestamp() + p_lease
      from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
     where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until > clock_timestamp()
    returning m.id;
end
$sql$;

-- Returns messages whose lease ran out to ready, and tells the nodes. Nothing is reaped in the first p_quiet after the server
-- started: owners that lived through the outage renew, or write their outcome, first. Returns how many.
create or replace function "windlass"."outbox_reap"(p_quiet interval, p_limit integer) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer;
begin
    if v_now < pg_postmaster_start_time() + p_quiet then
        return 0;
    end if;
    update "windlass"."outbox" m
       set status = 0, owner_token = null, locked_until = null, lease_expiries = m.lease_expiries + 1,
           next_attempt_at = clock_timestamp()
     where m.id = any (array(
               select r.id
                 from "windlass"."outbox" r
                where r.status = 1 and r.locked_until <= v_now
                order by r.locked_until
                limit p_limit
                  for update skip locked));
    get diagnostics v_count = row_count;
    if v_count > 0 then
        perform pg_notify('windlass.windlass.outbox', '');
    end if;
    return v_count;
end
$sql$;

-- Ends ready messages whose expiry has passed as failed. Returns how many.
create or replace function "windlass"."outbox_expire"(p_limit integer) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_count  integer;
    v_joined uuid[];
begin
    with ended as (
        update "windlass"."outbox" m
           set status = 3, ended_at = clock_timestamp(), last_error = 'expired before it was handled'
         where m.id = any (array(
                   select r.id
                     from "windlass"."outbox" r
                    where r.status = 0 and r.expires_at is not null and r.expires_at <= v_now
                    order by r.expires_at
                    limit p_limit
                      for update skip locked))
        returning m.id, m.joined)
    select count(*), array_agg(ended.id) filter (where ended.joined) into v_count, v_joined from ended;
    if v_joined is not null then
        perform "windlass"."outbox_join_count"(v_joined, 2::smallint);
    end if;
    return v_count;
end
$sql$;

-- Deletes messages that have been done for longer than p_keep. Returns how many.
create or replace function "windlass"."outbox_clean"(p_keep interval, p_limit integer) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_count  integer;
begin
    delete from "windlass"."outbox" m
     where m.id = any (array(
               select r.id
                 from "windlass"."outbox" r
                where r.status = 2 and r.ended_at < v_before
                order by r.ended_at
                limit p_limit
                  for update skip locked));
    get diagnostics v_count = row_count;
    return v_count;
end
$sql$;

-- One message, in whatever state.
create or replace function "windlass"."outbox_find"(p_id uuid) returns setof "windlass"."outbox"
    language plpgsql
    stable
as $sql$
begin
    return query select m.* from "windlass"."outbox" m where m.id = p_id;
end
$sql$;

-- Counts ended messages into the joins they are members of, each membership once: p_status 1 completed, 2 failed. Called
-- by whatever ends a message, after its row is locked; joins are locked in the order of their ids.
create or replace function "windlass"."outbox_join_count"(p_message_ids uuid[], p_status smallint) returns void
    language plpgsql
    set enable_nestloop = on
    set enable_hashjoin = off
    set enable_mergejoin = off
as $sql$
begin
    perform 1
       from "windlass"."outbox_join" j
      where j.join_id in (select c.join_id
                            from "windlass"."outbox_join_member" c
                           where c.message_id = any (p_message_ids) and c.status = 0)
      order by j.join_id
        for update;
    with counted as (
        update "windlass"."outbox_join_member" c
           set status = p_status
         where c.message_id = any (p_message_ids) and c.status = 0
        returning c.join_id),
    steps as (
        select counted.join_id, count(*)::integer as n from counted group by counted.join_id)
    update "windlass"."outbox_join" j
       set completed_steps = j.completed_steps + case p_status when 1 then steps.n else 0 end,
           failed_steps = j.failed_steps + case p_status when 2 then steps.n else 0 end,
           last_updated_at = clock_timestamp()
      from steps
     where j.join_id = steps.join_id;
end
$sql$;

insert into "windlass".windlass_version (table_name, component, version, min_compatible) values ('outbox', 'outbox', 1, 1);
