-- The inbox as a queue: messages are stored with a topic, and the dispatcher hands them to handlers. The verbs, and what is
-- said about their plans and their clock, are those of a queue.

-- Writes one message for the queue, unless the inbox knows it. Returns whether it was new, and whether its hash differs from
-- that of the first arrival. It waits for the commit of whoever is enqueueing the same key, and for nobody else.
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
-- wait for, and waits for no lock on it. Only a message that somebody began without the queue is another matter, because nobody
-- may ever come back to it. If that failed, or was not heard of again, it becomes work for the queue. As long as somebody has it,
-- or has its row locked, what was brought is kept aside, and adopt() looks at it again.
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
    v_now   timestamptz;
    v_ids   uuid[];
    v_all   boolean;
    v_known boolean;
begin
    perform {schema}.windlass_check_lengths(
        cardinality(p_topics), coalesce(cardinality(p_sources), -1), coalesce(cardinality(p_message_ids), -1),
        coalesce(cardinality(p_payloads), -1), cardinality(p_headers), cardinality(p_hashes), cardinality(p_due_ats),
        cardinality(p_delays), cardinality(p_ids));
    if p_due_ats is not null and p_delays is not null then
        perform {schema}.windlass_refuse('a due time or a delay', 'both', 'Leave one of them out.')
           from unnest(p_due_ats, p_delays) as e (due_at, delay)
          where e.due_at is not null and e.delay is not null;
    end if;
    perform pg_current_xact_id();
    v_ids := coalesce(p_ids, array(select {schema}.windlass_new_id() as id from unnest(p_topics) order by id));
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
        if v_all is false and v_known then
            v_known := {schema}.{inbox_enqueue_known}(p_sources, p_message_ids, v_ids, p_topics, p_payloads, p_headers, p_hashes,
                                                      p_due_ats, p_delays);
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

-- What becomes of messages that have been seen before: see enqueue_all. Returns false if one is not known any more: it was
-- cleaned away this moment. An attempt whose lease ran out may be alive after an outage; so, for as long after the server's start
-- as that lease was, it is left to adopt().
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
) returns boolean
    language plpgsql
{plan:index}
as $sql$
declare
    v_now     timestamptz := clock_timestamp();
    v_start   timestamptz := pg_postmaster_start_time();
    v_known   boolean := true;
    v_entry   record;
    v_ended   boolean;
    v_guarded boolean;
begin
    for v_entry in
        select distinct on (e.source collate "C", e.message_id collate "C")
               e.source, e.message_id, e.id, e.topic, e.payload, e.headers::jsonb as headers, decode(e.hash, 'hex') as hash,
               coalesce(e.due_at, v_now + e.delay) as due_at
          from unnest(p_sources, p_message_ids, p_ids, p_topics, p_payloads, p_headers, p_hashes, p_due_ats, p_delays)
               with ordinality
               as e (source, message_id, id, topic, payload, headers, hash, due_at, delay, place)
         order by e.source collate "C", e.message_id collate "C", e.place
    loop
        select m.ended_at is not null into v_ended
          from {schema}.{inbox} m
         where m.source = v_entry.source and m.message_id = v_entry.message_id
           and (m.ended_at is not null
                or m.id is null and (m.locked_until is null
                                     or m.locked_until <= v_now and v_start + (m.locked_until - m.claimed_at) <= v_now))
           for update skip locked;
        if v_ended then
            update {schema}.{inbox} m
               set last_seen_at = v_now, hash = coalesce(m.hash, v_entry.hash)
             where m.source = v_entry.source and m.message_id = v_entry.message_id;
        elsif v_ended is false then
            perform {schema}.{inbox_make_work}(v_entry.source, v_entry.message_id, v_entry.id, v_entry.topic, v_entry.payload,
                                               v_entry.headers, v_entry.hash, v_entry.due_at, v_now);
        else
            select m.ended_at is null and m.id is null into v_guarded
              from {schema}.{inbox} m
             where m.source = v_entry.source and m.message_id = v_entry.message_id;
            if v_guarded then
                insert into {schema}.{inbox_redelivery}
                    (source, message_id, id, arrived_at, due_at, topic, hash, headers, payload)
                values (v_entry.source, v_entry.message_id, v_entry.id, v_now, v_entry.due_at, v_entry.topic, v_entry.hash,
                        v_entry.headers, v_entry.payload)
                on conflict (source, message_id) do nothing;
            elsif v_guarded is null then
                v_known := false;
            end if;
        end if;
    end loop;
    return v_known;
end
$sql$;

-- Makes work for the queue of a message that was begun without it, and that nobody is processing; the caller has locked it. An
-- attempt that nobody heard of again is counted.
create or replace function {schema}.{inbox_make_work}(
    p_source     text,
    p_message_id text,
    p_id         uuid,
    p_topic      text,
    p_payload    text,
    p_headers    jsonb,
    p_hash       bytea,
    p_due_at     timestamptz,
    p_seen_at    timestamptz
) returns void
    language plpgsql
{plan:index}
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    update {schema}.{inbox} m
       set id = p_id, topic = p_topic, payload = p_payload, headers = p_headers, hash = coalesce(m.hash, p_hash),
           last_seen_at = greatest(m.last_seen_at, p_seen_at), due_at = p_due_at,
           next_attempt_at = greatest(v_now, m.next_attempt_at, p_due_at), lease_expiries = m.lease_expiries + m.status,
           status = 0, owner_token = null, locked_until = null
     where m.source = p_source and m.message_id = p_message_id;
end
$sql$;

-- Looks at what was enqueued while somebody else had begun it. If that attempt failed or was not heard of again, it becomes work
-- for the queue, and nodes are told; if the message has ended, it is dropped; what is going on, or is locked, stays. A lease
-- that ran out counts only when the server has been up for p_quiet, as with begin. Returns how many became work.
create or replace function {schema}.{inbox_adopt}(p_quiet interval, p_limit integer default 1000) returns integer
    language plpgsql
{plan:each}
    set lock_timeout = '20ms'
as $sql$
declare
    v_now   timestamptz;
    v_calm  boolean;
    v_count integer := 0;
    v_entry record;
begin
    if not exists (select from {schema}.{inbox_redelivery}) then
        return 0;
    end if;
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    v_calm := pg_postmaster_start_time() + p_quiet <= v_now;
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    delete from {schema}.{inbox_redelivery} r
     where r.ctid = any (array(
               select e.ctid
                 from {schema}.{inbox_redelivery} e
                cross join lateral (
                      select
                        from {schema}.{inbox} m
                       where m.source = e.source and m.message_id = e.message_id
                         and (m.ended_at is not null or m.id is not null)
                       limit 1) ended
                limit p_limit
                  for update of e skip locked));
    for v_entry in
        select r.*
          from {schema}.{inbox_redelivery} r
         cross join lateral (
               select
                 from {schema}.{inbox} m
                where m.source = r.source and m.message_id = r.message_id
                  and m.ended_at is null and m.id is null
                  and (m.locked_until is null or v_calm and m.locked_until <= v_now)
                limit 1
                  for update skip locked) free
         limit p_limit
           for update of r skip locked
    loop
        begin
            perform {schema}.{inbox_make_work}(v_entry.source, v_entry.message_id, v_entry.id, v_entry.topic, v_entry.payload,
                                               v_entry.headers, v_entry.hash, v_entry.due_at, v_entry.arrived_at);
            delete from {schema}.{inbox_redelivery} r where r.source = v_entry.source and r.message_id = v_entry.message_id;
            v_count := v_count + 1;
        exception
            when others or assert_failure then
                null; -- one that is refused stays, and keeps no other from becoming work
        end;
    end loop;
    for v_entry in
        select r.*
          from {schema}.{inbox_redelivery} r
          left join lateral (
               select true as seen
                 from {schema}.{inbox} m
                where m.source = r.source and m.message_id = r.message_id
                limit 1) known on true
         where known.seen is null
         limit p_limit - v_count
           for update of r skip locked
    loop
        begin
            v_now := clock_timestamp();
            insert into {schema}.{inbox}
                (source, message_id, id, first_seen_at, last_seen_at, next_attempt_at, due_at, topic, hash, headers, payload)
            values (v_entry.source, v_entry.message_id, v_entry.id, v_entry.arrived_at, v_entry.arrived_at,
                    greatest(v_now, v_entry.due_at), v_entry.due_at, v_entry.topic, v_entry.hash, v_entry.headers, v_entry.payload)
            on conflict do nothing;
            if found then
                delete from {schema}.{inbox_redelivery} r where r.source = v_entry.source and r.message_id = v_entry.message_id;
                v_count := v_count + 1;
            end if;
        exception
            when others or assert_failure then
                null; -- somebody is writing this key, or it is refused
        end;
    end loop;
    if v_count > 0 then
        perform pg_notify({channel}, '');
    end if;
    return v_count;
end
$sql$;
