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
create or replace function {schema}.{outbox_enqueue}(
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
    insert into {schema}.{outbox}
        (id, created_at, next_attempt_at, due_at, expires_at, topic, correlation_id, headers, payload)
    values (v_id, v_now, greatest(v_now, coalesce(p_due_at, v_now + p_delay)), coalesce(p_due_at, v_now + p_delay),
            p_expires_at, p_topic, nullif(p_correlation_id, ''), p_headers, p_payload);
    if p_notify then
        perform pg_notify({channel}, p_topic);
    end if;
    return v_id;
end
$sql$;

-- Writes many messages in one round trip. An array of optional values may be null as a whole. Returns how many.
create or replace function {schema}.{outbox_enqueue_many}(
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
    insert into {schema}.{outbox}
        (id, created_at, next_attempt_at, due_at, expires_at, topic, correlation_id, headers, payload)
    select e.id, v_now, greatest(v_now, coalesce(e.due_at, v_now + e.delay)), coalesce(e.due_at, v_now + e.delay),
           e.expires_at, e.topic, nullif(e.correlation_id, ''), e.headers::jsonb, e.payload
      from unnest(p_ids, p_topics, p_payloads, p_correlation_ids, p_headers, p_due_ats, p_delays, p_expires_ats)
           as e (id, topic, payload, correlation_id, headers, due_at, delay, expires_at);
    get diagnostics v_count = row_count;
    if p_notify then
        perform pg_notify({channel}, t.topic) from (select distinct unnest(p_topics) as topic) t;
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
create or replace function {schema}.{outbox_claim}(
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
    v_topics text[] := coalesce(p_topics, array(select t from {schema}.{outbox_ready_topics}() t order by random()));
begin
    return query
    update {schema}.{outbox} m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease
     where m.id = any (array(
               select f.id
                 from unnest(v_topics, p_places, p_after_ats, p_after_ids) as want (topic, places, after_at, after_id)
                cross join lateral (
                      select r.id
                        from {schema}.{outbox} r
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
create or replace function {schema}.{outbox_ready_topics}() returns setof text
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
        (select m.topic from {schema}.{outbox} m where m.status = 0 order by m.topic limit 1)
        union all
        select (select m.topic
                  from {schema}.{outbox} m
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
create or replace function {schema}.{outbox_next_due}(
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
                 from {schema}.{outbox} m
                where m.status = 0
                  and m.topic = want.topic
                  and (m.next_attempt_at, m.id) > (want.after_at, want.after_id)
                  and (m.expires_at is null or m.expires_at > v_now)
                order by m.next_attempt_at, m.id
                limit 1) f);
end
$sql$;

-- Ends messages as done, or deletes them when nothing is to be kept. Returns how many.
create or replace function {schema}.{outbox_ack}(
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
            update {schema}.{outbox} m
               set status = 2, owner_token = null, locked_until = null,
                   ended_at = clock_timestamp(), processed_by = p_processed_by
              from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
             where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token
            returning m.id, m.joined)
        select count(*), array_agg(ended.id) filter (where ended.joined) into v_count, v_joined from ended;
    else
        with ended as (
            delete from {schema}.{outbox} m
             using (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
             where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token
            returning m.id, m.joined)
        select count(*), array_agg(ended.id) filter (where ended.joined) into v_count, v_joined from ended;
    end if;
    if v_joined is not null then
        perform {schema}.{outbox_join_count}(v_joined, 1::smallint);
    end if;
    return v_count;
end
$sql$;

-- Returns messages to ready after a failed attempt, which is counted. A null delay means min(2^retry_count s, 60 s).
-- Returns how many.
create or replace function {schema}.{outbox_abandon}(
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
    update {schema}.{outbox} m
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
create or replace function {schema}.{outbox_release}(
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
    update {schema}.{outbox} m
       set status = 0, owner_token = null, locked_until = null, next_attempt_at = clock_timestamp() + p_delay
      from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
     where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token;
    get diagnostics v_count = row_count;
    if v_count > 0 then
        perform pg_notify({channel}, '');
    end if;
    return v_count;
end
$sql$;

-- Ends messages as failed; they are not claimed again. Returns how many.
create or replace function {schema}.{outbox_fail}(
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
        update {schema}.{outbox} m
           set status = 3, owner_token = null, locked_until = null, ended_at = clock_timestamp(),
               processed_by = p_processed_by, last_error = coalesce(left(c.error, 2048), m.last_error)
          from (select * from unnest(p_ids, p_owners, p_errors) as u (id, owner_token, error) order by u.id) c
         where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token
        returning m.id, m.joined)
    select count(*), array_agg(ended.id) filter (where ended.joined) into v_count, v_joined from ended;
    if v_joined is not null then
        perform {schema}.{outbox_join_count}(v_joined, 2::smallint);
    end if;
    return v_count;
end
$sql$;

-- Renews the leases that have not run out. Returns the ids that were renewed; the owner has lost the others.
create or replace function {schema}.{outbox_heartbeat}(
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
    update {schema}.{outbox} m
       set locked_until = clock_timestamp() + p_lease
      from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
     where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until > clock_timestamp()
    returning m.id;
end
$sql$;

-- Returns messages whose lease ran out to ready, and tells the nodes. Nothing is reaped in the first p_quiet after the server
-- started: owners that lived through the outage renew, or write their outcome, first. Returns how many.
create or replace function {schema}.{outbox_reap}(p_quiet interval, p_limit integer) returns integer
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
    update {schema}.{outbox} m
       set status = 0, owner_token = null, locked_until = null, lease_expiries = m.lease_expiries + 1,
           next_attempt_at = clock_timestamp()
     where m.id = any (array(
               select r.id
                 from {schema}.{outbox} r
                where r.status = 1 and r.locked_until <= v_now
                order by r.locked_until
                limit p_limit
                  for update skip locked));
    get diagnostics v_count = row_count;
    if v_count > 0 then
        perform pg_notify({channel}, '');
    end if;
    return v_count;
end
$sql$;

-- Ends ready messages whose expiry has passed as failed. Returns how many.
create or replace function {schema}.{outbox_expire}(p_limit integer) returns integer
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
        update {schema}.{outbox} m
           set status = 3, ended_at = clock_timestamp(), last_error = 'expired before it was handled'
         where m.id = any (array(
                   select r.id
                     from {schema}.{outbox} r
                    where r.status = 0 and r.expires_at is not null and r.expires_at <= v_now
                    order by r.expires_at
                    limit p_limit
                      for update skip locked))
        returning m.id, m.joined)
    select count(*), array_agg(ended.id) filter (where ended.joined) into v_count, v_joined from ended;
    if v_joined is not null then
        perform {schema}.{outbox_join_count}(v_joined, 2::smallint);
    end if;
    return v_count;
end
$sql$;

-- Deletes messages that have been done for longer than p_keep. Returns how many.
create or replace function {schema}.{outbox_clean}(p_keep interval, p_limit integer) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_count  integer;
begin
    delete from {schema}.{outbox} m
     where m.id = any (array(
               select r.id
                 from {schema}.{outbox} r
                where r.status = 2 and r.ended_at < v_before
                order by r.ended_at
                limit p_limit
                  for update skip locked));
    get diagnostics v_count = row_count;
    return v_count;
end
$sql$;

-- One message, in whatever state.
create or replace function {schema}.{outbox_find}(p_id uuid) returns setof {schema}.{outbox}
    language plpgsql
    stable
as $sql$
begin
    return query select m.* from {schema}.{outbox} m where m.id = p_id;
end
$sql$;

-- Counts ended messages into the joins they are members of, each membership once: p_status 1 completed, 2 failed. Called
-- by whatever ends a message, after its row is locked; joins are locked in the order of their ids.
create or replace function {schema}.{outbox_join_count}(p_message_ids uuid[], p_status smallint) returns void
    language plpgsql
    set enable_nestloop = on
    set enable_hashjoin = off
    set enable_mergejoin = off
as $sql$
begin
    perform 1
       from {schema}.{outbox_join} j
      where j.join_id in (select c.join_id
                            from {schema}.{outbox_join_member} c
                           where c.message_id = any (p_message_ids) and c.status = 0)
      order by j.join_id
        for update;
    with counted as (
        update {schema}.{outbox_join_member} c
           set status = p_status
         where c.message_id = any (p_message_ids) and c.status = 0
        returning c.join_id),
    steps as (
        select counted.join_id, count(*)::integer as n from counted group by counted.join_id)
    update {schema}.{outbox_join} j
       set completed_steps = j.completed_steps + case p_status when 1 then steps.n else 0 end,
           failed_steps = j.failed_steps + case p_status when 2 then steps.n else 0 end,
           last_updated_at = clock_timestamp()
      from steps
     where j.join_id = steps.join_id;
end
$sql$;
