-- What operators do to all that the inbox has seen, whether it was queued or not, by source and id. What is queued alone has the
-- verbs of a queue too.

-- What is known of one message, with its content if it is queued.
create or replace function {schema}.{inbox_find_key}(p_source text, p_message_id text) returns table (
    source         varchar,
    message_id     varchar,
    id             uuid,
    topic          varchar,
    status         smallint,
    hash           bytea,
    first_seen_at  timestamptz,
    last_seen_at   timestamptz,
    claimed_at     timestamptz,
    locked_until   timestamptz,
    ended_at       timestamptz,
    retry_count    integer,
    lease_expiries integer,
    requeues       smallint,
    processed_by   varchar,
    last_error     varchar,
    payload        text
)
    language plpgsql
    stable
{plan:each}
as $sql$
begin
    return query
    select s.source::varchar, s.message_id::varchar, s.id, m.topic::varchar, coalesce(s.status, m.status, 2::smallint)::smallint,
           s.hash::bytea, s.first_seen_at, s.last_seen_at, coalesce(m.claimed_at, s.claimed_at)::timestamptz,
           coalesce(m.locked_until, s.locked_until)::timestamptz,
           coalesce(m.ended_at, case when s.status in (2, 3) then s.state_at end)::timestamptz,
           coalesce(m.retry_count, s.retry_count)::integer, coalesce(m.lease_expiries, s.lease_expiries)::integer,
           coalesce(m.requeues, s.requeues)::smallint,
           case when s.id is null then s.processed_by else m.processed_by end,
           case when s.id is null then s.last_error else m.last_error end, m.payload
      from {schema}.{inbox_seen} s
      left join lateral (select q.* from {schema}.{inbox} q where q.id = s.id limit 1) m on true
     where s.source = p_source and s.message_id = p_message_id;
end
$sql$;

-- The ids in the queue of these messages, and of the copies that wait under their keys.
create or replace function {schema}.{inbox_ids}(p_sources text[], p_message_ids text[]) returns uuid[]
    language plpgsql
    stable
{plan:each}
as $sql$
begin
    if p_sources is null and p_message_ids is null then
        return null;
    end if;
    perform {schema}.windlass_check_lengths(coalesce(cardinality(p_sources), -1), coalesce(cardinality(p_message_ids), -1));
    return array(select i.id
                   from unnest(p_sources, p_message_ids) as k (source, message_id)
                  cross join lateral (
                        (select s.id from {schema}.{inbox_seen} s
                          where s.source = k.source and s.message_id = k.message_id and s.id is not null
                          limit 1)
                        union all
                        (select w.id from {schema}.{inbox} w
                          where w.source = k.source and w.message_id = k.message_id and w.status = 4
                          limit 1)) i);
end
$sql$;

-- Makes a queued message a step of a join; see attach(). A copy that waits is none yet: the attempt without the queue may do the work.
create or replace function {schema}.{inbox_attach_key}(p_join_id uuid, p_source text, p_message_id text) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_id uuid := (select s.id from {schema}.{inbox_seen} s where s.source = p_source and s.message_id = p_message_id);
begin
    if v_id is null then
        perform {schema}.windlass_refuse('a message that is queued', 'one that is not', 'Enqueue it first, in the same transaction or before.');
    end if;
    return {schema}.{inbox_attach}(p_join_id, array[v_id]);
end
$sql$;

-- Messages without their content, as list() of the queue, and with them those that are not queued, if no topic is given. Of a state
-- they come together by their time; of all states, first what is queued, then the others by their states. The next page begins after
-- the last one: its time, its id if it is queued, else its state, and its key.
create or replace function {schema}.{inbox_list_seen}(
    p_limit            integer,
    p_status           integer default null,
    p_topic            text default null,
    p_source           text default null,
    p_from             timestamptz default null,
    p_until            timestamptz default null,
    p_error            text default null,
    p_after_at         timestamptz default null,
    p_after_id         uuid default null,
    p_after_status     integer default null,
    p_after_source     text default null,
    p_after_message_id text default null
) returns setof {schema}.{inbox_listed}
    language plpgsql
    stable
{plan:order}
as $sql$
declare
    v_from    timestamptz := coalesce(p_from, '-infinity');
    v_until   timestamptz := coalesce(p_until, 'infinity');
    v_guarded boolean := p_after_source is not null and p_after_id is null;
    v_source  text := case when v_guarded then p_after_source else '' end; -- those that are queued come first of a time
    v_message text := case when v_guarded then p_after_message_id else '' end;
    v_after   timestamptz := coalesce(p_after_at, '-infinity');
    v_before  timestamptz := coalesce(p_after_at, 'infinity');
    v_count   integer := 0;
begin
    if p_status is null then
        if not v_guarded then
            return query
            select q.* from {schema}.{inbox_list}(p_limit, null, p_topic, p_source, p_from, p_until, p_error, p_after_at, p_after_id) q;
            get diagnostics v_count = row_count;
            v_after := '-infinity';
        end if;
        if v_count < p_limit and p_topic is null then
            return query
            select g.*
              from {schema}.{inbox_guarded} g
             where (g.status, g.state_at, g.source, g.message_id)
                   > (case when v_guarded then p_after_status else -1 end, v_after, v_source, v_message)
               and g.created_at >= v_from and g.created_at < v_until
               and (p_source is null or g.source = p_source)
               and (p_error is null or position(lower(p_error) in lower(g.last_error)) > 0)
             order by g.status, g.state_at, g.source, g.message_id
             limit p_limit - v_count;
        end if;
    elsif p_status in (0, 1, 4) then
        return query
        select l.*
          from (select q.*
                  from {schema}.{inbox_list}(
                           p_limit, p_status, p_topic, p_source, p_from, p_until, p_error, p_after_at,
                           case when v_guarded then 'ffffffff-ffff-ffff-ffff-ffffffffffff' else p_after_id end) q
                 union all
                (select g.*
                   from {schema}.{inbox_guarded} g
                  where p_topic is null and g.status = p_status
                    and g.state_at >= v_from and g.state_at < v_until
                    and (g.state_at, g.source, g.message_id) > (v_after, v_source, v_message)
                    and (p_source is null or g.source = p_source)
                    and (p_error is null or position(lower(p_error) in lower(g.last_error)) > 0)
                  order by g.state_at, g.source, g.message_id
                  limit p_limit)) l
         order by l.state_at, l.id, l.source, l.message_id
         limit p_limit;
    else
        return query
        select l.*
          from (select q.*
                  from {schema}.{inbox_list}(
                           p_limit, p_status, p_topic, p_source, p_from, p_until, p_error, p_after_at,
                           case when v_guarded then '00000000-0000-0000-0000-000000000000' else p_after_id end) q
                 union all
                (select g.*
                   from {schema}.{inbox_guarded} g
                  where p_topic is null and g.status = p_status
                    and g.state_at >= v_from and g.state_at < v_until and g.state_at <= v_before
                    and (g.state_at < v_before or (g.source, g.message_id) > (v_source, v_message))
                    and (p_source is null or g.source = p_source)
                    and (p_error is null or position(lower(p_error) in lower(g.last_error)) > 0)
                  order by g.state_at desc, g.source, g.message_id
                  limit p_limit)) l
         order by l.state_at desc, l.id desc nulls last, l.source, l.message_id
         limit p_limit;
    end if;
end
$sql$;

-- Changes failed messages: 'requeue' makes those ready again that are queued, and lets the others be begun again; 'purge' deletes them,
-- and the inbox, which has forgotten them, would process them if they arrived again. Those of the keys, or up to p_limit that fit the
-- rest, or of all if p_all says so; see requeue() and purge() of the queue. It is recorded as one action.
create or replace function {schema}.{inbox_change_seen}(
    p_verb        text,
    p_by          text,
    p_sources     text[] default null,
    p_message_ids text[] default null,
    p_topic       text default null,
    p_source      text default null,
    p_from        timestamptz default null,
    p_until       timestamptz default null,
    p_error       text default null,
    p_limit       integer default 1000,
    p_action      bigint default null,
    p_all         boolean default false,
    p_reset       boolean default true
) returns table (action bigint, messages integer, reached timestamptz)
    language plpgsql
{plan:each}
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := {schema}.windlass_action_until(p_action, p_until);
    v_ids   uuid[] := {schema}.{inbox_ids}(p_sources, p_message_ids);
    v_rows  tid[] := '{}';
    v_count integer;
begin
    if (p_verb in ('requeue', 'purge')) is not true then
        perform {schema}.windlass_refuse('requeue or purge', p_verb, 'Give one of them as p_verb.');
    end if;
    perform {schema}.windlass_check_choice(p_by, v_ids, coalesce(p_topic, p_source, p_from::text, p_until::text, p_error) is not null,
                                           p_limit, p_all);
    if v_ids is not null then
        v_rows := array(select s.ctid
                          from (select distinct u.source collate "C" as source, u.message_id collate "C" as message_id
                                  from unnest(p_sources, p_message_ids) as u (source, message_id)
                                 order by 1, 2) k
                         cross join lateral (
                               select s.ctid
                                 from {schema}.{inbox_seen} s
                                where s.source = k.source and s.message_id = k.message_id and s.status + 0 = 3
                                limit 1
                                  for update) s);
    elsif p_topic is null then
        v_rows := array(select s.ctid
                          from {schema}.{inbox_seen} s
                         where s.status = 3 and s.state_at >= v_from and s.state_at < v_until
                           and (p_source is null or s.source = p_source)
                           and (p_error is null or position(lower(p_error) in lower(s.last_error)) > 0)
                         order by s.state_at
                         limit p_limit
                           for update skip locked);
    end if;
    v_count := cardinality(v_rows);
    if p_verb = 'requeue' then
        update {schema}.{inbox_seen} s
           set status = 0, owner_token = null, state_at = clock_timestamp(), processed_by = null, lease_expiries = 0,
               retry_count = case when p_reset then 0 else s.retry_count end, requeues = least(s.requeues + 1, 32767)
         where s.ctid = any (v_rows);
    else
        with forgotten as (
            delete from {schema}.{inbox_seen} s where s.ctid = any (v_rows) returning s.source, s.message_id)
        delete from {schema}.{inbox} c
         where c.ctid = any (array(
                   select w.ctid
                     from forgotten f
                    cross join lateral (
                          select w.ctid
                            from {schema}.{inbox} w
                           where w.source = f.source and w.message_id = f.message_id and w.status = 4
                           limit 1
                             for update skip locked) w));
    end if;
    action := {schema}.windlass_record(
        {inbox_name}, p_action, p_by, p_verb, v_count, null,
        jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error,
                           'reset', case p_verb when 'requeue' then p_reset end,
                           'keys', (select jsonb_agg(k.source || ' ' || k.message_id)
                                      from unnest(p_sources[1:100], p_message_ids[1:100]) as k (source, message_id))));
    messages := v_count;
    if v_ids is not null or v_count < p_limit then
        if p_verb = 'requeue' then
            select v_count + q.messages, q.reached into messages, reached
              from {schema}.{inbox_requeue}(p_by, v_ids, p_topic, p_source, p_from, p_until, p_error,
                                            greatest(p_limit - v_count, 1), action, p_all, p_reset) q;
        else
            select v_count + q.messages, q.reached into messages, reached
              from {schema}.{inbox_purge}(p_by, v_ids, p_topic, p_source, p_from, p_until, p_error,
                                          greatest(p_limit - v_count, 1), action, p_all) q;
        end if;
    end if;
    return next;
end
$sql$;

-- Removes payload and headers of queued messages that have ended; everything else stays. Returns how many.
create or replace function {schema}.{inbox_erase_seen}(p_by text, p_sources text[], p_message_ids text[]) returns integer
    language plpgsql
as $sql$
begin
    return {schema}.{inbox_erase}(p_by, {schema}.{inbox_ids}(p_sources, p_message_ids));
end
$sql$;
