-- The work queue: how items are written, taken in the turn of their keys, followed, stopped, and how their results are kept. The
-- other verbs are those of every queue.

-- Writes an item of a queue; its type says which handler it is for. It can run from p_run_at on, or after p_delay. Of a unique key there
-- is one item in a queue at most that has not ended: a second one leaves it as it is, or, if p_replace says so, takes the place of the
-- one that is still queued; one that is running goes on without the key then. Returns the id of the item that stands.
create or replace function {schema}.{work_enqueue}(
    p_queue          text,
    p_type           text,
    p_payload        text,
    p_priority       integer default 4,
    p_run_at         timestamptz default null,
    p_delay          interval default null,
    p_turn_key       text default null,
    p_unique_key     text default null,
    p_replace        boolean default false,
    p_correlation_id text default null,
    p_headers        jsonb default null,
    p_expires_at     timestamptz default null,
    p_id             uuid default null,
    p_notify         boolean default true,
    p_join_id        uuid default null
) returns uuid
    language plpgsql
as $sql$
begin
    return ({schema}.{work_enqueue_all}(
        array[coalesce(p_id, {schema}.windlass_new_id())], array[p_queue], array[p_type], array[p_payload], array[p_priority],
        case when p_run_at is not null then array[p_run_at] end, case when p_delay is not null then array[p_delay] end,
        case when p_turn_key is not null then array[p_turn_key] end, case when p_unique_key is not null then array[p_unique_key] end,
        array[p_replace], case when p_correlation_id is not null then array[p_correlation_id] end,
        case when p_headers is not null then array[p_headers::text] end,
        case when p_expires_at is not null then array[p_expires_at] end, p_notify,
        case when p_join_id is not null then array[p_join_id] end))[1];
end
$sql$;

-- Writes many items in one round trip. An array of optional values may be null as a whole. Returns the ids of the items that stand, in
-- the order of the arrays. Those with a unique key are written in the order of their keys, so that two calls cannot deadlock.
create or replace function {schema}.{work_enqueue_all}(
    p_ids             uuid[],
    p_queues          text[],
    p_types           text[],
    p_payloads        text[],
    p_priorities      integer[] default null,
    p_run_ats         timestamptz[] default null,
    p_delays          interval[] default null,
    p_turn_keys       text[] default null,
    p_unique_keys     text[] default null,
    p_replaces        boolean[] default null,
    p_correlation_ids text[] default null,
    p_headers         text[] default null,
    p_expires_ats     timestamptz[] default null,
    p_notify          boolean default true,
    p_join_ids        uuid[] default null
) returns uuid[]
    language plpgsql
as $sql$
declare
    v_now       timestamptz;
    v_ids       uuid[] := coalesce(p_ids, array(select {schema}.windlass_new_id() from unnest(p_queues)));
    v_stand     uuid[] := v_ids;
    v_originals uuid[];
    v_each      record;
begin
    perform {schema}.windlass_check_lengths(
        cardinality(p_queues), coalesce(cardinality(p_types), -1), coalesce(cardinality(p_payloads), -1), cardinality(p_ids),
        cardinality(p_priorities), cardinality(p_run_ats), cardinality(p_delays), cardinality(p_turn_keys), cardinality(p_unique_keys),
        cardinality(p_replaces), cardinality(p_correlation_ids), cardinality(p_headers), cardinality(p_expires_ats),
        cardinality(p_join_ids));
    if num_nulls(variadic p_queues || p_types || p_payloads) > 0 then
        perform {schema}.windlass_refuse('a queue, a type and a payload for each item', null, 'A payload may be empty, but not null.');
    end if;
    perform {schema}.windlass_refuse('a priority from 0 to 9', p.priority::text, 'Leave it out for 4.')
       from unnest(p_priorities) as p (priority)
      where p.priority not between 0 and 9;
    if p_run_ats is not null and p_delays is not null or p_expires_ats is not null then
        perform {schema}.windlass_check_times(e.run_at, e.delay, e.expires_at)
           from unnest(p_run_ats, p_delays, p_expires_ats) as e (run_at, delay, expires_at);
    end if;
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    insert into {schema}.{work}
        (id, created_at, next_attempt_at, due_at, expires_at, priority, topic, type, correlation_id, headers, payload, keyed, turn_key,
         awaited, joined)
    select e.id, v_now, greatest(v_now, coalesce(e.run_at, v_now + e.delay)), coalesce(e.run_at, v_now + e.delay), e.expires_at,
           coalesce(e.priority, 4), e.queue, e.type, nullif(e.correlation_id, ''), e.headers::jsonb, e.payload,
           e.turn_key is not null, e.turn_key, e.join_id is not null, e.join_id is not null
      from unnest(v_ids, p_queues, p_types, p_payloads, p_priorities, p_run_ats, p_delays, p_turn_keys, p_unique_keys,
                  p_correlation_ids, p_headers, p_expires_ats, p_join_ids)
           as e (id, queue, type, payload, priority, run_at, delay, turn_key, unique_key, correlation_id, headers, expires_at, join_id)
     where e.unique_key is null;
    if p_unique_keys is not null then
        for v_each in
            select e.*
              from unnest(v_ids, p_queues, p_types, p_payloads, p_priorities, p_run_ats, p_delays, p_turn_keys, p_unique_keys,
                          p_replaces, p_correlation_ids, p_headers, p_expires_ats, p_join_ids) with ordinality
                   as e (id, queue, type, payload, priority, run_at, delay, turn_key, unique_key, replace, correlation_id, headers,
                         expires_at, join_id, place)
             where e.unique_key is not null
             order by e.queue collate "C", e.unique_key collate "C", e.place
        loop
            v_stand[v_each.place] := {schema}.{work_enqueue_unique}(
                v_each.id, v_each.queue, v_each.type, v_each.payload, coalesce(v_each.priority, 4), v_each.run_at, v_each.delay,
                v_each.turn_key, v_each.unique_key, coalesce(v_each.replace, false), v_each.correlation_id, v_each.headers::jsonb,
                v_each.expires_at, v_each.join_id is not null);
        end loop;
        v_originals := array(select nullif(e.stands, e.id) from unnest(v_ids, v_stand) with ordinality as e (id, stands, place)
                              order by e.place);
    end if;
    if p_join_ids is not null then
        perform {schema}.{work_enter_joins}(v_ids, p_join_ids, v_originals);
    end if;
    if p_notify then
        perform pg_notify({channel}, 'ready ' || q.queue) from (select distinct unnest(p_queues) as queue) q;
    end if;
    return v_stand;
end
$sql$;

-- Writes one item under a unique key. Of several at once, one writes it, and the others wait for its commit. Returns the id of the item
-- that stands.
create or replace function {schema}.{work_enqueue_unique}(
    p_id             uuid,
    p_queue          text,
    p_type           text,
    p_payload        text,
    p_priority       integer,
    p_run_at         timestamptz,
    p_delay          interval,
    p_turn_key       text,
    p_unique_key     text,
    p_replace        boolean,
    p_correlation_id text,
    p_headers        jsonb,
    p_expires_at     timestamptz,
    p_joined         boolean
) returns uuid
    language plpgsql
{plan:index}
as $sql$
declare
    v_now   timestamptz;
    v_found uuid;
begin
    loop
        if p_replace then
            select m.id into v_found
              from {schema}.{work} m
             where m.topic = p_queue and m.unique_key = p_unique_key and m.status < 2
               for update;
            if found and {schema}.{work_cancel}(array[v_found], false) = 0 then
                update {schema}.{work} m set unique_key = null where m.id = v_found; -- somebody has it in progress
            end if;
        else -- without a lock: who finds one keeps nobody waiting
            select m.id into v_found
              from {schema}.{work} m
             where m.topic = p_queue and m.unique_key = p_unique_key and m.status < 2;
            if found then
                return v_found;
            end if;
        end if;
        v_now := clock_timestamp();
        insert into {schema}.{work}
            (id, created_at, next_attempt_at, due_at, expires_at, priority, topic, type, correlation_id, headers, payload, keyed, turn_key,
             unique_key, awaited, joined)
        values (p_id, v_now, greatest(v_now, coalesce(p_run_at, v_now + p_delay)), coalesce(p_run_at, v_now + p_delay), p_expires_at,
                p_priority, p_queue, p_type, nullif(p_correlation_id, ''), p_headers, p_payload, p_turn_key is not null, p_turn_key,
                p_unique_key, p_joined, p_joined)
        on conflict (topic, unique_key) where unique_key is not null and status < 2 do nothing;
        if found then
            return p_id;
        end if; -- else somebody has just written it
    end loop;
end
$sql$;

-- Picks and locks items with keys, at most p_places of each queue and p_most of all. Up to half of both is left to items without keys that
-- are due. Keys take turns, from a random one on: each gives one, or the fiftieth part of many, and more as long as there is room, but no
-- more than its limit leaves; the row of the limit is locked by the caller. Returns the ids, the places that are left, and the size of the
-- payloads.
create or replace function {schema}.{work_pick_keyed}(
    p_topics text[],
    p_places integer[],
    p_most   bigint,
    p_bytes  bigint,
    p_paused text[],
    p_now    timestamptz,
    out ids    uuid[],
    out places integer[],
    out bytes  bigint
)
    language plpgsql
{plan:index}
as $sql$
declare
    v_start   bigint := floor(random() * 4294967296)::bigint - 2147483648;
    v_odd     integer := (random() < 0.5)::integer; -- of one place, each kind gets half as well
    v_others  integer[];
    v_share   bigint;
    v_per_key integer;
    v_busy    jsonb;
    v_quota   integer;
    v_room    bigint;
    v_low     bigint;
    v_found   uuid[];
    v_size    bigint;
    v_before  integer;
begin
    ids := '{}';
    places := p_places;
    bytes := 0;
    v_others := array(select case when want.topic = any (p_paused) then 0
                                  else least((want.places::bigint + v_odd) / 2, (
                                       select count(*)
                                         from generate_series(0, 9) as level (priority)
                                        cross join lateral (
                                              select
                                                from {schema}.{work} m
                                               where m.status = 0 and not m.keyed and m.topic = want.topic
                                                 and m.priority = level.priority and m.next_attempt_at <= p_now
                                               limit want.places / 2 + 1) m)) end
                        from unnest(p_topics, p_places) with ordinality as want (topic, places, number)
                       order by want.number);
    v_share := p_most - least((p_most + v_odd) / 2, (select sum(o) from unnest(v_others) as o));
    for i in 1 .. cardinality(p_topics) loop
        continue when p_topics[i] = any (p_paused);
        v_per_key := (select t.max_per_key from {schema}.windlass_topic t where t.queue = {work_name} and t.topic = p_topics[i]);
        v_busy := '{}';
        if v_per_key is not null then
            v_found := {schema}.{work_in_progress}(p_topics[i], p_now);
            select coalesce(jsonb_object_agg(b.turn_key, b.items), '{}') into v_busy
              from (select m.turn_key, count(*) as items
                      from {schema}.{work} m
                     where m.id = any (v_found) and m.keyed
                     group by m.turn_key) b;
        end if;
        v_quota := greatest(1, least(places[i] - v_others[i], v_share) / 50);
        loop
            v_before := cardinality(ids);
            foreach v_low in array array[v_start, -2147483648] loop -- from there to the end, and from the beginning to there
                v_room := least(places[i] - v_others[i], v_share - cardinality(ids));
                exit when v_room <= 0 or bytes >= p_bytes;
                with recursive turn (number, key) as (
                    (select hashtext(m.turn_key), m.turn_key
                       from {schema}.{work} m
                      where m.status = 0 and m.keyed and m.topic = p_topics[i] and hashtext(m.turn_key) >= v_low
                      order by hashtext(m.turn_key), m.turn_key
                      limit 1)
                    union all
                    select n.number, n.turn_key
                      from turn
                     cross join lateral (
                           select hashtext(m.turn_key) as number, m.turn_key
                             from {schema}.{work} m
                            where m.status = 0 and m.keyed and m.topic = p_topics[i]
                              and (hashtext(m.turn_key), m.turn_key) > (turn.number, turn.key)
                            order by hashtext(m.turn_key), m.turn_key
                            limit 1) n
                     where v_low = v_start or n.number < v_start)
                select coalesce(array_agg(s.id), '{}'), coalesce(sum(s.size), 0)
                  into v_found, v_size
                  from (select f.id, f.size, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
                          from (select t.number, t.key from turn t where v_low = v_start or t.number < v_start) turn
                         cross join lateral (
                               select m.id, octet_length(m.payload) as size
                                 from {schema}.{work} m
                                where m.status = 0
                                  and m.keyed
                                  and m.topic = p_topics[i]
                                  and hashtext(m.turn_key) = turn.number
                                  and m.turn_key = turn.key
                                  and m.next_attempt_at <= p_now
                                  and (m.expires_at is null or m.expires_at > p_now)
                                  and m.id <> all (ids)
                                order by m.priority desc, m.next_attempt_at, m.id
                                limit greatest(0, least(v_quota, v_per_key - coalesce((v_busy ->> turn.key)::integer, 0)))
                                  for update skip locked) f
                         limit v_room) s
                 where s.before is null or bytes + s.before < p_bytes;
                ids := ids || v_found;
                places[i] := places[i] - cardinality(v_found);
                bytes := bytes + v_size;
                if v_per_key is not null and cardinality(v_found) > 0 then
                    v_busy := v_busy || (
                        select jsonb_object_agg(b.turn_key, b.items + coalesce((v_busy ->> b.turn_key)::integer, 0))
                          from (select m.turn_key, count(*) as items
                                  from {schema}.{work} m
                                 where m.id = any (v_found)
                                 group by m.turn_key) b);
                end if;
            end loop;
            exit when cardinality(ids) = v_before;
            v_quota := least(v_quota * 2, 1000000);
        end loop;
    end loop;
end
$sql$;

-- Renews leases as heartbeat does, and writes down how far the work has come, where that is known. Tells besides which items are to be
-- cancelled: their handlers should stop.
create or replace function {schema}.{work_heartbeat_with_progress}(
    p_ids      uuid[],
    p_owners   uuid[],
    p_lease    interval,
    p_progress integer[] default null,
    p_texts    text[] default null,
    out changed   integer,
    out locked    uuid[],
    out lost      uuid[],
    out cancelled uuid[]
)
    language plpgsql
{plan:index}
as $sql$
begin
    perform {schema}.windlass_check_lengths(cardinality(p_ids), cardinality(p_progress), cardinality(p_texts));
    select h.changed, h.locked, h.lost into changed, locked, lost from {schema}.{work_heartbeat}(p_ids, p_owners, p_lease) h;
    if p_progress is not null or p_texts is not null then
        update {schema}.{work} m
           set progress = coalesce(c.progress, m.progress), progress_text = coalesce(left(c.text, 2048), m.progress_text)
          from unnest(p_ids, p_progress, p_texts) as c (id, progress, text)
         where m.id = c.id and m.id <> all (locked) and m.id <> all (lost) and (c.progress is not null or c.text is not null);
    end if;
    cancelled := array(select m.id from {schema}.{work} m where m.id = any (p_ids) and m.cancel_asked_at is not null);
end
$sql$;

-- Ends items as completed, as ack does, and keeps what they came to, where that is known.
create or replace function {schema}.{work_complete}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_results      text[],
    p_progress     integer[] default null,
    p_texts        text[] default null,
    p_processed_by text default null,
    p_keep         boolean default true
) returns {schema}.windlass_answer
    language plpgsql
{plan:index}
as $sql$
declare
    v_answer {schema}.windlass_answer;
begin
    perform {schema}.windlass_check_lengths(cardinality(p_ids), cardinality(p_results), cardinality(p_progress), cardinality(p_texts));
    v_answer := {schema}.{work_ack}(p_ids, p_owners, p_processed_by, p_keep);
    if p_keep then
        update {schema}.{work} m
           set result = coalesce(c.result, m.result), progress = coalesce(c.progress, m.progress),
               progress_text = coalesce(left(c.text, 2048), m.progress_text)
          from unnest(p_ids, p_results, p_progress, p_texts) as c (id, result, progress, text)
         where m.id = c.id and m.id <> all (v_answer.locked) and m.id <> all (v_answer.lost)
           and num_nonnulls(c.result, c.progress, c.text) > 0;
    end if;
    return v_answer;
end
$sql$;

-- Cancels items: those that are queued at once; the handlers of those in progress are asked to stop, and what they give back ends as
-- cancelled. Returns how many there are of both; others have ended.
create or replace function {schema}.{work_stop}(p_ids uuid[]) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_ids   uuid[];
    v_asked integer;
begin
    perform {schema}.windlass_check_ids(p_ids);
    v_ids := {schema}.{work_lock}(p_ids, array[0, 1]);
    update {schema}.{work} m
       set cancel_asked_at = coalesce(m.cancel_asked_at, clock_timestamp())
     where m.id = any (v_ids) and m.status + 0 = 1;
    get diagnostics v_asked = row_count;
    if v_asked > 0 then
        perform pg_notify({channel}, 'cancel');
    end if;
    return v_asked + {schema}.{work_cancel}(v_ids);
end
$sql$;

-- Ends those of items that have come back to ready, in the transaction of the caller, that were to be cancelled.
create or replace function {schema}.{work_end_asked}(p_ids uuid[]) returns void
    language plpgsql
{plan:index}
as $sql$
declare
    v_asked uuid[] := array(select m.id from {schema}.{work} m where m.id = any (p_ids) and m.cancel_asked_at is not null);
begin
    if cardinality(v_asked) > 0 then
        perform {schema}.{work_end_unclaimed}(v_asked, 5::smallint, null);
    end if;
end
$sql$;
