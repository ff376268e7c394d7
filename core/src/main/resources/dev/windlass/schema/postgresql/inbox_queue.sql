-- The inbox as a queue: messages are stored with a topic, and the dispatcher hands them to handlers. The verbs, and what is
-- said about their plans and their clock, are those of a queue.

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

-- Nothing waits for the end of an inbox message yet.
create or replace function {schema}.{inbox_ended}(
    p_ids      uuid[],
    p_status   smallint,
    p_blocking uuid[],
    p_pass_on  boolean,
    p_notify   boolean
) returns void
    language plpgsql
as $sql$
begin
end
$sql$;
