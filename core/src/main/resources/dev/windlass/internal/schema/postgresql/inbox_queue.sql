-- The inbox as a queue: messages are stored with a topic, and the dispatcher hands them to handlers. Its verbs are those of a queue.

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
    p_expires_at timestamptz default null,
    p_notify     boolean default true,
    out fresh    boolean,
    out differs  boolean
)
    language plpgsql
as $sql$
begin
    select e.fresh, e.differs into fresh, differs
      from {schema}.{inbox_enqueue_all}(array[p_source], array[p_message_id], array[p_topic], array[p_payload],
                                        array[p_headers::text], array[p_hash], array[p_due_at], array[p_delay],
                                        array[p_expires_at], p_notify) e;
end
$sql$;

-- Writes many in one round trip; one row for each, in the order of the arrays. An array of optional values may be null as a
-- whole. Of several with one key the first is written. Keys are taken in their order, so that two batches cannot deadlock. Who
-- gives the ids, and repeats a call whose answer was lost, is told again what was new.
--
-- What the inbox knows stays what it is, done or failed or in progress: this takes no lock on it that a mark would have to
-- wait for, and waits for no lock on it. Only a message that somebody began without the queue is another matter, because nobody
-- may ever come back to it: what was brought waits as a copy in the queue, and adopt() makes it ready if that attempt failed or
-- was not heard of again; at once, if that is known by now.
create or replace function {schema}.{inbox_enqueue_all}(
    p_sources     text[],
    p_message_ids text[],
    p_topics      text[],
    p_payloads    text[],
    p_headers     text[] default null,
    p_hashes      text[] default null,
    p_due_ats     timestamptz[] default null,
    p_delays      interval[] default null,
    p_expires_ats timestamptz[] default null,
    p_notify      boolean default true,
    p_ids         uuid[] default null
) returns table (fresh boolean, differs boolean)
    language plpgsql
{plan:each}
as $sql$
declare
    v_now timestamptz;
    v_ids uuid[];
    v_new uuid[];
begin
    perform {schema}.windlass_check_lengths(
        cardinality(p_topics), coalesce(cardinality(p_sources), -1), coalesce(cardinality(p_message_ids), -1),
        coalesce(cardinality(p_payloads), -1), cardinality(p_headers), cardinality(p_hashes), cardinality(p_due_ats),
        cardinality(p_delays), cardinality(p_expires_ats), cardinality(p_ids));
    if p_due_ats is not null and p_delays is not null or p_expires_ats is not null then
        perform {schema}.windlass_check_times(e.due_at, e.delay, e.expires_at)
           from unnest(p_due_ats, p_delays, p_expires_ats) as e (due_at, delay, expires_at);
    end if;
    perform pg_current_xact_id();
    v_ids := coalesce(p_ids, array(select {schema}.windlass_new_id() as id from unnest(p_topics) order by id));
    loop
        v_now := clock_timestamp();
        with entered as (
            insert into {schema}.{inbox_seen} (source, message_id, id, first_seen_at, last_seen_at, hash)
            select distinct on (e.source collate "C", e.message_id collate "C")
                   e.source, e.message_id, e.id, v_now, v_now, decode(e.hash, 'hex')
              from unnest(p_sources, p_message_ids, v_ids, p_hashes) with ordinality as e (source, message_id, id, hash, place)
              left join lateral (
                   select true as seen
                     from {schema}.{inbox_seen} k
                    where k.source = e.source and k.message_id = e.message_id
                    limit 1) k on true
             where k.seen is null
             order by e.source collate "C", e.message_id collate "C", e.place
            on conflict (source, message_id) do nothing
            returning id)
        select coalesce(array_agg(entered.id), '{}') into v_new from entered;
        if cardinality(v_new) > 0 then
            insert into {schema}.{inbox}
                (id, created_at, next_attempt_at, due_at, expires_at, topic, source, message_id, headers, payload)
            select e.id, v_now, greatest(v_now, coalesce(e.due_at, v_now + e.delay)), coalesce(e.due_at, v_now + e.delay),
                   e.expires_at, e.topic, e.source, e.message_id, e.headers::jsonb, e.payload
              from unnest(v_ids, p_topics, p_sources, p_message_ids, p_payloads, p_headers, p_due_ats, p_delays, p_expires_ats)
                   as e (id, topic, source, message_id, payload, headers, due_at, delay, expires_at)
             where cardinality(v_new) = cardinality(v_ids) or e.id = any (v_new);
        end if;
        exit when cardinality(v_new) = cardinality(v_ids);
        exit when {schema}.{inbox_enqueue_known}(p_sources, p_message_ids, v_ids, p_topics, p_payloads, p_headers, p_hashes,
                                                 p_due_ats, p_delays, p_expires_ats); -- else one was forgotten this moment
    end loop;
    if p_notify then
        perform pg_notify({channel}, 'ready ' || t.topic) from (select distinct unnest(p_topics) as topic) t;
    end if;
    if cardinality(v_new) = cardinality(v_ids) then
        return query select true, false from unnest(v_ids);
        return;
    end if;
    return query
    select coalesce(m.id = e.id, false), coalesce(m.hash <> decode(e.hash, 'hex'), false)
      from unnest(p_sources, p_message_ids, v_ids, p_hashes) with ordinality as e (source, message_id, id, hash, place)
      left join lateral (
           select k.id, k.hash
             from {schema}.{inbox_seen} k
            where k.source = e.source and k.message_id = e.message_id
            limit 1) m on true
     order by e.place;
end
$sql$;

-- What becomes of messages that have been seen before: see enqueue_all. Returns false if one is not known any more: it was
-- forgotten this moment.
create or replace function {schema}.{inbox_enqueue_known}(
    p_sources     text[],
    p_message_ids text[],
    p_ids         uuid[],
    p_topics      text[],
    p_payloads    text[],
    p_headers     text[],
    p_hashes      text[],
    p_due_ats     timestamptz[],
    p_delays      interval[],
    p_expires_ats timestamptz[]
) returns boolean
    language plpgsql
{plan:index}
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_known  boolean := true;
    v_entry  record;
    v_id     uuid;
    v_status smallint;
    v_taken  {schema}.{inbox_seen};
    v_waits  boolean;
begin
    for v_entry in
        select distinct on (e.source collate "C", e.message_id collate "C")
               e.source, e.message_id, e.id, e.topic, e.payload, e.headers::jsonb as headers, decode(e.hash, 'hex') as hash,
               coalesce(e.due_at, v_now + e.delay) as due_at, e.expires_at
          from unnest(p_sources, p_message_ids, p_ids, p_topics, p_payloads, p_headers, p_hashes, p_due_ats, p_delays, p_expires_ats)
               with ordinality
               as e (source, message_id, id, topic, payload, headers, hash, due_at, delay, expires_at, place)
         order by e.source collate "C", e.message_id collate "C", e.place
    loop
        select s.id, s.status into v_id, v_status
          from {schema}.{inbox_seen} s
         where s.source = v_entry.source and s.message_id = v_entry.message_id;
        if not found then
            v_known := false;
        elsif v_id is null and v_status in (0, 1) then
            v_taken := {schema}.{inbox_take_key}(v_entry.source, v_entry.message_id, v_entry.id, v_now, v_entry.hash, null);
            v_waits := v_taken.source is null;
            insert into {schema}.{inbox}
                (id, created_at, next_attempt_at, due_at, expires_at, status, awaited, retry_count, lease_expiries, requeues, topic,
                 source, message_id, last_error, hash, headers, payload)
            values (v_entry.id, coalesce(v_taken.first_seen_at, v_now), greatest(v_now, v_entry.due_at, v_taken.state_at),
                    v_entry.due_at, v_entry.expires_at, case when v_waits then 4 else 0 end, v_waits, coalesce(v_taken.retry_count, 0),
                    coalesce(v_taken.lease_expiries, 0), coalesce(v_taken.requeues, 0), v_entry.topic, v_entry.source,
                    v_entry.message_id, v_taken.last_error, case when v_waits then v_entry.hash end, v_entry.headers, v_entry.payload)
            on conflict do nothing;
        elsif v_id is distinct from v_entry.id then
            perform 1
               from {schema}.{inbox_seen} s
              where s.source = v_entry.source and s.message_id = v_entry.message_id and s.status + 0 is distinct from 1
                for update skip locked;
            if found then
                update {schema}.{inbox_seen} s
                   set last_seen_at = v_now, hash = coalesce(s.hash, v_entry.hash)
                 where s.source = v_entry.source and s.message_id = v_entry.message_id;
            end if;
        end if;
    end loop;
    return v_known;
end
$sql$;

-- Gives a message that was begun without the queue to its row in the queue, if that attempt failed or was not heard of again. Returns
-- what is known of its attempts, that last one counted, and until when it rests; nothing if it was not given. An attempt whose lease
-- ran out may be alive after an outage: it counts only when the server has been up for p_quiet or, without that, for as long as the
-- lease was.
create or replace function {schema}.{inbox_take_key}(
    p_source     text,
    p_message_id text,
    p_id         uuid,
    p_seen_at    timestamptz,
    p_hash       bytea,
    p_quiet      interval
) returns {schema}.{inbox_seen}
    language plpgsql
{plan:index}
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_seen {schema}.{inbox_seen};
begin
    select s.* into v_seen
      from {schema}.{inbox_seen} s
     where s.source = p_source and s.message_id = p_message_id
       and (s.status + 0 = 0
            or s.locked_until <= v_now
               and pg_postmaster_start_time() + coalesce(p_quiet, s.locked_until - s.claimed_at) <= v_now)
       for update skip locked;
    if found then
        update {schema}.{inbox_seen} s
           set id = p_id, status = null, state_at = null, locked_until = null, owner_token = null,
               last_seen_at = greatest(s.last_seen_at, p_seen_at), hash = coalesce(s.hash, p_hash)
         where s.source = p_source and s.message_id = p_message_id;
        v_seen.lease_expiries := v_seen.lease_expiries + v_seen.status;
        v_seen.state_at := case v_seen.status when 0 then v_seen.state_at end;
    end if;
    return v_seen;
end
$sql$;

-- Looks at the copies that wait. If the attempt without the queue failed or was not heard of again, or the inbox has forgotten it,
-- a copy is made ready, and nodes are told; if the message has ended, or the queue has it, it is dropped; what is going on, or is
-- locked, stays. Returns how many are ready.
create or replace function {schema}.{inbox_adopt}(p_quiet interval, p_limit integer default 1000) returns integer
    language plpgsql
{plan:each}
    set lock_timeout = '20ms'
as $sql$
declare
    v_count integer := 0;
    v_entry record;
    v_taken {schema}.{inbox_seen};
begin
    if not exists (select from {schema}.{inbox} w where w.status = 4) then
        return 0;
    end if;
    perform pg_current_xact_id();
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    delete from {schema}.{inbox} r
     where r.ctid = any (array(
               select w.ctid
                 from {schema}.{inbox} w
                cross join lateral (
                      select
                        from {schema}.{inbox_seen} s
                       where s.source = w.source and s.message_id = w.message_id
                         and (s.id is not null or s.status + 0 in (2, 3))
                       limit 1) ended
                where w.status = 4
                limit p_limit
                  for update of w skip locked));
    for v_entry in
        select w.id, w.source, w.message_id, w.created_at, w.hash, s.seen
          from {schema}.{inbox} w
          left join lateral (
               select true as seen, s.status, s.locked_until
                 from {schema}.{inbox_seen} s
                where s.source = w.source and s.message_id = w.message_id
                limit 1) s on true
         where w.status = 4 and (s.seen is null or s.status = 0 or s.locked_until <= clock_timestamp())
         limit p_limit
           for update of w skip locked
    loop
        begin
            if v_entry.seen is null then
                insert into {schema}.{inbox_seen} (source, message_id, first_seen_at, last_seen_at, status, state_at)
                values (v_entry.source, v_entry.message_id, v_entry.created_at, v_entry.created_at, 0, clock_timestamp())
                on conflict do nothing;
            end if;
            v_taken := {schema}.{inbox_take_key}(v_entry.source, v_entry.message_id, v_entry.id, v_entry.created_at, v_entry.hash,
                                                 p_quiet);
            if v_taken.source is not null then
                update {schema}.{inbox} w
                   set status = 0, awaited = false, created_at = v_taken.first_seen_at, hash = null, last_error = v_taken.last_error,
                       next_attempt_at = greatest(clock_timestamp(), w.due_at, v_taken.state_at), requeues = v_taken.requeues,
                       retry_count = v_taken.retry_count, lease_expiries = v_taken.lease_expiries
                 where w.id = v_entry.id;
                v_count := v_count + 1;
            end if;
        exception
            when others or assert_failure then
                null; -- somebody is writing this key, or it is refused: it keeps no other from becoming ready
        end;
    end loop;
    if v_count > 0 then
        perform pg_notify({channel}, 'ready');
    end if;
    return v_count;
end
$sql$;

-- Forgets queued messages that the caller has locked and is about to delete, with the copies that wait under their keys. Returns
-- their ids, without those whose memory somebody else has locked.
create or replace function {schema}.{inbox_delete_seen}(p_ids uuid[]) returns uuid[]
    language plpgsql
{plan:each}
as $sql$
declare
    v_free tid[];
    v_held uuid[];
begin
    v_free := array(select s.ctid
                      from {schema}.{inbox} m
                     cross join lateral (
                           select s.ctid
                             from {schema}.{inbox_seen} s
                            where s.source = m.source and s.message_id = m.message_id and s.id = m.id
                            limit 1
                              for update skip locked) s
                     where m.id = any (p_ids));
    delete from {schema}.{inbox_seen} s where s.ctid = any (v_free);
    v_held := array(select m.id
                      from {schema}.{inbox} m
                     cross join lateral (
                           select
                             from {schema}.{inbox_seen} s
                            where s.source = m.source and s.message_id = m.message_id and s.id = m.id
                            limit 1) s
                     where m.id = any (p_ids));
    if exists (select from {schema}.{inbox} w where w.status = 4) then
        delete from {schema}.{inbox} c
         where c.ctid = any (array(
                   select w.ctid
                     from {schema}.{inbox} m
                    cross join lateral (
                          select w.ctid
                            from {schema}.{inbox} w
                           where w.source = m.source and w.message_id = m.message_id and w.status = 4
                           limit 1
                             for update skip locked) w
                    where m.id = any (p_ids) and m.id <> all (v_held)));
    end if;
    return array(select unnest(p_ids) except select unnest(v_held));
end
$sql$;
