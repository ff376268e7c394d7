-- A queue whose messages are claimed by topic. What its verbs have in common stands with those for messages in progress.

-- Takes up to p_limit ready and due messages, at most p_places[i] of topic p_topics[i] and about p_bytes of payload, for
-- p_lease; the first one whatever its size. Without topics, of whatever topic there is, in random order, so that a full one
-- cannot keep the others waiting. Expired messages are left to expire(); paused topics are left alone.
--
-- Under an open snapshot the dead entries of claimed messages stay in the index, and every claim would step over all of
-- them. So a claimer gives, for each topic, the position (next_attempt_at, id) up to which it knows that nothing is left.
-- How it knows: let F be the number of a claim's transaction that reached position P. Whoever stamped a message at or before
-- P did so before that claim read its clock, and had its own transaction number by then, so that number is below F. Once a
-- later claim from the old bound reaches past P in a snapshot with xmin > F, all of those transactions had ended in that
-- snapshot, and the claim has seen what they committed. What a claim itself makes ready, and takes, has a later stamp than
-- it can prove: it gets the time that the claim has read before it had its number.
--
-- With p_each it takes them one by one, and leaves those that a constraint or a trigger of the user's refuses; up to a thousand
-- of each topic. If all are refused, it fails as the last one did.
create or replace function {schema}.{queue_claim}(
    p_owner     uuid,
    p_lease     interval,
    p_limit     integer,
    p_topics    text[] default null,
    p_places    integer[] default null,
    p_after_ats timestamptz[] default null,
    p_after_ids uuid[] default null,
    p_bytes     bigint default null,
    p_each      boolean default false
) returns setof {schema}.{queue}
    language plpgsql
{plan:index}
as $sql$
declare
    v_now     timestamptz := clock_timestamp();
    v_proved  timestamptz := v_now;
    v_bytes   bigint := coalesce(p_bytes, 9223372036854775807);
    v_paused  text[] := array(select p.topic from {schema}.windlass_pause p where p.queue = {queue_name});
    v_topics  text[];
    v_found   record;
    v_topic   text;
    v_here    integer;
    v_size    bigint := 0;
    v_taken   uuid[] := '{}';
    v_refused uuid;
begin
    perform {schema}.windlass_check_lease(p_lease);
    if p_topics is not null then
        perform {schema}.windlass_check_lengths(cardinality(p_topics), cardinality(p_places), cardinality(p_after_ats),
                                                cardinality(p_after_ids));
    end if;
    {slot:claiming}
    v_topics := coalesce(p_topics, array(select t from {schema}.{queue_ready_topics}() t order by random()));
    if p_each then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
        for v_found in
            select f.id, f.size, want.topic, want.places
              from unnest(v_topics, p_places, p_after_ats, p_after_ids) as want (topic, places, after_at, after_id)
             cross join lateral (
                   select r.id, octet_length(r.payload) as size
                     from {schema}.{queue} r
                    where r.status = 0
                      and r.topic = want.topic
                      and r.next_attempt_at <= v_now
                      and (r.next_attempt_at, r.id) > (coalesce(want.after_at, '-infinity'),
                                                       coalesce(want.after_id, '00000000-0000-0000-0000-000000000000'))
                      and (r.expires_at is null or r.expires_at > v_now)
                    order by r.next_attempt_at, r.id
                    limit coalesce(want.places, p_limit)::bigint + 1000
                      for update skip locked) f
             where want.topic <> all (v_paused)
        loop
            exit when cardinality(v_taken) >= p_limit or v_size >= v_bytes;
            if v_topic is distinct from v_found.topic then
                v_topic := v_found.topic;
                v_here := 0;
            end if;
            continue when v_here >= v_found.places;
            begin
                update {schema}.{queue} m
                   set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
                       next_attempt_at = least(m.next_attempt_at, v_proved)
                 where m.id = v_found.id;
                v_taken := v_taken || v_found.id;
                v_here := v_here + 1;
                v_size := v_size + v_found.size;
            exception when others or assert_failure then
                v_refused := v_found.id;
            end;
        end loop;
        if cardinality(v_taken) = 0 and v_refused is not null then
            update {schema}.{queue} m
               set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false
             where m.id = v_refused; -- fails in the words of who refuses it
            v_taken := array[v_refused];
        end if;
        return query select m.* from {schema}.{queue} m where m.id = any (v_taken);
        return;
    end if;
    return query
    update {schema}.{queue} m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
           next_attempt_at = least(m.next_attempt_at, v_proved)
     where m.id = any (array(
               select s.id
                 from (select f.id, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
                         from unnest(v_topics, p_places, p_after_ats, p_after_ids) as want (topic, places, after_at, after_id)
                        cross join lateral (
                              select r.id, octet_length(r.payload) as size
                                from {schema}.{queue} r
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
                        limit p_limit) s
                where s.before is null or s.before < v_bytes))
    returning m.*;
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
        (select m.topic from {schema}.{queue} m where m.status = 0 and m.topic is not null order by m.topic limit 1)
        union all
        select (select m.topic
                  from {schema}.{queue} m
                 where m.status = 0 and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
end
$sql$;

-- How many milliseconds until the next ready message of these topics is due, at most a day; zero or less when one is due
-- now, null when there is none. The bounds are those of claim.
create or replace function {schema}.{queue_next_due}(
    p_topics    text[],
    p_after_ats timestamptz[],
    p_after_ids uuid[]
) returns bigint
    language plpgsql
    stable
{plan:index}
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
                 from {schema}.{queue} m
                where m.status = 0
                  and m.topic = want.topic
                  and (m.next_attempt_at, m.id) > (want.after_at, want.after_id)
                  and (m.expires_at is null or m.expires_at > v_now)
                order by m.next_attempt_at, m.id
                limit 1) f
         where not exists (select from {schema}.windlass_pause p where p.queue = {queue_name} and p.topic = want.topic));
    {slot:next_due}
    return v_due;
end
$sql$;

-- Ends messages whose expiry has passed as failed, ready ones and such that wait for their turn. Returns how many.
create or replace function {schema}.{queue_expire}(p_limit integer default 1000) returns integer
    language plpgsql
{plan:index}
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
{plan:index}
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_ids    uuid[];
begin
    {slot:cleaning}
    v_ids := array(select r.id
                     from {schema}.{queue} r
                    where r.status = 2 and r.id is not null and r.ended_at < v_before
                    order by r.ended_at
                    limit p_limit
                      for update skip locked);
    v_ids := v_ids || array(select r.id
                              from {schema}.{queue} r
                             where r.status = 5 and r.id is not null and r.ended_at < v_before
                             order by r.ended_at
                             limit p_limit - cardinality(v_ids)
                               for update skip locked);
    return {schema}.{queue_maintain}('clean', v_ids);
end
$sql$;
