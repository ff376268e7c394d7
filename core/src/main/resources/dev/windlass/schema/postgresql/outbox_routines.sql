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
-- * Whatever ends a message that holds an ordering key passes the key on in the same transaction.
-- * The planner may believe that the table is empty, because it was when somebody counted; it then joins by reading all of
--   it, a whole backlog perhaps. So rows are found by "id = any (ids)", which is one index scan in the order of the ids
--   whatever the statistics say; a list that brings more than ids is sorted, and hash-joined to what was found.
--   Planning again for each call, as PostgreSQL would, doubles the time of a small ack.

-- Writes one message. Returns its id; under a deduplication key that is taken, the id of the message that took it.
--
-- Messages of one ordering key are handled one after another, in the order of their sequence, over all topics. The key's row
-- is held until the commit: whoever writes to the same key waits until then, so that a message committed later never has the
-- smaller number.
create or replace function {schema}.{outbox_enqueue}(
    p_topic          text,
    p_payload        text,
    p_correlation_id text default null,
    p_headers        jsonb default null,
    p_due_at         timestamptz default null,
    p_delay          interval default null,
    p_expires_at     timestamptz default null,
    p_id             uuid default null,
    p_notify         boolean default true,
    p_ordering_key   text default null,
    p_dedup_key      text default null,
    p_dedup_window   interval default null
) returns uuid
    language plpgsql
as $sql$
declare
    v_now      timestamptz;
    v_id       uuid := coalesce(p_id, {schema}.{outbox_new_id}());
    v_first    uuid;
    v_sequence bigint;
    v_head     boolean;
begin
    perform pg_current_xact_id();
    if p_dedup_key is not null then
        v_first := {schema}.{outbox_first}(p_topic, p_dedup_key, v_id, p_dedup_window);
        if v_first is not null then
            return v_first;
        end if;
    elsif p_dedup_window is not null then
        perform {schema}.{outbox_check_dedup}(p_dedup_key, p_dedup_window);
    end if;
    if p_ordering_key is not null then
        if btrim(p_ordering_key) = '' or v_id = '00000000-0000-0000-0000-000000000000' then
            perform {schema}.{outbox_check_key}(p_ordering_key, v_id);
        end if;
        insert into {schema}.{outbox_key} as k (ordering_key, last_sequence, taken_by)
        values (p_ordering_key, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint, v_id)
        on conflict (ordering_key) do update
           set last_sequence = k.last_sequence + 1, taken_by = '00000000-0000-0000-0000-000000000000'
        returning k.last_sequence, k.taken_by = v_id into v_sequence, v_head;
    end if;
    v_now := clock_timestamp();
    insert into {schema}.{outbox}
        (id, created_at, next_attempt_at, due_at, expires_at, status, topic, correlation_id, headers, payload,
         ordering_key, ordering_sequence, holds_key)
    values (v_id, v_now, greatest(v_now, coalesce(p_due_at, v_now + p_delay)), coalesce(p_due_at, v_now + p_delay),
            p_expires_at, case when v_head is false then 4 else 0 end, p_topic, nullif(p_correlation_id, ''), p_headers, p_payload,
            p_ordering_key, v_sequence, v_head is true);
    if p_notify then
        perform pg_notify({channel}, p_topic);
    end if;
    return v_id;
end
$sql$;

-- Writes many messages in one round trip, in the order of the arrays. An array of optional values may be null as a whole.
-- Returns the ids, in the same order; under deduplication keys that are taken, the ids of the messages that took them.
create or replace function {schema}.{outbox_enqueue_all}(
    p_ids             uuid[],
    p_topics          text[],
    p_payloads        text[],
    p_correlation_ids text[] default null,
    p_headers         text[] default null,
    p_due_ats         timestamptz[] default null,
    p_delays          interval[] default null,
    p_expires_ats     timestamptz[] default null,
    p_notify          boolean default true,
    p_ordering_keys   text[] default null,
    p_dedup_keys      text[] default null,
    p_dedup_windows   interval[] default null
) returns uuid[]
    language plpgsql
as $sql$
declare
    v_now       timestamptz;
    v_ids       uuid[] := coalesce(p_ids, array(select {schema}.{outbox_new_id}() from unnest(p_topics)));
    v_firsts    uuid[];
    v_heads     boolean[];
    v_sequences bigint[];
begin
    perform pg_current_xact_id();
    if p_dedup_keys is not null then
        v_firsts := {schema}.{outbox_firsts}(p_topics, p_dedup_keys, v_ids, p_dedup_windows);
    elsif p_dedup_windows is not null then
        perform {schema}.{outbox_check_dedup}(null, w) from unnest(p_dedup_windows) w where w is not null;
    end if;
    if p_ordering_keys is not null then
        perform {schema}.{outbox_check_key}(e.ordering_key, e.id)
           from unnest(v_ids, p_ordering_keys) as e (id, ordering_key)
          where btrim(e.ordering_key) = '' or e.id = '00000000-0000-0000-0000-000000000000';
        select h.heads, h.sequences into v_heads, v_sequences
          from {schema}.{outbox_hold_keys}(v_ids, p_ordering_keys, v_firsts) h;
    end if;
    v_now := clock_timestamp();
    insert into {schema}.{outbox}
        (id, created_at, next_attempt_at, due_at, expires_at, status, topic, correlation_id, headers, payload,
         ordering_key, ordering_sequence, holds_key)
    select e.id, v_now, greatest(v_now, coalesce(e.due_at, v_now + e.delay)), coalesce(e.due_at, v_now + e.delay),
           e.expires_at, case when e.head is false then 4 else 0 end, e.topic, nullif(e.correlation_id, ''),
           e.headers::jsonb, e.payload, e.ordering_key, e.sequence, e.head is true
      from unnest(v_ids, p_topics, p_payloads, p_correlation_ids, p_headers, p_due_ats, p_delays, p_expires_ats,
                  p_ordering_keys, v_sequences, v_heads, v_firsts)
           as e (id, topic, payload, correlation_id, headers, due_at, delay, expires_at, ordering_key, sequence, head, first)
     where e.first is null;
    if p_notify then
        perform pg_notify({channel}, t.topic) from (select distinct unnest(p_topics) as topic) t;
    end if;
    if v_firsts is null then
        return v_ids;
    end if;
    return array(select coalesce(e.first, e.id) from unnest(v_ids, v_firsts) with ordinality as e (id, first, place)
                  order by e.place);
end
$sql$;

-- Takes the rows of these ordering keys until the end of the transaction, in the order of the keys. Returns, in the order of the
-- arrays, whether a message found its key free, and its number in the sequence; nulls for those without a key, and for those
-- that are not first under their deduplication key.
create or replace function {schema}.{outbox_hold_keys}(
    p_ids    uuid[],
    p_keys   text[],
    p_firsts uuid[],
    out heads     boolean[],
    out sequences bigint[]
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_base    bigint := floor(extract(epoch from clock_timestamp()) * 1000000)::bigint;
    v_keys    text[];
    v_lasts   bigint[];
    v_takers  uuid[];
begin
    with held as (
        insert into {schema}.{outbox_key} as k (ordering_key, last_sequence, taken_by)
        select e.ordering_key, v_base + count(*), (array_agg(e.id order by e.place))[1]
          from unnest(p_ids, p_keys, p_firsts) with ordinality as e (id, ordering_key, first, place)
         where e.ordering_key is not null and e.first is null
         group by e.ordering_key
         order by e.ordering_key collate "C" -- as requeue does, so that the two cannot deadlock
        on conflict (ordering_key) do update
           set last_sequence = k.last_sequence + (excluded.last_sequence - v_base),
               taken_by = '00000000-0000-0000-0000-000000000000'
        returning k.ordering_key, k.last_sequence, k.taken_by)
    select array_agg(held.ordering_key), array_agg(held.last_sequence), array_agg(held.taken_by)
      into v_keys, v_lasts, v_takers from held;
    select array_agg(numbered.id = k.taken_by order by numbered.place),
           array_agg(k.last_sequence - numbered.behind order by numbered.place)
      into heads, sequences
      from (select e.id, e.place, case when e.first is null then e.ordering_key end as ordering_key,
                   row_number() over (partition by e.ordering_key, e.first is null order by e.place desc) - 1 as behind
              from unnest(p_ids, p_keys, p_firsts) with ordinality as e (id, ordering_key, first, place)) numbered
      left join unnest(v_keys, v_lasts, v_takers) as k (ordering_key, last_sequence, taken_by)
        on k.ordering_key = numbered.ordering_key;
end
$sql$;

-- A new id, time-ordered (version 7): 48 bits of time, the rest random.
create or replace function {schema}.{outbox_new_id}() returns uuid
    language plpgsql
as $sql$
begin
    return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
               placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
               52, 1), 53, 1), 'hex')::uuid;
end
$sql$;

-- Refuses a deduplication key or a window that cannot be, in words that help. Called only where something is wrong.
create or replace function {schema}.{outbox_check_dedup}(p_key text, p_window interval) returns void
    language plpgsql
as $sql$
begin
    if p_key is null or btrim(p_key) = '' then
        raise exception 'expected a deduplication key, got %', case when p_key is null then 'a window without one' else 'blank text' end
            using errcode = 'invalid_parameter_value', hint = 'Null, for the key and the window, means no deduplication.';
    end if;
    if p_window is null then
        raise exception 'expected a window with the deduplication key "%", got null', p_key
            using errcode = 'null_value_not_allowed', hint = 'Give p_dedup_window, for example interval ''1 day''.';
    elsif p_window <= '0' then
        raise exception 'expected a positive window with the deduplication key "%", got %', p_key, p_window
            using errcode = 'invalid_parameter_value',
                  hint = 'Say for how long the key is to be remembered, for example interval ''1 day''.';
    end if;
end
$sql$;

-- Refuses a blank ordering key, and the nil id, which stands for nobody in the table of keys.
create or replace function {schema}.{outbox_check_key}(p_key text, p_id uuid) returns void
    language plpgsql
as $sql$
begin
    if p_id = '00000000-0000-0000-0000-000000000000' then
        raise exception 'expected the id of a message, got the nil UUID'
            using errcode = 'invalid_parameter_value', hint = 'Leave p_id out to get a new one.';
    end if;
    if btrim(p_key) = '' then
        raise exception 'expected an ordering key, got blank text'
            using errcode = 'invalid_parameter_value', hint = 'Null means that order does not matter.';
    end if;
end
$sql$;

-- Takes a deduplication key for p_window. Returns null, or the id of the message that has it. Of several at once, one takes
-- it and the others wait for its commit.
create or replace function {schema}.{outbox_first}(
    p_topic  text,
    p_key    text,
    p_id     uuid,
    p_window interval
) returns uuid
    language plpgsql
as $sql$
declare
    v_now   timestamptz;
    v_first uuid;
begin
    if btrim(p_key) = '' or (p_window > '0') is not true then
        perform {schema}.{outbox_check_dedup}(p_key, p_window);
    end if;
    loop
        v_now := clock_timestamp();
        select d.message_id into v_first -- without a lock: who comes second need not wait for who comes third
          from {schema}.{outbox_dedup} d
         where d.topic = p_topic and d.dedup_key = p_key and d.expires_at > v_now;
        if found then
            return v_first;
        end if;
        insert into {schema}.{outbox_dedup} as d (topic, dedup_key, message_id, expires_at)
        values (p_topic, p_key, p_id, v_now + p_window)
        on conflict (topic, dedup_key) do update
           set message_id = excluded.message_id, expires_at = excluded.expires_at
         where d.expires_at <= v_now;
        if found then
            return null;
        end if; -- else somebody has just taken it
    end loop;
end
$sql$;

-- The same for many, in the order of the arrays; those without a key get null. Of several with one key, the first takes it.
-- There is a window for each, or one for all. Returns null when all are first.
--
-- Keys are new more often than not, and an INSERT that need not look out for conflicts costs two thirds of one that does: so
-- that is tried first.
create or replace function {schema}.{outbox_firsts}(
    p_topics  text[],
    p_keys    text[],
    p_ids     uuid[],
    p_windows interval[]
) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_windows interval[] := case when cardinality(p_windows) > 1 then p_windows end;
    v_window  interval := case when cardinality(p_windows) = 1 then p_windows[1] end;
    v_now     timestamptz;
    v_taken   uuid[] := '{}';
    v_firsts  uuid[];
    v_known   boolean;
begin
    perform {schema}.{outbox_check_dedup}(e.dedup_key, coalesce(e.dedup_window, v_window))
       from unnest(p_keys, v_windows) as e (dedup_key, dedup_window)
      where e.dedup_key is null and e.dedup_window is not null
         or btrim(e.dedup_key) = ''
         or e.dedup_key is not null and (coalesce(e.dedup_window, v_window) > '0') is not true;
    begin
        v_now := clock_timestamp();
        insert into {schema}.{outbox_dedup} (topic, dedup_key, message_id, expires_at)
        select e.topic, e.dedup_key, e.id, v_now + coalesce(e.dedup_window, v_window)
          from unnest(p_topics, p_keys, p_ids, v_windows) as e (topic, dedup_key, id, dedup_window)
         where e.dedup_key is not null
         order by e.topic collate "C", e.dedup_key collate "C";
        return null;
    exception when unique_violation then
        null;
    end;
    loop
        v_now := clock_timestamp();
        with taken as (
            insert into {schema}.{outbox_dedup} as d (topic, dedup_key, message_id, expires_at)
            select distinct on (e.topic collate "C", e.dedup_key collate "C")
                   e.topic, e.dedup_key, e.id, v_now + coalesce(e.dedup_window, v_window)
              from unnest(p_topics, p_keys, p_ids, v_windows) with ordinality
                   as e (topic, dedup_key, id, dedup_window, place)
              left join {schema}.{outbox_dedup} live
                     on live.topic = e.topic and live.dedup_key = e.dedup_key and live.expires_at > v_now
             where e.dedup_key is not null and live.topic is null
             order by e.topic collate "C", e.dedup_key collate "C", e.place
            on conflict (topic, dedup_key) do update
               set message_id = excluded.message_id, expires_at = excluded.expires_at
             where d.expires_at <= v_now
            returning d.message_id)
        select v_taken || coalesce(array_agg(taken.message_id), '{}') into v_taken from taken;
        select array_agg(case when d.message_id = e.id and d.message_id = any (v_taken) then null else d.message_id end
                         order by e.place),
               bool_and(d.message_id is not null or e.dedup_key is null)
          into v_firsts, v_known
          from unnest(p_topics, p_keys, p_ids) with ordinality as e (topic, dedup_key, id, place)
          left join {schema}.{outbox_dedup} d on d.topic = e.topic and d.dedup_key = e.dedup_key;
        if v_known then
            return v_firsts;
        end if; -- else one was cleaned away this moment
    end loop;
end
$sql$;

-- Takes up to p_limit ready and due messages, at most p_places[i] of topic p_topics[i], for p_lease. Without topics, of
-- whatever topic there is, in random order, so that a full one cannot keep the others waiting. Expired messages are left to
-- expire(); paused topics are left alone.
--
-- Under an open snapshot the dead entries of claimed messages stay in the index, and every claim would step over all of
-- them. So a claimer gives, for each topic, the position (next_attempt_at, id) up to which it knows that nothing is left.
-- How it knows: let F be the number of a claim that reached position P. Whoever stamped a message at or before P did so
-- before that claim read its clock, and had its own transaction number by then, so that number is below F. Once a later
-- claim from the old bound reaches past P in a snapshot with xmin > F, all of those transactions had ended in that
-- snapshot, and the claim has seen what they committed. claim_xid is F, snapshot_xmin is xmin. A claim that first settles
-- keys has its number before it reads the clock again: the positions it reports go no further than the first reading.
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
    snapshot_xmin   bigint,
    ordering_key    varchar,
    requeues        smallint
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_proved timestamptz := v_now;
    v_topics text[];
    v_paused text[] := array(select p.topic from {schema}.{outbox_pause} p);
begin
    if exists (select from {schema}.{outbox_key_freed}) then
        perform {schema}.{outbox_settle_keys}();
        v_now := clock_timestamp();
    end if;
    v_topics := coalesce(p_topics, array(select t from {schema}.{outbox_ready_topics}() t order by random()));
    return query
    update {schema}.{outbox} m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now
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
                where want.topic <> all (v_paused)
                limit p_limit))
    returning m.id, m.topic, m.payload, m.correlation_id, m.headers, m.created_at, m.due_at, m.expires_at,
              least(m.next_attempt_at, v_proved), m.retry_count, m.lease_expiries, m.last_error,
              (select pg_current_xact_id_if_assigned()::text::bigint),
              (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint), m.ordering_key, m.requeues;
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
-- now, null when there is none. The bounds are those of claim. While a key is noted as freed, somebody has to look again soon:
-- nobody is told when the one who was writing to it rolls back.
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
    v_due bigint;
begin
    v_due := (
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
                limit 1) f
         where not exists (select from {schema}.{outbox_pause} p where p.topic = want.topic));
    if exists (select from {schema}.{outbox_key_freed}) then
        return least(v_due, 250);
    end if;
    return v_due;
end
$sql$;

-- Ends messages as done, or deletes them when nothing is to be kept. Under an ordering key the next one becomes ready, and the
-- nodes are told of it if p_notify says so. Returns how many.
create or replace function {schema}.{outbox_ack}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text default null,
    p_keep         boolean default true,
    p_notify       boolean default true
) returns integer
    language plpgsql
as $sql$
declare
    v_count integer;
    v_keys  text[];
begin
    select e.ended, e.keys into v_count, v_keys
      from {schema}.{outbox_end_done}(p_ids, p_owners, p_processed_by, p_keep) e;
    if v_keys is not null then
        perform {schema}.{outbox_pass_on}(v_keys, p_notify);
    end if;
    return v_count;
end
$sql$;

-- The same, and whoever has room takes the next message of each key with it, for p_lease, if it is due and of one of
-- p_topics: it goes from waiting to in progress without having been ready, which saves a version of its row and a claim. Only
-- for who has found nothing else ready: the next of a key would otherwise overtake what has been ready for longer.
--
-- Returns the messages as claim() does, each with the number of those that ended and of keys whose next was not taken; when
-- none is taken, one row with these numbers alone.
create or replace function {schema}.{outbox_ack_next}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text,
    p_keep         boolean,
    p_notify       boolean,
    p_owner        uuid,
    p_lease        interval,
    p_topics       text[]
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
    snapshot_xmin   bigint,
    ordering_key    varchar,
    requeues        smallint,
    acked           integer,
    left_keys       integer
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now    timestamptz;
    v_topics text[];
    v_keys   text[];
    v_ids    uuid[];
    v_taken  text[];
    v_left   text[];
begin
    select e.ended, e.keys into acked, v_keys
      from {schema}.{outbox_end_done}(p_ids, p_owners, p_processed_by, p_keep) e;
    if v_keys is null then
        left_keys := 0;
        return next;
        return;
    end if;
    v_topics := array(select unnest(p_topics) except select p.topic from {schema}.{outbox_pause} p);
    v_ids := {schema}.{outbox_first_waiting}(v_keys);
    v_now := clock_timestamp();
    select array_agg(f.id), coalesce(array_agg(f.ordering_key), '{}') into v_ids, v_taken
      from (select l.id, l.ordering_key
              from {schema}.{outbox} l
             where l.id = any (v_ids)
               and l.ended_at is null and not l.holds_key -- naming status = 4 would invite the index of all that wait
               and l.topic = any (v_topics)
               and l.next_attempt_at <= v_now
               and (l.expires_at is null or l.expires_at > v_now)
               and l.retry_count + l.lease_expiries + l.requeues = 0 -- others have to be looked at before they are handled
               for update skip locked) f;
    v_left := case when cardinality(v_taken) = cardinality(v_keys) then '{}'
                   else array(select unnest(v_keys) except select unnest(v_taken)) end;
    left_keys := cardinality(v_left);
    if left_keys > 0 then
        perform {schema}.{outbox_pass_on}(v_left, p_notify);
    end if;
    return query
    update {schema}.{outbox} m
       set status = 1, holds_key = true, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now,
           next_attempt_at = v_now
     where m.id = any (v_ids)
    returning m.id, m.topic, m.payload, m.correlation_id, m.headers, m.created_at, m.due_at, m.expires_at,
              m.next_attempt_at, m.retry_count, m.lease_expiries, m.last_error, 0::bigint, 0::bigint, m.ordering_key,
              m.requeues, acked, left_keys;
    if not found then
        return next;
    end if;
end
$sql$;

-- Ends messages as done, or deletes them. Returns how many, and the ordering keys they held.
create or replace function {schema}.{outbox_end_done}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text,
    p_keep         boolean,
    out ended      integer,
    out keys       text[]
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_joined uuid[];
    v_runs   {schema}.{outbox}[];
    v_tried  uuid[];
begin
    if p_keep then
        with done as (
            update {schema}.{outbox} m
               set status = 2, owner_token = null, locked_until = null, holds_key = false,
                   ended_at = clock_timestamp(), processed_by = p_processed_by
              from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
             where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token
            returning m.id, m.joined, m.ordering_key, m.run, case when m.run then m end as message)
        select count(*), array_agg(done.ordering_key) filter (where done.ordering_key is not null),
               array_agg(done.id) filter (where done.joined), array_agg(done.message) filter (where done.run)
          into ended, keys, v_joined, v_runs from done;
    else
        with done as (
            delete from {schema}.{outbox} m
             using (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
             where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token
            returning m.id, m.joined, m.ordering_key, m.run, case when m.run then m end as message,
                      m.retry_count + m.lease_expiries + m.requeues > 0 as tried)
        select count(*), array_agg(done.ordering_key) filter (where done.ordering_key is not null),
               array_agg(done.id) filter (where done.joined), array_agg(done.message) filter (where done.run),
               array_agg(done.id) filter (where done.tried)
          into ended, keys, v_joined, v_runs, v_tried from done;
        if v_tried is not null then
            delete from {schema}.{outbox_failure} h where h.message_id = any (v_tried);
        end if;
    end if;
    if v_joined is not null then
        perform {schema}.{outbox_join_count}(v_joined, 1::smallint);
    end if;
    if v_runs is not null then
        perform {schema}.{outbox_job_runs_ended}(v_runs);
    end if;
end
$sql$;

-- Returns messages to ready after a failed attempt, which is counted and kept in the history unless p_counted says otherwise. A
-- null delay means min(2^retry_count s, 60 s). Returns how many.
create or replace function {schema}.{outbox_abandon}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_delays       interval[] default null,
    p_errors       text[] default null,
    p_processed_by text default null,
    p_counted      boolean[] default null
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
    with failed as (
        update {schema}.{outbox} m
           set status = 0, owner_token = null, locked_until = null,
               retry_count = m.retry_count + case when c.counted is false then 0 else 1 end,
               next_attempt_at = clock_timestamp()
                   + coalesce(c.delay, make_interval(secs => least(2 ^ least(m.retry_count, 6), 60))),
               last_error = coalesce(left(c.error, 2048), m.last_error)
          from (select *
                  from unnest(p_ids, p_owners, p_delays, p_errors, p_counted)
                       as u (id, owner_token, delay, error, counted)
                 order by u.id) c
         where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token
        returning m.id, m.retry_count as attempt, c.error, c.counted is not false as counted),
    recorded as (
        insert into {schema}.{outbox_failure} (message_id, failed_at, attempt, node, error)
        select failed.id, clock_timestamp(), failed.attempt, left(p_processed_by, 100), left(failed.error, 2048)
          from failed
         where failed.counted)
    select count(*) into v_count from failed;
    return v_count;
end
$sql$;

-- Returns messages to ready without counting an attempt: the owner is shutting down or cannot handle them; another node is
-- told. Returns how many.
create or replace function {schema}.{outbox_release}(
    p_ids    uuid[],
    p_owners uuid[],
    p_delay  interval default '0 s'
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

-- Ends messages as failed; they are not claimed again. One that holds an ordering key goes on to hold it, and the others of
-- that key wait until it is requeued, purged or passed over, unless p_block says otherwise. Returns how many.
create or replace function {schema}.{outbox_fail}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_errors       text[] default null,
    p_processed_by text default null,
    p_block        boolean[] default null,
    p_notify       boolean default true
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
    v_runs   {schema}.{outbox}[];
    v_keys   text[];
begin
    with ended as (
        update {schema}.{outbox} m
           set status = 3, owner_token = null, locked_until = null, ended_at = clock_timestamp(),
               holds_key = m.holds_key and c.block is not false,
               processed_by = p_processed_by, last_error = coalesce(left(c.error, 2048), m.last_error)
          from (select *
                  from unnest(p_ids, p_owners, p_errors, p_block) as u (id, owner_token, error, block)
                 order by u.id) c
         where m.id = any (p_ids) and m.id = c.id and m.owner_token = c.owner_token
        returning m.id, m.joined, m.ended_at, m.retry_count, c.error, m.run, case when m.run then m end as message,
                  case when not m.holds_key then m.ordering_key end as key),
    recorded as (
        insert into {schema}.{outbox_failure} (message_id, failed_at, attempt, node, error)
        select ended.id, ended.ended_at, ended.retry_count + 1, left(p_processed_by, 100), left(ended.error, 2048) from ended)
    select count(*), array_agg(ended.id) filter (where ended.joined), array_agg(ended.message) filter (where ended.run),
           array_agg(ended.key) filter (where ended.key is not null)
      into v_count, v_joined, v_runs, v_keys from ended;
    if v_joined is not null then
        perform {schema}.{outbox_join_count}(v_joined, 2::smallint);
    end if;
    if v_runs is not null then
        perform {schema}.{outbox_job_runs_ended}(v_runs);
    end if;
    if v_keys is not null then
        perform {schema}.{outbox_pass_on}(v_keys, p_notify);
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
create or replace function {schema}.{outbox_reap}(p_quiet interval, p_limit integer default 1000) returns integer
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
    with reaped as (
        update {schema}.{outbox} m
           set status = 0, owner_token = null, locked_until = null, lease_expiries = m.lease_expiries + 1,
               next_attempt_at = clock_timestamp()
         where m.id = any (array(
                   select r.id
                     from {schema}.{outbox} r
                    where r.status = 1 and r.locked_until <= v_now
                    order by r.locked_until
                    limit p_limit
                      for update skip locked))
        returning m.id, m.next_attempt_at, m.retry_count)
    insert into {schema}.{outbox_failure} (message_id, failed_at, attempt, error)
    select reaped.id, reaped.next_attempt_at, reaped.retry_count + 1, 'its lease ran out' from reaped;
    get diagnostics v_count = row_count;
    if v_count > 0 then
        perform pg_notify({channel}, '');
    end if;
    return v_count;
end
$sql$;

-- Ends messages whose expiry has passed as failed, ready ones and such that wait for their turn. Returns how many.
create or replace function {schema}.{outbox_expire}(p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[];
begin
    v_ids := array(select r.id
                     from {schema}.{outbox} r
                    where r.status = 0 and r.expires_at is not null and r.expires_at <= v_now
                    order by r.expires_at
                    limit p_limit
                      for update skip locked);
    v_ids := v_ids || array(select r.id
                              from {schema}.{outbox} r
                             where r.status = 4 and r.expires_at is not null and r.expires_at <= v_now
                             order by r.expires_at
                             limit p_limit - cardinality(v_ids)
                               for update skip locked);
    return {schema}.{outbox_end_unclaimed}(v_ids, 3::smallint, 'expired before it was handled');
end
$sql$;

-- Ends messages that nobody has claimed; the caller has locked them. Those that held a key pass it on. Returns how many.
create or replace function {schema}.{outbox_end_unclaimed}(p_ids uuid[], p_status smallint, p_reason text) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $sql$
declare
    v_keys   text[] := array(select m.ordering_key from {schema}.{outbox} m where m.id = any (p_ids) and m.holds_key);
    v_count  integer;
    v_joined uuid[];
    v_runs   {schema}.{outbox}[];
begin
    with ended as (
        update {schema}.{outbox} m
           set status = p_status, holds_key = false, ended_at = clock_timestamp(),
               last_error = coalesce(p_reason, m.last_error)
         where m.id = any (p_ids)
        returning m.id, m.joined, m.run, case when m.run then m end as message)
    select count(*), array_agg(ended.id) filter (where ended.joined), array_agg(ended.message) filter (where ended.run)
      into v_count, v_joined, v_runs from ended;
    if v_joined is not null then
        perform {schema}.{outbox_join_count}(v_joined, 2::smallint);
    end if;
    if v_runs is not null then
        perform {schema}.{outbox_job_runs_ended}(v_runs);
    end if;
    if cardinality(v_keys) > 0 then
        perform {schema}.{outbox_pass_on}(v_keys, true);
    end if;
    return v_count;
end
$sql$;

-- Deletes what has been done or cancelled for longer than p_keep. Returns how many.
create or replace function {schema}.{outbox_clean}(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_ids    uuid[];
    v_count  integer;
    v_tried  uuid[];
begin
    v_ids := array(select r.id
                     from {schema}.{outbox} r
                    where r.status = 2 and r.ended_at < v_before
                    order by r.ended_at
                    limit p_limit
                      for update skip locked);
    v_ids := v_ids || array(select r.id
                              from {schema}.{outbox} r
                             where r.status = 5 and r.ended_at < v_before
                             order by r.ended_at
                             limit p_limit - cardinality(v_ids)
                               for update skip locked);
    with cleaned as (
        delete from {schema}.{outbox} m
         where m.id = any (v_ids)
        returning m.id, m.retry_count + m.lease_expiries + m.requeues > 0 as tried)
    select count(*), array_agg(cleaned.id) filter (where cleaned.tried) into v_count, v_tried from cleaned;
    if v_tried is not null then
        delete from {schema}.{outbox_failure} h where h.message_id = any (v_tried);
    end if;
    return v_count;
end
$sql$;

-- Deletes deduplication keys whose window is over. Returns how many.
create or replace function {schema}.{outbox_forget}(p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer;
begin
    delete from {schema}.{outbox_dedup} d
     where (d.topic, d.dedup_key) in (
               select o.topic, o.dedup_key
                 from {schema}.{outbox_dedup} o
                where o.expires_at <= v_now
                order by o.expires_at
                limit p_limit
                  for update skip locked);
    get diagnostics v_count = row_count;
    return v_count;
end
$sql$;

-- Whoever held these keys has ended: the next in line takes its place, and a key that nobody waits for is forgotten. Who
-- writes to a key just now cannot be waited for, and what he writes cannot be seen yet: such keys are noted, and the
-- claims that follow look after them.
create or replace function {schema}.{outbox_pass_on}(p_keys text[], p_notify boolean) returns void
    language plpgsql
as $sql$
declare
    v_left text[] := {schema}.{outbox_hand_over}(p_keys, p_notify);
begin
    if cardinality(v_left) > 0 then
        insert into {schema}.{outbox_key_freed} (ordering_key) select unnest(v_left) on conflict do nothing;
        perform pg_notify({channel}, '');
    end if;
end
$sql$;

-- Passes on or forgets keys that nobody holds, without waiting for anybody. Returns those that somebody is writing to, or
-- whose next message somebody has locked.
--
-- Who writes to a key holds its row. So what is seen to wait can be promoted without the row, which under a key that is
-- always being written to is never free; but that nothing waits is known only to who has locked it.
create or replace function {schema}.{outbox_hand_over}(p_keys text[], p_notify boolean) returns text[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = on
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_left      text[] := {schema}.{outbox_promote}(p_keys, p_notify);
    v_mine      text[];
    v_locked    text[];
    v_forgotten text[];
begin
    if cardinality(v_left) = 0 then
        return v_left;
    end if;
    v_mine := array(select k.ordering_key
                      from {schema}.{outbox_key} k
                     where k.ordering_key = any (v_left)
                     order by k.ordering_key
                       for update skip locked);
    v_locked := {schema}.{outbox_promote}(v_mine, p_notify);
    with forgotten as (
        delete from {schema}.{outbox_key} k
         where k.ordering_key = any (v_locked)
           and (select w.id
                  from {schema}.{outbox} w
                 where w.status = 4 and w.ordering_key = k.ordering_key
                 order by w.ordering_sequence
                 limit 1) is null -- "not exists" becomes a join that reads all that wait, under whatever key
        returning k.ordering_key)
    select coalesce(array_agg(forgotten.ordering_key), '{}') into v_forgotten from forgotten;
    return array(select l.ordering_key
                   from unnest(v_left) as l (ordering_key)
                  where l.ordering_key <> all (v_forgotten)
                    and (l.ordering_key <> all (v_mine) or l.ordering_key = any (v_locked)));
end
$sql$;

-- Makes the first that waits for each of these keys ready; nobody holds them. Tells the nodes if p_notify says so.
-- Returns the keys where it could not: nobody is seen to wait, or somebody has locked the first, to cancel it perhaps.
-- Whoever ends messages must not wait for him.
create or replace function {schema}.{outbox_promote}(p_keys text[], p_notify boolean) returns text[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_keys   text[];
    v_topics text[];
    v_ids    uuid[];
begin
    perform pg_current_xact_id();
    v_ids := {schema}.{outbox_first_waiting}(p_keys);
    with next as (
        update {schema}.{outbox} m
           set status = 0, holds_key = true, next_attempt_at = greatest(clock_timestamp(), m.next_attempt_at)
         where m.id = any (array(
                   select l.id
                     from {schema}.{outbox} l
                    where l.id = any (v_ids)
                      and l.ended_at is null and not l.holds_key -- naming status = 4 would invite the index of all that wait
                      for update skip locked))
        returning m.ordering_key, m.topic)
    select coalesce(array_agg(next.ordering_key), '{}'), array_agg(distinct next.topic) into v_keys, v_topics from next;
    if p_notify then
        perform pg_notify({channel}, t.topic) from unnest(v_topics) as t (topic);
    end if;
    if cardinality(v_keys) = cardinality(p_keys) then
        return '{}';
    end if;
    return array(select unnest(p_keys) except select unnest(v_keys));
end
$sql$;

-- The first that waits for each of these keys, where one is seen to.
create or replace function {schema}.{outbox_first_waiting}(p_keys text[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return array(select f.id
                   from unnest(p_keys) as k (ordering_key)
                  cross join lateral (
                        select w.id
                          from {schema}.{outbox} w
                         where w.status = 4 and w.ordering_key = k.ordering_key
                         order by w.ordering_sequence
                         limit 1) f);
end
$sql$;

-- Passes on the keys that pass_on() had to leave. Some of many, at random: those at the front may be the ones that cannot be
-- passed on yet.
create or replace function {schema}.{outbox_settle_keys}() returns void
    language plpgsql
as $sql$
declare
    v_keys text[] := array(select f.ordering_key
                             from {schema}.{outbox_key_freed} f
                            order by random()
                            limit 500
                              for update skip locked);
    v_left text[] := {schema}.{outbox_hand_over}(v_keys, true);
begin
    delete from {schema}.{outbox_key_freed} f
     where f.ordering_key = any (v_keys)
       and (f.ordering_key <> all (v_left)
            or not exists (select from {schema}.{outbox_key} k where k.ordering_key = f.ordering_key));
end
$sql$;

-- One message, in whatever state.
create or replace function {schema}.{outbox_find}(p_id uuid) returns setof {schema}.{outbox}
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
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
