-- The inbox as a queue: messages are stored with a topic, and the dispatcher hands them to handlers. The verbs, and what is
-- said about their plans and their clock, are those of the outbox.

-- A new id, time-ordered (version 7): 48 bits of time, the rest random.
create or replace function {schema}.{inbox_new_id}() returns uuid
    language plpgsql
as $sql$
begin
    return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
               placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
               52, 1), 53, 1), 'hex')::uuid;
end
$sql$;

-- Writes one message for the queue, unless the inbox knows it. Returns whether it was new, and whether its hash differs from
-- that of the first arrival. It waits for the commit of whoever is writing the same key.
create or replace function {schema}.{inbox_enqueue}(
    p_source     text,
    p_message_id text,
    p_topic      text,
    p_payload    text,
    p_headers    jsonb default null,
    p_hash       text default null,
    p_due_at     timestamptz default null,
    p_delay      interval default null,
    p_notify     boolean default true,
    out fresh    boolean,
    out differs  boolean
)
    language plpgsql
as $sql$
begin
    select e.fresh, e.differs into fresh, differs
      from {schema}.{inbox_enqueue_all}(array[p_source], array[p_message_id], array[p_topic], array[p_payload],
                                        array[p_headers::text], array[p_hash], array[p_due_at], array[p_delay], p_notify) e;
end
$sql$;

-- Writes many in one round trip; one row for each, in the order of the arrays. An array of optional values may be null as a
-- whole. Of several with one key the first is written. Keys are taken in their order, so that two batches cannot deadlock. Who
-- gives the ids, and repeats a call whose answer was lost, is told again what was new.
--
-- What the inbox knows stays what it is, done or dead or in progress: this takes no lock on it that a mark would have to
-- wait for. Only a message that somebody began without the queue, and failed or was not heard of again, becomes work
-- for the queue: nobody else may ever come back to it.
create or replace function {schema}.{inbox_enqueue_all}(
    p_sources     text[],
    p_message_ids text[],
    p_topics      text[],
    p_payloads    text[],
    p_headers     text[] default null,
    p_hashes      text[] default null,
    p_due_ats     timestamptz[] default null,
    p_delays      interval[] default null,
    p_notify      boolean default true,
    p_ids         uuid[] default null
) returns table (fresh boolean, differs boolean)
    language plpgsql
{plan:each}
as $sql$
declare
    v_now     timestamptz;
    v_ids     uuid[];
    v_all     boolean;
    v_known   boolean;
    v_revised boolean := false;
begin
    perform pg_current_xact_id();
    v_ids := coalesce(p_ids, array(select {schema}.{inbox_new_id}() as id from unnest(p_topics) order by id));
    loop
        v_now := clock_timestamp();
        insert into {schema}.{inbox}
            (source, message_id, id, first_seen_at, last_seen_at, next_attempt_at, due_at, topic, hash, headers, payload)
        select distinct on (e.source collate "C", e.message_id collate "C")
               e.source, e.message_id, e.id, v_now, v_now, greatest(v_now, coalesce(e.due_at, v_now + e.delay)),
               coalesce(e.due_at, v_now + e.delay), e.topic, decode(e.hash, 'hex'), e.headers::jsonb, e.payload
          from unnest(p_sources, p_message_ids, v_ids, p_topics, p_payloads, p_headers, p_hashes, p_due_ats, p_delays)
               with ordinality
               as e (source, message_id, id, topic, payload, headers, hash, due_at, delay, place)
          left join lateral (
               select true as seen
                 from {schema}.{inbox} k
                where k.source = e.source and k.message_id = e.message_id
                limit 1) k on true
         where k.seen is null
         order by e.source collate "C", e.message_id collate "C", e.place
        on conflict (source, message_id) do nothing;
        select bool_and(coalesce(m.id = e.id, false)), bool_and(m.source is not null) into v_all, v_known
          from unnest(p_sources, p_message_ids, v_ids) as e (source, message_id, id)
          left join lateral (
               select k.source, k.id
                 from {schema}.{inbox} k
                where k.source = e.source and k.message_id = e.message_id
                limit 1) m on true;
        if v_all is false and v_known and not v_revised then
            perform {schema}.{inbox_enqueue_known}(p_sources, p_message_ids, v_ids, p_topics, p_payloads, p_headers, p_hashes,
                                                   p_due_ats, p_delays);
            v_revised := true;
        end if;
        exit when v_known is not false; -- else one was cleaned away this moment
    end loop;
    if p_notify then
        perform pg_notify({channel}, t.topic) from (select distinct unnest(p_topics) as topic) t;
    end if;
    return query
    select coalesce(m.id = e.id, false), coalesce(m.hash <> decode(e.hash, 'hex'), false)
      from unnest(p_sources, p_message_ids, v_ids, p_hashes) with ordinality as e (source, message_id, id, hash, place)
      left join lateral (
           select k.id, k.hash
             from {schema}.{inbox} k
            where k.source = e.source and k.message_id = e.message_id
            limit 1) m on true
     order by e.place;
end
$sql$;

-- What becomes of messages that have been seen before: see enqueue_all. What has ended is skipped if it is locked. What could
-- become work for the queue is waited for: whoever is making it that may roll back, and then nobody would have.
create or replace function {schema}.{inbox_enqueue_known}(
    p_sources     text[],
    p_message_ids text[],
    p_ids         uuid[],
    p_topics      text[],
    p_payloads    text[],
    p_headers     text[],
    p_hashes      text[],
    p_due_ats     timestamptz[],
    p_delays      interval[]
) returns void
    language plpgsql
{plan:index}
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_entry record;
    v_ended boolean;
begin
    for v_entry in
        select distinct on (e.source collate "C", e.message_id collate "C") e.*
          from unnest(p_sources, p_message_ids, p_ids, p_topics, p_payloads, p_headers, p_hashes, p_due_ats, p_delays)
               with ordinality
               as e (source, message_id, id, topic, payload, headers, hash, due_at, delay, place)
         order by e.source collate "C", e.message_id collate "C", e.place
    loop
        select m.ended_at is not null into v_ended
          from {schema}.{inbox} m
         where m.source = v_entry.source and m.message_id = v_entry.message_id
           and (m.ended_at is not null or m.id is null and (m.locked_until is null or m.locked_until <= v_now))
           for update skip locked;
        if v_ended is null then
            select false into v_ended
              from {schema}.{inbox} m
             where m.source = v_entry.source and m.message_id = v_entry.message_id
               and m.ended_at is null and m.id is null and (m.locked_until is null or m.locked_until <= v_now)
               for update;
        end if;
        if v_ended then
            update {schema}.{inbox} m
               set last_seen_at = v_now, hash = coalesce(m.hash, decode(v_entry.hash, 'hex'))
             where m.source = v_entry.source and m.message_id = v_entry.message_id;
        elsif v_ended is false then
            update {schema}.{inbox} m
               set id = v_entry.id, topic = v_entry.topic, payload = v_entry.payload, headers = v_entry.headers::jsonb,
                   hash = coalesce(m.hash, decode(v_entry.hash, 'hex')), last_seen_at = v_now,
                   due_at = coalesce(v_entry.due_at, v_now + v_entry.delay),
                   next_attempt_at = greatest(v_now, m.next_attempt_at, coalesce(v_entry.due_at, v_now + v_entry.delay)),
                   lease_expiries = m.lease_expiries + m.status, status = 0, owner_token = null, locked_until = null
             where m.source = v_entry.source and m.message_id = v_entry.message_id;
        end if;
    end loop;
end
$sql$;

-- Takes up to p_limit ready and due messages, at most p_places[i] of topic p_topics[i], for p_lease. Without topics, of
-- whatever topic there is, in random order. The bounds are those of the outbox's claim, and so is their proof.
create or replace function {schema}.{inbox_claim}(
    p_owner     uuid,
    p_lease     interval,
    p_limit     integer,
    p_topics    text[] default null,
    p_places    integer[] default null,
    p_after_ats timestamptz[] default null,
    p_after_ids uuid[] default null
) returns table (
    id              uuid,
    source          varchar,
    message_id      varchar,
    topic           varchar,
    payload         text,
    headers         jsonb,
    first_seen_at   timestamptz,
    due_at          timestamptz,
    next_attempt_at timestamptz,
    retry_count     integer,
    lease_expiries  integer,
    revivals        smallint,
    last_error      varchar,
    claim_xid       bigint,
    snapshot_xmin   bigint
)
    language plpgsql
{plan:index}
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[] := coalesce(p_topics, array(select t from {schema}.{inbox_ready_topics}() t order by random()));
begin
    return query
    update {schema}.{inbox} m
       set status = 1, owner_token = p_owner, begun_at = v_now, locked_until = v_now + p_lease
     where m.id = any (array(
               select f.id
                 from unnest(v_topics, p_places, p_after_ats, p_after_ids) as want (topic, places, after_at, after_id)
                cross join lateral (
                      select r.id
                        from {schema}.{inbox} r
                       where r.status = 0
                         and r.topic = want.topic
                         and r.next_attempt_at <= v_now
                         and (r.next_attempt_at, r.id) > (coalesce(want.after_at, '-infinity'),
                                                          coalesce(want.after_id, '00000000-0000-0000-0000-000000000000'))
                       order by r.next_attempt_at, r.id
                       limit coalesce(want.places, p_limit)
                         for update skip locked) f
                limit p_limit))
    returning m.id, m.source, m.message_id, m.topic, m.payload, m.headers, m.first_seen_at, m.due_at, m.next_attempt_at,
              m.retry_count, m.lease_expiries, m.revivals, m.last_error,
              (select pg_current_xact_id_if_assigned()::text::bigint),
              (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint);
end
$sql$;

-- The topics that have ready messages, due or not: one step in the index for each.
create or replace function {schema}.{inbox_ready_topics}() returns setof text
    language plpgsql
    stable
{plan:order}
as $sql$
begin
    return query
    with recursive step (topic) as (
        (select m.topic from {schema}.{inbox} m where m.status = 0 and m.topic is not null order by m.topic limit 1)
        union all
        select (select m.topic
                  from {schema}.{inbox} m
                 where m.status = 0 and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
end
$sql$;

-- How many milliseconds until the next ready message of these topics is due, at most a day; zero or less when one is due
-- now, null when there is none.
create or replace function {schema}.{inbox_next_due}(
    p_topics    text[],
    p_after_ats timestamptz[],
    p_after_ids uuid[]
) returns bigint
    language plpgsql
    stable
{plan:index}
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    return (
        select ceil(extract(epoch from min(least(f.next_attempt_at, v_now + interval '1 day')) - v_now) * 1000)
          from unnest(p_topics, p_after_ats, p_after_ids) as want (topic, after_at, after_id)
         cross join lateral (
               select m.next_attempt_at
                 from {schema}.{inbox} m
                where m.status = 0
                  and m.topic = want.topic
                  and (m.next_attempt_at, m.id) > (want.after_at, want.after_id)
                order by m.next_attempt_at, m.id
                limit 1) f);
end
$sql$;

-- Ends messages as done. Returns how many this owner has ended: one that he had ended before counts, since his handler's
-- transaction may have done it, or an ack whose answer was lost. Who acks in the transaction of his work says false for
-- p_again, and rolls back if fewer are counted than he gave: what was ended before has had its work.
create or replace function {schema}.{inbox_ack}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text default null,
    p_again        boolean default true
) returns integer
    language plpgsql
{plan:ids}
as $sql$
declare
    v_count  integer;
    v_before integer;
begin
    update {schema}.{inbox} m
       set status = 2, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by
      from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
     where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null;
    get diagnostics v_count = row_count;
    if p_again and v_count < cardinality(p_ids) then
        select count(*) into v_before
          from {schema}.{inbox} m
          join unnest(p_ids, p_owners) as c (id, owner_token) on m.id = c.id
         where m.id = any (p_ids) and m.owner_token = c.owner_token and m.status + 0 = 2;
        return v_before; -- those of this call among them
    end if;
    return v_count;
end
$sql$;

-- Returns messages to ready after a failed attempt, which is counted unless p_counted says otherwise. A null delay means
-- min(2^retry_count s, 60 s). Returns how many.
create or replace function {schema}.{inbox_abandon}(
    p_ids     uuid[],
    p_owners  uuid[],
    p_delays  interval[] default null,
    p_errors  text[] default null,
    p_counted boolean[] default null
) returns integer
    language plpgsql
{plan:ids}
as $sql$
declare
    v_count integer;
begin
    perform pg_current_xact_id();
    update {schema}.{inbox} m
       set status = 0, owner_token = null, locked_until = null,
           retry_count = m.retry_count + case when c.counted is false then 0 else 1 end,
           next_attempt_at = clock_timestamp()
               + coalesce(c.delay, make_interval(secs => least(2 ^ least(m.retry_count, 6), 60))),
           last_error = coalesce(left(c.error, 2048), m.last_error)
      from (select *
              from unnest(p_ids, p_owners, p_delays, p_errors, p_counted)
                   as u (id, owner_token, delay, error, counted)
             order by u.id) c
     where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null;
    get diagnostics v_count = row_count;
    return v_count;
end
$sql$;

-- Returns messages to ready without counting an attempt: the owner is shutting down or cannot handle them; another node is
-- told. Returns how many.
create or replace function {schema}.{inbox_release}(
    p_ids    uuid[],
    p_owners uuid[],
    p_delay  interval default '0 s'
) returns integer
    language plpgsql
{plan:ids}
as $sql$
declare
    v_count integer;
begin
    perform pg_current_xact_id();
    update {schema}.{inbox} m
       set status = 0, owner_token = null, locked_until = null, next_attempt_at = clock_timestamp() + p_delay
      from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
     where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null;
    get diagnostics v_count = row_count;
    if v_count > 0 then
        perform pg_notify({channel}, '');
    end if;
    return v_count;
end
$sql$;

-- Ends messages as dead; they are not claimed again. Returns how many.
create or replace function {schema}.{inbox_fail}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_errors       text[] default null,
    p_processed_by text default null
) returns integer
    language plpgsql
{plan:ids}
as $sql$
declare
    v_count integer;
begin
    update {schema}.{inbox} m
       set status = 3, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by,
           last_error = coalesce(left(c.error, 2048), m.last_error)
      from (select * from unnest(p_ids, p_owners, p_errors) as u (id, owner_token, error) order by u.id) c
     where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null;
    get diagnostics v_count = row_count;
    return v_count;
end
$sql$;

-- Renews the leases that have not run out. Returns the ids that were renewed, and those that this owner has ended as done, in
-- the transaction of a handler that is about to return; the owner has lost the others.
create or replace function {schema}.{inbox_heartbeat}(
    p_ids    uuid[],
    p_owners uuid[],
    p_lease  interval
) returns setof uuid
    language plpgsql
{plan:ids}
as $sql$
declare
    v_count integer;
begin
    return query
    update {schema}.{inbox} m
       set locked_until = clock_timestamp() + p_lease
      from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
     where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until > clock_timestamp()
    returning m.id;
    get diagnostics v_count = row_count;
    if v_count < cardinality(p_ids) then
        return query
        select m.id
          from {schema}.{inbox} m
          join unnest(p_ids, p_owners) as c (id, owner_token) on m.id = c.id
         where m.id = any (p_ids) and m.owner_token = c.owner_token and m.status + 0 = 2;
    end if;
end
$sql$;

-- Returns queued messages whose lease ran out to ready, and tells the nodes. Nothing is reaped in the first p_quiet after the
-- server started. Messages that are processed without the queue need none of this: whoever begins one next takes it over.
-- Returns how many.
create or replace function {schema}.{inbox_reap}(p_quiet interval, p_limit integer default 1000) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_ids   uuid[];
begin
    if v_now < pg_postmaster_start_time() + p_quiet then
        return 0;
    end if;
    v_ids := array(select r.id
                     from {schema}.{inbox} r
                    where r.status = 1 and r.id is not null and r.locked_until <= v_now
                    order by r.locked_until
                    limit p_limit
                      for update skip locked);
    if cardinality(v_ids) = 0 then
        return 0;
    end if;
    perform pg_current_xact_id();
    update {schema}.{inbox} m
       set status = 0, owner_token = null, locked_until = null, lease_expiries = m.lease_expiries + 1,
           next_attempt_at = clock_timestamp()
     where m.id = any (v_ids);
    perform pg_notify({channel}, '');
    return cardinality(v_ids);
end
$sql$;

-- Deletes what has been done for longer than p_keep. Returns how many.
create or replace function {schema}.{inbox_clean}(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
{plan:each}
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_count  integer;
begin
    delete from {schema}.{inbox} m
     where m.ctid = any (array(
               select r.ctid
                 from {schema}.{inbox} r
                where r.status = 2 and r.ended_at < v_before
                order by r.ended_at
                limit p_limit
                  for update skip locked));
    get diagnostics v_count = row_count;
    return v_count;
end
$sql$;
