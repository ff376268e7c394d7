-- Order inside a key. A key is held by one message at most: the one that is ready or in progress, or that failed and keeps its
-- successors waiting. Whatever ends it passes the key on in the same transaction.

-- Takes the rows of these ordering keys until the end of the transaction, in the order of the keys. Returns, in the order of the
-- arrays, whether a message found its key free, and its number in the sequence; nulls for those without a key, and for those
-- that are not first under their deduplication key.
create or replace function {schema}.{outbox_hold_keys}(
    p_ids       uuid[],
    p_keys      text[],
    p_originals uuid[],
    out heads     boolean[],
    out sequences bigint[]
)
    language plpgsql
{plan:ids}
as $sql$
declare
    v_base    bigint := floor(extract(epoch from clock_timestamp()) * 1000000)::bigint;
    v_keys    text[];
    v_lasts   bigint[];
    v_takers  uuid[];
    v_late    bigint;
begin
    with held as (
        insert into {schema}.{outbox_key} as k (ordering_key, last_sequence, taken_by)
        select e.ordering_key, v_base + count(*), (array_agg(e.id order by e.place))[1]
          from unnest(p_ids, p_keys, p_originals) with ordinality as e (id, ordering_key, original, place)
         where e.ordering_key is not null and e.original is null
         group by e.ordering_key
         order by e.ordering_key collate "C" -- as requeue does, so that the two cannot deadlock
        on conflict (ordering_key) do update
           set last_sequence = k.last_sequence + (excluded.last_sequence - v_base),
               taken_by = '00000000-0000-0000-0000-000000000000'
        returning k.ordering_key, k.last_sequence, k.taken_by)
    select array_agg(held.ordering_key), array_agg(held.last_sequence), array_agg(held.taken_by)
      into v_keys, v_lasts, v_takers from held;
    -- The insert may have waited for others of these keys, which have come and gone: the base is too early then.
    v_late := greatest(0, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint - v_base);
    update {schema}.{outbox_key} k
       set last_sequence = k.last_sequence + v_late
     where k.ordering_key = any (v_keys) and k.taken_by = any (v_takers)
       and k.taken_by <> '00000000-0000-0000-0000-000000000000';
    select array_agg(numbered.id = k.taken_by order by numbered.place),
           array_agg(k.last_sequence - numbered.behind
                     + case k.taken_by when '00000000-0000-0000-0000-000000000000' then 0 else v_late end order by numbered.place)
      into heads, sequences
      from (select e.id, e.place, case when e.original is null then e.ordering_key end as ordering_key,
                   row_number() over (partition by e.ordering_key, e.original is null order by e.place desc) - 1 as behind
              from unnest(p_ids, p_keys, p_originals) with ordinality as e (id, ordering_key, original, place)) numbered
      left join unnest(v_keys, v_lasts, v_takers) as k (ordering_key, last_sequence, taken_by)
        on k.ordering_key = numbered.ordering_key;
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

-- Whoever held these keys has ended: the next in line takes its place, and a key that nobody waits for is forgotten. Who
-- writes to a key just now cannot be waited for, and what he writes cannot be seen yet: such keys are noted, and the
-- claims that follow look after them. With p_after, the numbers of those that have ended, it does not look at what came before them.
create or replace function {schema}.{outbox_pass_on}(p_keys text[], p_notify boolean, p_after bigint[] default null) returns void
    language plpgsql
as $sql$
declare
    v_left text[];
begin
    if cardinality(p_keys) = 0 then
        return;
    end if;
    begin
        v_left := {schema}.{outbox_pass_on_now}(p_keys, p_notify, p_after);
    exception
        when others or assert_failure then -- the next of one is refused, by a trigger of the user's perhaps: that must not undo the end of this one
            v_left := p_keys;
    end;
    if cardinality(v_left) > 0 then
        insert into {schema}.{outbox_key_freed} (ordering_key) select unnest(v_left) on conflict do nothing;
        perform pg_notify({channel}, 'ready');
    end if;
end
$sql$;

-- Passes on or forgets keys that nobody holds, without waiting for anybody. Returns those that somebody is writing to, or
-- whose next message somebody has locked.
--
-- Who writes to a key holds its row. So what is seen to wait can be promoted without the row, which under a key that is
-- always being written to is never free; but that nothing waits is known only to who has locked it.
create or replace function {schema}.{outbox_pass_on_now}(p_keys text[], p_notify boolean, p_after bigint[] default null)
    returns text[]
    language plpgsql
{plan:each}
as $sql$
declare
    v_left      text[] := {schema}.{outbox_promote}(p_keys, p_notify, p_after);
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
create or replace function {schema}.{outbox_promote}(p_keys text[], p_notify boolean, p_after bigint[] default null)
    returns text[]
    language plpgsql
{plan:index}
as $sql$
declare
    v_keys   text[];
    v_topics text[];
    v_ids    uuid[];
begin
    perform pg_current_xact_id();
    v_ids := {schema}.{outbox_first_waiting}(p_keys, p_after);
    with next as (
        update {schema}.{outbox} m
           set status = 0, next_attempt_at = greatest(clock_timestamp(), m.next_attempt_at)
         where m.id = any (array(
                   select l.id
                     from {schema}.{outbox} l
                    where l.id = any (v_ids)
                      and l.status + 0 = 4 -- naming status = 4 would invite the index of all that wait
                      for update skip locked))
        returning m.ordering_key, m.topic)
    select coalesce(array_agg(next.ordering_key), '{}'), array_agg(distinct next.topic) into v_keys, v_topics from next;
    if p_notify then
        perform pg_notify({channel}, 'ready ' || t.topic) from unnest(v_topics) as t (topic);
    end if;
    if cardinality(v_keys) = cardinality(p_keys) then
        return '{}';
    end if;
    return array(select unnest(p_keys) except select unnest(v_keys));
end
$sql$;

-- The first that waits for each of these keys, where one is seen to.
--
-- Under an open snapshot the dead entries of all that has been handled stay in the index, and whoever begins at the start of a key
-- steps over them. So the number p_after of the one that has ended is where to begin: what waits came later, but for what was requeued.
-- That is rare, and one look for all keys tells whether there is any. One that is requeued just then, behind that look, is as one
-- that is requeued after it: the next one to end finds it.
create or replace function {schema}.{outbox_first_waiting}(p_keys text[], p_after bigint[] default null) returns uuid[]
    language plpgsql
{plan:index}
as $sql$
begin
    if p_after is not null
       and not exists (select from {schema}.{outbox} w where w.status = 4 and w.requeues > 0 and w.ordering_key is not null) then
        return array(select f.id
                       from unnest(p_keys, p_after) as k (ordering_key, after)
                      cross join lateral (
                            select w.id
                              from {schema}.{outbox} w
                             where w.status = 4 and w.ordering_key = k.ordering_key and w.ordering_sequence > k.after
                             order by w.ordering_sequence
                             limit 1) f);
    end if;
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
create or replace function {schema}.{outbox_pass_on_freed}() returns void
    language plpgsql
as $sql$
declare
    v_keys text[] := array(select f.ordering_key
                             from {schema}.{outbox_key_freed} f
                            order by random()
                            limit 500
                              for update skip locked);
    v_left text[];
    v_key  text;
begin
    begin
        v_left := {schema}.{outbox_pass_on_now}(v_keys, true);
    exception
        when others or assert_failure then -- the next of one is refused: some one by one, the others are looked at later
            v_keys := v_keys[1:20];
            v_left := '{}';
            foreach v_key in array v_keys loop
                begin
                    v_left := v_left || {schema}.{outbox_pass_on_now}(array[v_key], true);
                exception
                    when others or assert_failure then
                        v_left := v_left || v_key;
                end;
            end loop;
    end;
    delete from {schema}.{outbox_key_freed} f
     where f.ordering_key = any (v_keys)
       and (f.ordering_key <> all (v_left)
            or not exists (select from {schema}.{outbox_key} k where k.ordering_key = f.ordering_key));
end
$sql$;

-- The place of failed messages under their ordering keys when they are made ready again: the first of each key takes it, if
-- nobody holds it. Returns those that have to wait; the caller has locked them.
create or replace function {schema}.{outbox_enter_keys}(p_ids uuid[]) returns uuid[]
    language plpgsql
{plan:index}
as $sql$
declare
    v_token   uuid := gen_random_uuid();
    v_holders uuid[];
    v_waiting uuid[];
begin
    with entry as (
        select m.ordering_key, (array_agg(m.id order by m.ordering_sequence))[1] as head
          from {schema}.{outbox} m
         where m.id = any (p_ids) and m.ordering_key is not null and not m.blocks_key
         group by m.ordering_key
         order by m.ordering_key),
    held as (
        insert into {schema}.{outbox_key} as k (ordering_key, last_sequence, taken_by)
        select entry.ordering_key, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint, v_token from entry
        on conflict (ordering_key) do update set last_sequence = k.last_sequence
        returning k.ordering_key, k.taken_by = v_token as free)
    select coalesce(array_agg(entry.head), '{}') into v_holders
      from entry join held on held.ordering_key = entry.ordering_key
     where held.free;
    v_waiting := array(select m.id
                         from {schema}.{outbox} m
                        where m.id = any (p_ids) and m.ordering_key is not null and not m.blocks_key and m.id <> all (v_holders));
    update {schema}.{outbox} m set blocks_key = false where m.id = any (p_ids) and m.blocks_key;
    return v_waiting;
end
$sql$;

-- Lets the messages behind failed ones go on; those stay failed. Otherwise as requeue.
create or replace function {schema}.{outbox_skip}(
    p_by     text,
    p_ids    uuid[] default null,
    p_topic  text default null,
    p_source text default null,
    p_from   timestamptz default null,
    p_until  timestamptz default null,
    p_error  text default null,
    p_limit  integer default 1000,
    p_action bigint default null,
    p_all    boolean default false
) returns table (action bigint, messages integer, reached timestamptz)
    language plpgsql
{plan:index}
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := {schema}.windlass_action_until(p_action, p_until);
    v_ids   uuid[];
    v_keys  text[];
begin
    perform {schema}.windlass_check_choice(p_by, p_ids, coalesce(p_topic, p_source, p_from::text, p_until::text, p_error) is not null,
                                           p_limit, p_all);
    v_ids := case when p_ids is not null then {schema}.{outbox_lock}(p_ids, array[3])
                  else array(select m.id
                               from {schema}.{outbox} m
                              where m.status = 3 and m.ended_at >= v_from and m.ended_at < v_until and m.blocks_key
                                and (p_topic is null or m.topic = p_topic)
                                and (p_source is null or m.source = p_source)
                                and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                              order by m.ended_at, m.id
                              limit p_limit
                                for update skip locked) end;
    with passed as (
        update {schema}.{outbox} m
           set blocks_key = false
         where m.id = any (v_ids) and m.blocks_key
        returning m.ordering_key, m.ended_at)
    select coalesce(array_agg(passed.ordering_key), '{}'), max(passed.ended_at) into v_keys, reached from passed;
    perform {schema}.{outbox_pass_on}(v_keys, true);
    messages := cardinality(v_keys);
    action := {schema}.windlass_record({outbox_name}, p_action, p_by, 'skip', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error));
    return next;
end
$sql$;
