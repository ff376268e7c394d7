-- What operators do to an inbox: look, revive, purge.

-- One message, in whatever state.
create or replace function {schema}.{inbox_find}(p_source text, p_message_id text) returns setof {schema}.{inbox}
    language plpgsql
    stable
{plan:index}
as $sql$
begin
    return query select m.* from {schema}.{inbox} m where m.source = p_source and m.message_id = p_message_id;
end
$sql$;

-- Dead messages, the latest first, without their payloads. The next page begins before the last one's end and key.
create or replace function {schema}.{inbox_dead_letters}(
    p_limit             integer,
    p_source            text default null,
    p_topic             text default null,
    p_before_at         timestamptz default null,
    p_before_source     text default null,
    p_before_message_id text default null
) returns setof {schema}.{inbox}
    language plpgsql
    stable
{plan:index}
as $sql$
begin
    return query
    select m.source, m.message_id, m.id, m.first_seen_at, m.last_seen_at, m.next_attempt_at, m.due_at, m.expires_at, m.claimed_at,
           m.locked_until, m.ended_at, m.owner_token, m.retry_count, m.lease_expiries, m.crashes, m.requeues, m.status,
           m.started, m.awaited, m.topic, m.processed_by, m.last_error, m.hash, null::jsonb, null::text
      from {schema}.{inbox} m
     where m.status = 3
       and (p_before_at is null or (m.ended_at, m.source, m.message_id) < (p_before_at, p_before_source, p_before_message_id))
       and m.ended_at <= coalesce(p_before_at, 'infinity')
       and (p_source is null or m.source = p_source)
       and (p_topic is null or m.topic = p_topic)
     order by m.ended_at desc, m.source desc, m.message_id desc
     limit p_limit;
end
$sql$;

-- Messages without their payloads: of a state, a source, a topic and a time where these are given. The time is that of the state:
-- when a ready message can be taken, when the attempt of one in progress began, when one ended; without a state, when it was first
-- seen. Unfinished ones come the oldest first, ended ones the latest first, those of all states by source and id. The next page begins
-- after the last one's time and key.
create or replace function {schema}.{inbox_list}(
    p_limit            integer,
    p_status           integer default null,
    p_source           text default null,
    p_topic            text default null,
    p_from             timestamptz default null,
    p_until            timestamptz default null,
    p_after_at         timestamptz default null,
    p_after_source     text default null,
    p_after_message_id text default null
) returns setof {schema}.{inbox}
    language plpgsql
    stable
{plan:order}
as $sql$
declare
    v_from   timestamptz := coalesce(p_from, '-infinity');
    v_until  timestamptz := coalesce(p_until, 'infinity');
    v_to     timestamptz := coalesce(p_until - interval '1 microsecond', 'infinity'); -- some are due at no time
    v_after  timestamptz := coalesce(p_after_at, '-infinity');
    v_before timestamptz := coalesce(p_after_at, 'infinity');
    v_source text := coalesce(p_after_source, '');
    v_id     text := coalesce(p_after_message_id, '');
begin
    if p_status is null and p_source is not null then
        return query
        select m.source, m.message_id, m.id, m.first_seen_at, m.last_seen_at, m.next_attempt_at, m.due_at, m.expires_at, m.claimed_at,
               m.locked_until, m.ended_at, m.owner_token, m.retry_count, m.lease_expiries, m.crashes, m.requeues, m.status,
               m.started, m.awaited, m.topic, m.processed_by, m.last_error, m.hash, null::jsonb, null::text
          from {schema}.{inbox} m
         where m.source = p_source and m.message_id > v_id
           and m.first_seen_at >= v_from and m.first_seen_at < v_until
           and (p_topic is null or m.topic = p_topic)
         order by m.message_id
         limit p_limit;
    elsif p_status is null then
        return query
        select m.source, m.message_id, m.id, m.first_seen_at, m.last_seen_at, m.next_attempt_at, m.due_at, m.expires_at, m.claimed_at,
               m.locked_until, m.ended_at, m.owner_token, m.retry_count, m.lease_expiries, m.crashes, m.requeues, m.status,
               m.started, m.awaited, m.topic, m.processed_by, m.last_error, m.hash, null::jsonb, null::text
          from {schema}.{inbox} m
         where (m.source, m.message_id) > (v_source, v_id)
           and m.first_seen_at >= v_from and m.first_seen_at < v_until
           and (p_topic is null or m.topic = p_topic)
         order by m.source, m.message_id
         limit p_limit;
    elsif p_status = 0 then
        return query
        select m.*
          from (select r.*
                  from unnest(case when p_topic is null then array(select {schema}.{inbox_ready_topics}())
                                   else array[p_topic] end) t (topic)
                 cross join lateral (
                       select m.source, m.message_id, m.id, m.first_seen_at, m.last_seen_at, m.next_attempt_at, m.due_at, m.expires_at, m.claimed_at,
                              m.locked_until, m.ended_at, m.owner_token, m.retry_count, m.lease_expiries, m.crashes, m.requeues, m.status,
                              m.started, m.awaited, m.topic, m.processed_by, m.last_error, m.hash, null::jsonb, null::text
                         from {schema}.{inbox} m
                        where m.status = 0 and m.topic = t.topic
                          and m.next_attempt_at >= v_from and m.next_attempt_at <= v_to
                          and (m.next_attempt_at, m.source, m.message_id) > (v_after, v_source, v_id)
                          and (p_source is null or m.source = p_source)
                        order by m.next_attempt_at, m.source, m.message_id
                        limit p_limit) r
                 union all
                (select m.source, m.message_id, m.id, m.first_seen_at, m.last_seen_at, m.next_attempt_at, m.due_at, m.expires_at, m.claimed_at,
                        m.locked_until, m.ended_at, m.owner_token, m.retry_count, m.lease_expiries, m.crashes, m.requeues, m.status,
                        m.started, m.awaited, m.topic, m.processed_by, m.last_error, m.hash, null::jsonb, null::text
                   from {schema}.{inbox} m
                  where m.status = 0 and m.id is null and p_topic is null
                    and m.next_attempt_at >= v_from and m.next_attempt_at <= v_to
                    and (m.next_attempt_at, m.source, m.message_id) > (v_after, v_source, v_id)
                    and (p_source is null or m.source = p_source)
                  order by m.next_attempt_at, m.source, m.message_id
                  limit p_limit)) m
         order by m.next_attempt_at, m.source, m.message_id
         limit p_limit;
    elsif p_status = 1 then
        return query
        select m.source, m.message_id, m.id, m.first_seen_at, m.last_seen_at, m.next_attempt_at, m.due_at, m.expires_at, m.claimed_at,
               m.locked_until, m.ended_at, m.owner_token, m.retry_count, m.lease_expiries, m.crashes, m.requeues, m.status,
               m.started, m.awaited, m.topic, m.processed_by, m.last_error, m.hash, null::jsonb, null::text
          from (select g.* from {schema}.{inbox} g where g.status = 1 and g.id is null
                 union all
                select q.* from {schema}.{inbox} q where q.status = 1 and q.id is not null) m
         where m.claimed_at >= v_from and m.claimed_at < v_until
           and (m.claimed_at, m.source, m.message_id) > (v_after, v_source, v_id)
           and (p_source is null or m.source = p_source)
           and (p_topic is null or m.topic = p_topic)
         order by m.claimed_at, m.source, m.message_id
         limit p_limit;
    elsif p_status = 2 then
        return query
        select m.source, m.message_id, m.id, m.first_seen_at, m.last_seen_at, m.next_attempt_at, m.due_at, m.expires_at, m.claimed_at,
               m.locked_until, m.ended_at, m.owner_token, m.retry_count, m.lease_expiries, m.crashes, m.requeues, m.status,
               m.started, m.awaited, m.topic, m.processed_by, m.last_error, m.hash, null::jsonb, null::text
          from {schema}.{inbox} m
         where m.status = 2
           and m.ended_at >= v_from and m.ended_at < v_until
           and (m.ended_at, m.source, m.message_id) < (v_before, v_source, v_id)
           and (p_source is null or m.source = p_source)
           and (p_topic is null or m.topic = p_topic)
         order by m.ended_at desc, m.source desc, m.message_id desc
         limit p_limit;
    else
        return query
        select m.source, m.message_id, m.id, m.first_seen_at, m.last_seen_at, m.next_attempt_at, m.due_at, m.expires_at, m.claimed_at,
               m.locked_until, m.ended_at, m.owner_token, m.retry_count, m.lease_expiries, m.crashes, m.requeues, m.status,
               m.started, m.awaited, m.topic, m.processed_by, m.last_error, m.hash, null::jsonb, null::text
          from {schema}.{inbox} m
         where m.status = 3
           and m.ended_at >= v_from and m.ended_at < v_until
           and (m.ended_at, m.source, m.message_id) < (v_before, v_source, v_id)
           and (p_source is null or m.source = p_source)
           and (p_topic is null or m.topic = p_topic)
         order by m.ended_at desc, m.source desc, m.message_id desc
         limit p_limit;
    end if;
end
$sql$;

-- Messages in progress whose lease ran out, or whose attempt began longer ago than p_older; the oldest first, without their
-- payloads.
create or replace function {schema}.{inbox_stuck}(p_older interval, p_limit integer default 1000)
    returns setof {schema}.{inbox}
    language plpgsql
    stable
{plan:index}
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    return query
    select m.source, m.message_id, m.id, m.first_seen_at, m.last_seen_at, m.next_attempt_at, m.due_at, m.expires_at, m.claimed_at,
           m.locked_until, m.ended_at, m.owner_token, m.retry_count, m.lease_expiries, m.crashes, m.requeues, m.status,
           m.started, m.awaited, m.topic, m.processed_by, m.last_error, m.hash, null::jsonb, null::text
      from (select g.* from {schema}.{inbox} g where g.status = 1 and g.id is null
             union all
            select q.* from {schema}.{inbox} q where q.status = 1 and q.id is not null) m
     where m.locked_until <= v_now or m.claimed_at <= v_now - p_older
     order by m.claimed_at, m.source, m.message_id
     limit p_limit;
end
$sql$;

-- Locks dead messages: those of the keys, or the oldest that fit the rest and died before p_until. Returns where they are.
create or replace function {schema}.{inbox_pick_dead}(
    p_sources     text[],
    p_message_ids text[],
    p_source      text,
    p_topic       text,
    p_until       timestamptz,
    p_limit       integer,
    p_all         boolean
) returns tid[]
    language plpgsql
{plan:index}
as $sql$
begin
    if (p_sources is null) <> (p_message_ids is null) or cardinality(p_sources) <> cardinality(p_message_ids) then
        raise exception 'expected as many sources as message ids, got % and %',
                coalesce(cardinality(p_sources)::text, 'null'), coalesce(cardinality(p_message_ids)::text, 'null')
            using errcode = 'invalid_parameter_value', hint = 'A message is named by its source and its id.';
    elsif p_sources is null and coalesce(p_source, p_topic) is null and p_all is not true then
        raise exception 'expected messages, a source or a topic, got none of them'
            using errcode = 'invalid_parameter_value', hint = 'Give p_all => true to choose every dead message.';
    end if;
    if p_sources is not null then
        return array(select d.ctid
                       from (select * from unnest(p_sources, p_message_ids) as u (source, message_id)
                              order by u.source collate "C", u.message_id collate "C") c
                      cross join lateral (
                            select m.ctid
                              from {schema}.{inbox} m
                             where m.source = c.source and m.message_id = c.message_id and m.status + 0 = 3
                             limit 1
                               for update) d);
    end if;
    return array(select m.ctid
                   from {schema}.{inbox} m
                  where m.status = 3 and m.ended_at <= p_until
                    and (p_source is null or m.source = p_source)
                    and (p_topic is null or m.topic = p_topic)
                  order by m.ended_at, m.source, m.message_id
                  limit p_limit
                    for update skip locked);
end
$sql$;

-- Gives dead messages all their attempts again: those of the keys, or up to p_limit that fit the rest, or of all if p_all
-- says so. Queued ones are ready at once, others when they are begun again. Returns how many, and the time of the call. More
-- than p_limit take several calls; those that give the time of the first as p_until touch only what had died before it.
create or replace function {schema}.{inbox_revive}(
    p_sources     text[] default null,
    p_message_ids text[] default null,
    p_source      text default null,
    p_topic       text default null,
    p_until       timestamptz default null,
    p_limit       integer default 1000,
    p_all         boolean default false
) returns table (messages integer, until timestamptz)
    language plpgsql
{plan:index}
as $sql$
declare
    v_until timestamptz := coalesce(p_until, clock_timestamp());
    v_dead  tid[];
    v_count integer;
begin
    perform pg_current_xact_id();
    v_dead := {schema}.{inbox_pick_dead}(p_sources, p_message_ids, p_source, p_topic, v_until, p_limit, p_all);
    update {schema}.{inbox} m
       set status = 0, owner_token = null, ended_at = null, processed_by = null, retry_count = 0, lease_expiries = 0, crashes = 0,
           requeues = least(m.requeues + 1, 32767), next_attempt_at = clock_timestamp()
     where m.ctid = any (v_dead);
    get diagnostics v_count = row_count;
    if v_count > 0 then
        perform pg_notify({channel}, '');
    end if;
    return query select v_count, v_until;
end
$sql$;

-- Deletes dead messages; the inbox forgets them, and would process them if they arrived again. Otherwise as revive.
create or replace function {schema}.{inbox_purge}(
    p_sources     text[] default null,
    p_message_ids text[] default null,
    p_source      text default null,
    p_topic       text default null,
    p_until       timestamptz default null,
    p_limit       integer default 1000,
    p_all         boolean default false
) returns table (messages integer, until timestamptz)
    language plpgsql
{plan:index}
as $sql$
declare
    v_until timestamptz := coalesce(p_until, clock_timestamp());
    v_dead  tid[];
    v_count integer;
begin
    v_dead := {schema}.{inbox_pick_dead}(p_sources, p_message_ids, p_source, p_topic, v_until, p_limit, p_all);
    delete from {schema}.{inbox_redelivery} r
     using {schema}.{inbox} m
     where m.ctid = any (v_dead) and r.source = m.source and r.message_id = m.message_id;
    delete from {schema}.{inbox} m
     where m.ctid = any (v_dead);
    get diagnostics v_count = row_count;
    return query select v_count, v_until;
end
$sql$;
