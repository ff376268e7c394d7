-- A queue whose messages are claimed by topic. What its verbs have in common stands with those for messages in progress.

-- Takes up to p_limit ready and due messages, at most p_places[i] of topic p_topics[i] and about p_bytes of payload, for
-- p_lease; the first one whatever its size. Without topics, of whatever topic there is, in random order, so that a full one
-- cannot keep the others waiting. Expired messages are left to expire(); paused topics are left alone, and of limited ones only as
-- many are taken as their limits leave.
--
-- Of a topic, the priorities of p_priorities come one after the other. With p_ageing that one comes first whose oldest message has
-- waited longest, where each step of priority counts as if it had waited for so much longer.
--
-- Under an open snapshot the dead entries of claimed messages stay in the index, and every claim would step over all of
-- them. So a claimer gives, for each topic and each priority, the position (next_attempt_at, id) up to which it knows that nothing
-- is left; the arrays have those of the first topic first.
-- How it knows: let F be the number of a claim's transaction that reached position P. Whoever stamped a message at or before
-- P did so before that claim read its clock, and had its own transaction number by then, so that number is below F. Once a
-- later claim from the old bound reaches past P in a snapshot with xmin > F, all of those transactions had ended in that
-- snapshot, and the claim has seen what they committed. What a claim itself makes ready, and takes, has a later stamp than
-- it can prove: it gets the time that the claim has read before it had its number.
--
-- With p_each it takes them one by one, and leaves those that a constraint or a trigger of the user's refuses; up to a thousand
-- of each topic. If all are refused, it fails as the last one did.
create or replace function {schema}.{queue_claim}(
    p_owner      uuid,
    p_lease      interval,
    p_limit      integer,
    p_topics     text[] default null,
    p_places     integer[] default null,
    p_after_ats  timestamptz[] default null,
    p_after_ids  uuid[] default null,
    p_bytes      bigint default null,
    p_each       boolean default false,
    p_priorities integer[] default {priorities},
    p_ageing     interval default null
) returns setof {schema}.{queue}
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now     timestamptz := clock_timestamp();
    v_proved  timestamptz := v_now;
    v_bytes   bigint := coalesce(p_bytes, 9223372036854775807);
    v_most    bigint := p_limit;
    v_topics  text[];
    v_places  integer[];
    v_allowed integer[];
    v_paused  text[];
    v_limited text[];
    v_ids     uuid[] := '{}';
    v_keyed   uuid[] := '{}';
    v_found   record;
    v_counts  jsonb := '{}';
    v_size    bigint := 0;
    v_taken   uuid[] := '{}';
    v_refused uuid;
begin
    perform {schema}.windlass_check_lease(p_lease);
    if p_topics is not null then
        perform {schema}.windlass_check_lengths(cardinality(p_topics), cardinality(p_places));
        perform {schema}.windlass_check_lengths(cardinality(p_topics) * cardinality(p_priorities), cardinality(p_after_ats),
                                                cardinality(p_after_ids));
    end if;
    {slot:claiming}
    v_topics := coalesce(p_topics, array(select t from (select distinct {schema}.{queue_ready_topics}() as t) r order by random()));
    v_places := coalesce(p_places, array_fill(p_limit, array[cardinality(v_topics)]));
    select coalesce(array_agg(t.topic) filter (where t.paused_at is not null), '{}'),
           array_agg(t.topic) filter (where num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0)
      into v_paused, v_limited
      from {schema}.windlass_topic t
     where t.queue = {queue_name};
    if v_limited && v_topics then
        v_places := {schema}.{queue_limited_places}(v_topics, v_places, v_limited);
        v_now := clock_timestamp();
    end if;
    v_allowed := v_places;
    if p_each then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
        v_most := v_most + 1000;
        v_bytes := 9223372036854775807;
        v_places := array(select least(p.places, p_limit) + 1000 from unnest(v_places) with ordinality as p (places, number) order by p.number);
    end if;
    {slot:picking}
    v_ids := v_keyed || array(
        select s.id
          from (select f.id, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
                  from unnest(v_topics, v_places) with ordinality as want (topic, places, number)
                 cross join lateral (
                       select r.id, r.size
                         from (select l.priority, (want.number - 1) * cardinality(p_priorities) + l.number as place
                                 from unnest(p_priorities) with ordinality as l (priority, number)
                                order by case when p_ageing is not null then
                                              (select o.next_attempt_at
                                                 from {schema}.{queue} o
                                                where o.status = 0 and not o.keyed and o.topic = want.topic and o.priority = l.priority
                                                  and o.next_attempt_at <= v_now
                                                  and (o.next_attempt_at, o.id)
                                                      > (coalesce(p_after_ats[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '-infinity'),
                                                         coalesce(p_after_ids[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '00000000-0000-0000-0000-000000000000'))
                                                order by o.next_attempt_at, o.id
                                                limit 1) - l.priority * p_ageing end, l.number) level
                        cross join lateral (
                              select m.id, octet_length(m.payload) as size
                                from {schema}.{queue} m
                               where m.status = 0
                                 and not m.keyed
                                 and m.topic = want.topic
                                 and m.priority = level.priority
                                 and m.next_attempt_at <= v_now
                                 and (m.next_attempt_at, m.id)
                                     > (coalesce(p_after_ats[level.place], '-infinity'),
                                        coalesce(p_after_ids[level.place], '00000000-0000-0000-0000-000000000000'))
                                 and (m.expires_at is null or m.expires_at > v_now)
                               order by m.next_attempt_at, m.id
                               limit want.places
                                 for update skip locked) r
                        limit want.places) f
                 where want.topic <> all (v_paused)
                 limit v_most - cardinality(v_keyed)) s
         where p_each or s.before is null or s.before < v_bytes);
    if cardinality(v_ids) = 0 then
        {slot:found_none}
    end if;
    if p_each then
        for v_found in
            select m.id, m.topic, octet_length(m.payload) as size
              from unnest(v_ids) with ordinality as p (id, number)
              join {schema}.{queue} m on m.id = p.id
             order by p.number
        loop
            exit when cardinality(v_taken) >= p_limit or v_size >= p_bytes;
            continue when coalesce((v_counts ->> v_found.topic)::integer, 0)
                          >= v_allowed[array_position(v_topics, v_found.topic)];
            begin
                update {schema}.{queue} m
                   set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
                       next_attempt_at = least(m.next_attempt_at, v_proved)
                 where m.id = v_found.id;
                v_taken := v_taken || v_found.id;
                v_counts := v_counts || jsonb_build_object(v_found.topic, coalesce((v_counts ->> v_found.topic)::integer, 0) + 1);
                v_size := v_size + v_found.size;
            exception when others or assert_failure then
                v_refused := v_found.id;
            end;
        end loop;
        v_ids := case when cardinality(v_taken) = 0 and v_refused is not null then array[v_refused] else v_taken end;
    end if;
    if v_limited && v_topics then
        perform {schema}.{queue_note_starts}(v_ids, v_limited, v_now);
    end if;
    return query
    update {schema}.{queue} m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
           next_attempt_at = least(m.next_attempt_at, v_proved)
     where m.id = any (v_ids)
    returning m.*; -- once more for those that were taken one by one; and if all were refused, it fails in the words of who refuses
end
$sql$;

-- How many of these topics may be claimed, where they have limits. Whoever learns it holds the rows of the limits until its commit, so that
-- the next one counts what it has taken. A topic whose row somebody else holds for longer than a moment gets no place now.
create or replace function {schema}.{queue_limited_places}(p_topics text[], p_places integer[], p_limited text[]) returns integer[]
    language plpgsql
{plan:index}
    set lock_timeout = '20ms'
as $sql$
declare
    v_places integer[] := p_places;
    v_topic  text;
    v_limit  {schema}.windlass_topic;
    v_now    timestamptz;
    v_room   integer;
begin
    for v_topic in select l.topic from unnest(p_limited) as l (topic) where l.topic = any (p_topics) order by l.topic loop
        begin
            select t.* into v_limit from {schema}.windlass_topic t where t.queue = {queue_name} and t.topic = v_topic for update;
        exception
            when lock_not_available then
                v_places[array_position(p_topics, v_topic)] := 0;
                continue;
        end;
        if current_setting('transaction_isolation') <> 'read committed' then -- no new snapshot: who counts with an old one has to fail
            update {schema}.windlass_topic t set topic = t.topic where t.queue = {queue_name} and t.topic = v_topic;
        end if;
        v_now := clock_timestamp();
        v_room := v_places[array_position(p_topics, v_topic)];
        if v_limit.max_running is not null then
            v_room := least(v_room, v_limit.max_running - cardinality({schema}.{queue_in_progress}(v_topic, v_now)));
        end if;
        if v_limit.rate is not null then
            delete from {schema}.windlass_start s
             where s.queue = {queue_name} and s.topic = v_topic and s.started_at <= v_now - v_limit.rate_period;
            v_room := least(v_room, v_limit.rate - (select coalesce(sum(s.messages), 0)
                                                      from {schema}.windlass_start s
                                                     where s.queue = {queue_name} and s.topic = v_topic));
        end if;
        v_places[array_position(p_topics, v_topic)] := greatest(v_room, 0);
    end loop;
    return v_places;
end
$sql$;

-- The messages of a topic that are in progress. Those whose lease has run out are not: their rows are locked, so that no renewal that is
-- under way can bring them back. One that cannot be locked is being renewed, or ends; it counts.
create or replace function {schema}.{queue_in_progress}(p_topic text, p_now timestamptz) returns uuid[]
    language plpgsql
{plan:index}
as $sql$
declare
    v_live    uuid[];
    v_expired uuid[];
begin
    select coalesce(array_agg(m.id) filter (where m.locked_until > p_now), '{}'), array_agg(m.id) filter (where m.locked_until <= p_now)
      into v_live, v_expired
      from {schema}.{queue} m
     where m.status = 1 and m.locked_until > p_now - interval '10 minutes' and m.topic = p_topic; -- no renewal takes that long
    if v_expired is not null then
        v_live := v_live || array(
            select unnest(v_expired)
            except
            select unnest(array(select m.id
                                  from {schema}.{queue} m
                                 where m.id = any (v_expired) and (m.locked_until <= p_now or m.locked_until is null)
                                   for update skip locked)));
    end if;
    return v_live;
end
$sql$;

-- Notes what begins of topics that have a rate; their limits are locked.
create or replace function {schema}.{queue_note_starts}(p_ids uuid[], p_limited text[], p_now timestamptz) returns void
    language plpgsql
{plan:index}
as $sql$
begin
    insert into {schema}.windlass_start (queue, topic, started_at, messages)
    select {queue_name}, m.topic, p_now, count(*)
      from {schema}.{queue} m
     where m.id = any (p_ids)
       and m.topic in (select t.topic
                         from {schema}.windlass_topic t
                        where t.queue = {queue_name} and t.topic = any (p_limited) and t.rate is not null)
     group by m.topic;
end
$sql$;

-- The topics that have ready messages, due or not: one step in the index for each.
create or replace function {schema}.{queue_ready_topics}() returns setof text
    language plpgsql
    stable
{plan:order}
as $sql$
begin
    return query
    with recursive step (topic) as (
        (select m.topic
           from {schema}.{queue} m
          where m.status = 0 and not m.keyed and m.topic is not null
          order by m.topic
          limit 1)
        union all
        select (select m.topic
                  from {schema}.{queue} m
                 where m.status = 0 and not m.keyed and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
    {slot:ready_topics}
end
$sql$;

-- How many milliseconds until the next ready message of these topics is due, at most a day; zero or less when one is due
-- now, null when there is none. The bounds are those of claim.
create or replace function {schema}.{queue_next_due}(
    p_topics     text[],
    p_after_ats  timestamptz[],
    p_after_ids  uuid[],
    p_priorities integer[] default {priorities}
) returns bigint
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_due bigint;
begin
    v_due := (
        select ceil(extract(epoch from min(least(f.next_attempt_at, v_now + interval '1 day')) - v_now) * 1000)
          from unnest(p_topics) with ordinality as want (topic, number)
         cross join unnest(p_priorities) with ordinality as level (priority, number)
         cross join lateral (
               select m.next_attempt_at
                 from {schema}.{queue} m
                where m.status = 0
                  and not m.keyed
                  and m.topic = want.topic
                  and m.priority = level.priority
                  and (m.next_attempt_at, m.id) > (p_after_ats[(want.number - 1) * cardinality(p_priorities) + level.number],
                                                   p_after_ids[(want.number - 1) * cardinality(p_priorities) + level.number])
                  and (m.expires_at is null or m.expires_at > v_now)
                order by m.next_attempt_at, m.id
                limit 1) f
         where want.topic not in (select t.topic
                                    from {schema}.windlass_topic t
                                   where t.queue = {queue_name} and t.paused_at is not null));
    {slot:next_due}
    return v_due;
end
$sql$;

-- What there is to do in this queue, for whoever has nothing to do and would rather not ask one question after the other. It changes
-- nothing and waits for nobody, not even for one who rewrites the table, so that one statement can ask it of all queues. Without
-- p_topics it does not look for due messages; with p_others it also names the topics besides these that have ready ones.
create or replace function {schema}.{queue_look}(p_topics text[] default null, p_others boolean default false)
    returns {schema}.windlass_look
    language plpgsql
{plan:index}
    set lock_timeout = '100ms'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_look {schema}.windlass_look;
begin
    if p_topics is not null then
        v_look.due_in := {schema}.{queue_next_due}(
            p_topics, array_fill('-infinity'::timestamptz, array[cardinality(p_topics) * cardinality({priorities})]),
            array_fill('00000000-0000-0000-0000-000000000000'::uuid, array[cardinality(p_topics) * cardinality({priorities})]));
    end if;
    v_look.expires_in := (select ceil(extract(epoch from least(m.expires_at, v_now + interval '1 day') - v_now) * 1000)
                            from {schema}.{queue} m
                           where m.status in (0, 4) and m.expires_at is not null
                           order by m.expires_at
                           limit 1);
    v_look.leased := exists (select from {schema}.{queue} m where m.status = 1 and m.locked_until is not null);
    if p_others and p_topics is not null then
        v_look.others := array(select t.topic from {schema}.{queue_ready_topics}() as t (topic) except select unnest(p_topics));
    end if;
    {slot:looking}
    return v_look;
end
$sql$;

-- Ends messages whose expiry has passed as failed, ready ones and such that wait for their turn. Returns how many.
create or replace function {schema}.{queue_expire}(p_limit integer default 1000) returns integer
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[];
begin
    v_ids := array(select r.id
                     from {schema}.{queue} r
                    where r.status in (0, 4) and r.expires_at is not null and r.expires_at <= v_now
                    order by r.expires_at
                    limit p_limit
                      for update skip locked);
    return {schema}.{queue_maintain}('expire', v_ids);
end
$sql$;

-- Deletes what has been done or cancelled for longer than p_keep. Returns how many.
create or replace function {schema}.{queue_clean}(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
as $sql$
begin
    return (select c.deleted from {schema}.{queue_clean_after}(p_keep, p_limit, '-infinity') c);
end
$sql$;

-- The same for those who delete many in a row: of what is done, it looks only at what ended at p_after or later, and tells how far it has
-- come. Under an open snapshot the entries of what has been deleted stay in the index, and whoever begins at the start steps over
-- them. What was locked, or was committed very late, is left behind: begin at the start now and then.
create or replace function {schema}.{queue_clean_after}(
    p_keep  interval,
    p_limit integer,
    p_after timestamptz,
    out deleted integer,
    out reached timestamptz
)
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_ids    uuid[];
begin
    {slot:cleaning}
    select coalesce(array_agg(l.id), '{}'), max(l.ended_at)
      into v_ids, reached
      from (select r.id, r.ended_at
              from {schema}.{queue} r
             where r.status = 2 and r.id is not null and r.ended_at >= p_after and r.ended_at < v_before
             order by r.ended_at
             limit p_limit
               for update skip locked) l;
    v_ids := v_ids || array(select r.id
                              from {schema}.{queue} r
                             where r.status = 5 and r.id is not null and r.ended_at < v_before
                             order by r.ended_at
                             limit p_limit - cardinality(v_ids)
                               for update skip locked);
    deleted := {schema}.{queue_maintain}('clean', v_ids);
end
$sql$;
