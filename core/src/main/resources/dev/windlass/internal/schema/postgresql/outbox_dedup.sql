-- Deduplication: a message is written once under a key, for a time.

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
        raise exception 'expected a window with the deduplication key, got null' -- errors name no key: they are logged
            using errcode = 'null_value_not_allowed', hint = 'Give p_dedup_window, for example interval ''1 day''.';
    elsif p_window <= '0' then
        raise exception 'expected a positive window with the deduplication key, got %', p_window
            using errcode = 'invalid_parameter_value',
                  hint = 'Say for how long the key is to be remembered, for example interval ''1 day''.';
    end if;
end
$sql$;

-- Takes a deduplication key for p_window. Returns null, or the id of the message that has it. Of several at once, one takes
-- it and the others wait for its commit.
create or replace function {schema}.{outbox_take_dedup_key}(
    p_topic  text,
    p_key    text,
    p_id     uuid,
    p_window interval
) returns uuid
    language plpgsql
as $sql$
declare
    v_now      timestamptz;
    v_original uuid;
begin
    if btrim(p_key) = '' or (p_window > '0') is not true then
        perform {schema}.{outbox_check_dedup}(p_key, p_window);
    end if;
    loop
        v_now := clock_timestamp();
        select d.message_id into v_original -- without a lock: who comes second need not wait for who comes third
          from {schema}.{outbox_dedup} d
         where d.topic = p_topic and d.dedup_key = p_key and d.expires_at > v_now;
        if found then
            return v_original;
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
create or replace function {schema}.{outbox_take_dedup_keys}(
    p_topics  text[],
    p_keys    text[],
    p_ids     uuid[],
    p_windows interval[]
) returns uuid[]
    language plpgsql
{plan:each}
as $sql$
declare
    v_windows   interval[] := case when cardinality(p_windows) > 1 then p_windows end;
    v_window    interval := case when cardinality(p_windows) = 1 then p_windows[1] end;
    v_now       timestamptz;
    v_taken     uuid[] := '{}';
    v_originals uuid[];
    v_known     boolean;
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
          into v_originals, v_known
          from unnest(p_topics, p_keys, p_ids) with ordinality as e (topic, dedup_key, id, place)
          left join {schema}.{outbox_dedup} d on d.topic = e.topic and d.dedup_key = e.dedup_key;
        if v_known then
            return v_originals;
        end if; -- else one was cleaned away this moment
    end loop;
end
$sql$;

-- Deletes deduplication keys whose window is over. Returns how many.
create or replace function {schema}.{outbox_clean_dedup}(p_limit integer default 1000) returns integer
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    return {schema}.windlass_delete($name${schema}.{outbox_dedup}$name$, array(
        select o.ctid
          from {schema}.{outbox_dedup} o
         where o.expires_at <= v_now
         order by o.expires_at
         limit p_limit
           for update skip locked));
end
$sql$;
