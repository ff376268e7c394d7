-- Timers: how they are written, found by their keys, and handed off to the outbox. The other verbs are those of every queue.

-- Writes a timer. It is due at p_due_at, or p_delay from now. Of one unique key there is one timer in a topic at most: a second one
-- replaces it, if p_replace says so, or leaves it as it is. Returns the id of the timer that stands.
--
-- One that is replaced keeps its id, but becomes a message under the id of this call: who repeats the call because its answer was
-- lost finds out by it. If somebody is handling the timer, it is lost to him; what he has done stays done, and it is due again.
create or replace function {schema}.{outbox_timer_schedule}(
    p_topic          text,
    p_payload        text,
    p_due_at         timestamptz default null,
    p_delay          interval default null,
    p_unique_key     text default null,
    p_replace        boolean default true,
    p_correlation_id text default null,
    p_headers        jsonb default null,
    p_id             uuid default null,
    p_notify         boolean default true
) returns uuid
    language plpgsql
{plan:index}
as $sql$
declare
    v_now timestamptz;
    v_due timestamptz;
    v_id  uuid := coalesce(p_id, {schema}.windlass_new_id());
    v_old boolean;
begin
    if (p_due_at is null) = (p_delay is null) then
        perform {schema}.{outbox_timer_check_due}(p_due_at, p_delay);
    end if;
    perform pg_current_xact_id();
    loop
        v_now := clock_timestamp();
        v_due := coalesce(p_due_at, v_now + p_delay);
        if p_unique_key is null then
            insert into {schema}.{outbox_timer} (id, created_at, due_at, next_attempt_at, topic, correlation_id, headers, payload)
            values (v_id, v_now, v_due, greatest(v_now, v_due), p_topic, nullif(p_correlation_id, ''), p_headers, p_payload);
            exit;
        end if;
        if p_replace is not true then -- who finds one lets it not be done before he commits, and keeps no other finder waiting
            select t.id into v_id
              from {schema}.{outbox_timer} t
             where t.topic = p_topic and t.unique_key = p_unique_key and t.status < 2
               for key share;
            if found then
                return v_id;
            end if;
            v_id := coalesce(p_id, {schema}.windlass_new_id());
        end if;
        insert into {schema}.{outbox_timer} as t
            (id, created_at, due_at, next_attempt_at, topic, unique_key, correlation_id, headers, payload)
        values (v_id, v_now, v_due, greatest(v_now, v_due), p_topic, p_unique_key, nullif(p_correlation_id, ''), p_headers,
                p_payload)
        on conflict (topic, unique_key) where unique_key is not null and status < 2 do update
           set message_id = excluded.id, due_at = excluded.due_at,
               next_attempt_at = excluded.next_attempt_at, status = 0, locked_until = null, owner_token = null,
               retry_count = 0, lease_expiries = 0, crashes = 0, correlation_id = excluded.correlation_id, last_error = null,
               headers = excluded.headers, payload = excluded.payload
         where p_replace
        returning t.id, t.message_id is not null into v_id, v_old;
        if found then
            if v_old then
                delete from {schema}.{outbox_timer_failure} h where h.message_id = v_id;
            end if;
            exit;
        end if;
        select t.id into v_id
          from {schema}.{outbox_timer} t
         where t.topic = p_topic and t.unique_key = p_unique_key and t.status < 2;
        if found then
            return v_id;
        end if; -- else it has just been done or cancelled
        v_id := coalesce(p_id, {schema}.windlass_new_id());
    end loop;
    if p_notify and v_due < v_now + interval '1 minute' then -- nobody who looks for timers sleeps longer than that
        perform pg_notify({outbox_timer_channel}, 'ready');
    end if;
    return v_id;
end
$sql$;

-- Refuses a timer that has no due time, or two.
create or replace function {schema}.{outbox_timer_check_due}(p_due_at timestamptz, p_delay interval) returns void
    language plpgsql
as $sql$
begin
    raise exception 'expected a due time or a delay, got %', case when p_due_at is null then 'neither' else 'both' end
        using errcode = 'invalid_parameter_value', hint = 'Give p_due_at, or p_delay, for example interval ''1 hour''.';
end
$sql$;

-- Writes many timers in one round trip. An array of optional values may be null as a whole. Returns the ids of the timers that
-- stand, in the order of the arrays. Those with a unique key are written in the order of their keys, so that two calls cannot
-- deadlock; of several with one key, in the order of the arrays.
create or replace function {schema}.{outbox_timer_schedule_all}(
    p_ids             uuid[],
    p_topics          text[],
    p_payloads        text[],
    p_due_ats         timestamptz[] default null,
    p_delays          interval[] default null,
    p_unique_keys     text[] default null,
    p_replaces        boolean[] default null,
    p_correlation_ids text[] default null,
    p_headers         text[] default null,
    p_notify          boolean default true
) returns uuid[]
    language plpgsql
as $sql$
declare
    v_now  timestamptz;
    v_ids  uuid[] := coalesce(p_ids, array(select {schema}.windlass_new_id() from unnest(p_topics)));
    v_soon boolean;
    v_each record;
begin
    perform {schema}.windlass_check_lengths(
        cardinality(p_topics), coalesce(cardinality(p_payloads), -1), cardinality(p_ids), cardinality(p_due_ats),
        cardinality(p_delays), cardinality(p_unique_keys), cardinality(p_replaces), cardinality(p_correlation_ids),
        cardinality(p_headers));
    perform {schema}.{outbox_timer_check_due}(e.due_at, e.delay)
       from unnest(p_topics, p_due_ats, p_delays) as e (topic, due_at, delay)
      where (e.due_at is null) = (e.delay is null);
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    with written as (
        insert into {schema}.{outbox_timer} (id, created_at, due_at, next_attempt_at, topic, correlation_id, headers, payload)
        select e.id, v_now, coalesce(e.due_at, v_now + e.delay), greatest(v_now, coalesce(e.due_at, v_now + e.delay)), e.topic,
               nullif(e.correlation_id, ''), e.headers::jsonb, e.payload
          from unnest(v_ids, p_topics, p_payloads, p_due_ats, p_delays, p_unique_keys, p_correlation_ids, p_headers)
               as e (id, topic, payload, due_at, delay, unique_key, correlation_id, headers)
         where e.unique_key is null
        returning due_at)
    select min(written.due_at) < v_now + interval '1 minute' into v_soon from written;
    if p_unique_keys is not null then
        for v_each in
            select e.*
              from unnest(v_ids, p_topics, p_payloads, p_due_ats, p_delays, p_unique_keys, p_replaces, p_correlation_ids, p_headers)
                   with ordinality
                   as e (id, topic, payload, due_at, delay, unique_key, replace, correlation_id, headers, place)
             where e.unique_key is not null
             order by e.topic collate "C", e.unique_key collate "C", e.place
        loop
            v_ids[v_each.place] := {schema}.{outbox_timer_schedule}(
                v_each.topic, v_each.payload, v_each.due_at, v_each.delay, v_each.unique_key, coalesce(v_each.replace, true),
                v_each.correlation_id, v_each.headers::jsonb, v_each.id, p_notify);
        end loop;
    end if;
    if p_notify and v_soon then
        perform pg_notify({outbox_timer_channel}, 'ready');
    end if;
    return v_ids;
end
$sql$;

-- Lets due timers become messages, the oldest first, at most p_limit of them, from a bound on which is proved as in claim. Also those
-- of paused topics: a pause is for programs that claim timers; their messages wait if that topic of the outbox is paused.
-- Returns how many, the topics they went to, where the last of them was, the numbers for the proof, how many microseconds
-- remain until the next one is due, at most a day, zero or less when one is due now, null when there is none; and the time.
create or replace function {schema}.{outbox_timer_hand_off}(
    p_limit    integer default 1000,
    p_after_at timestamptz default null,
    p_after_id uuid default null,
    out handed        integer,
    out topics        text[],
    out last_at       timestamptz,
    out last_id       uuid,
    out claim_number  bigint,
    out snapshot_xmin bigint,
    out next_due      bigint,
    out server_time   timestamptz,
    out first_at      timestamptz
)
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now      timestamptz := clock_timestamp();
    v_after_at timestamptz := coalesce(p_after_at, '-infinity');
    v_after_id uuid := coalesce(p_after_id, '00000000-0000-0000-0000-000000000000');
    v_ids      uuid[];
begin
    select coalesce(array_agg(d.id order by d.next_attempt_at, d.id), '{}'), min(d.next_attempt_at), max(d.next_attempt_at),
           pg_snapshot_xmin(pg_current_snapshot())::text::bigint
      into v_ids, first_at, last_at, snapshot_xmin
      from (select t.id, t.next_attempt_at
              from {schema}.{outbox_timer} t
             where t.status = 0
               and t.next_attempt_at <= v_now
               and (t.next_attempt_at, t.id) > (v_after_at, v_after_id)
             order by t.next_attempt_at, t.id
             limit p_limit
               for update skip locked) d;
    handed := cardinality(v_ids);
    claim_number := pg_current_xact_id()::text::bigint; -- also without any: who looks again learns what has been open since
    if handed > 0 then
        last_id := v_ids[handed];
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
        begin
            topics := {schema}.{outbox_timer_deliver}(v_ids);
        exception
            when others or assert_failure then
                topics := {schema}.{outbox_timer_deliver_each}(v_ids);
        end;
        perform pg_notify({channel}, 'ready ' || t.topic) from unnest(topics) as t (topic);
    end if;
    server_time := clock_timestamp();
    next_due := (select ceil(extract(epoch from least(t.next_attempt_at, server_time + interval '1 day') - server_time) * 1000000)
                   from {schema}.{outbox_timer} t
                  where t.status = 0
                    and (t.next_attempt_at, t.id) > (v_after_at, v_after_id)
                  order by t.next_attempt_at, t.id
                  limit 1);
end
$sql$;

-- Deletes timers that the caller has locked, and writes them as messages. Returns their topics.
create or replace function {schema}.{outbox_timer_deliver}(p_ids uuid[]) returns text[]
    language plpgsql
{plan:index}
    set lock_timeout = '5ms'
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[];
    v_tried  uuid[];
begin
    with done as (
        delete from {schema}.{outbox_timer} t where t.id = any (p_ids)
        returning t.id, t.message_id, t.due_at, t.topic, t.correlation_id, t.headers, t.payload,
                  t.retry_count + t.lease_expiries + t.requeues > 0 as tried),
    written as (
        insert into {schema}.{outbox} (id, created_at, next_attempt_at, due_at, topic, source, correlation_id, headers, payload)
        select coalesce(done.message_id, done.id), v_now, v_now, done.due_at, done.topic, 'timer',
               coalesce(done.correlation_id, 'timer-' || done.id), done.headers, done.payload
          from done
        returning topic)
    select coalesce((select array_agg(distinct written.topic) from written), '{}'), -- a trigger may leave them out
           (select array_agg(done.id) from done where done.tried)
      into v_topics, v_tried;
    if v_tried is not null then
        delete from {schema}.{outbox_timer_failure} h where h.message_id = any (v_tried);
    end if;
    return v_topics;
end
$sql$;

-- How late timers became messages, for each hour in which they were due, the latest first: of the p_most timers that were done last, and
-- the p_most that failed last, as far as they are among twenty times as many messages of the outbox, 200,000 at most. What was left out
-- ended earlier, so an hour is all there unless it began before the end of what was looked at: "more". What a message was before its
-- end tells nothing new: an outbox that does not keep what is done has only the failed ones.
create or replace function {schema}.{outbox_timer_delays}(p_most integer default 1000) returns setof {schema}.windlass_delay
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_messages bigint := greatest(p_most, least(20 * p_most::bigint, 200000));
begin
    perform {schema}.windlass_check_most(p_most);
    return query
    with timers as materialized (
        select ended.status, m.due_at, m.ended_at, greatest(0, round(extract(epoch from m.created_at - m.due_at) * 1000)) as late
          from unnest(array[2, 3]) as ended (status)
         cross join lateral (
               select l.created_at, l.due_at, l.ended_at
                 from (select o.created_at, o.due_at, o.ended_at, o.source
                         from {schema}.{outbox} o
                        where o.status = ended.status and o.ended_at is not null
                        order by o.ended_at desc
                        limit v_messages) l
                where l.source = 'timer' and isfinite(l.due_at)
                limit p_most) m),
    looked as ( -- back to where, if not all were looked at
        select case when (select count(*) from timers t where t.status = ended.status) = p_most
                    then (select min(t.ended_at) from timers t where t.status = ended.status)
                    else (select o.ended_at
                            from {schema}.{outbox} o
                           where o.status = ended.status and o.ended_at is not null
                           order by o.ended_at desc
                          offset v_messages - 1
                           limit 1)
               end as since
          from unnest(array[2, 3]) as ended (status))
    select date_trunc('hour', d.due_at, 'UTC'), count(*), round(avg(d.late))::bigint,
           percentile_disc(0.99) within group (order by d.late)::bigint, max(d.late)::bigint,
           coalesce(date_trunc('hour', d.due_at, 'UTC') < (select max(l.since) from looked l), false)
      from timers d
     group by date_trunc('hour', d.due_at, 'UTC')
     order by 1 desc;
end
$sql$;

-- What is written down about an error: nothing that may quote a row.
create or replace function {schema}.{outbox_error}(p_state text, p_constraint text) returns text
    language plpgsql
as $sql$
begin
    return 'the database refuses its message (SQLSTATE ' || p_state || coalesce(', constraint ' || nullif(p_constraint, ''), '') || ')';
end
$sql$;

-- The same one by one, after it failed for all together: one that cannot become a message is put off, with the reason, and the
-- others go on, also those that come after a whole batch of such. One that has become a message already, because it was written
-- twice, is done. One behind which something is locked stays due, and so does one that cannot be changed at all.
create or replace function {schema}.{outbox_timer_deliver_each}(p_ids uuid[]) returns text[]
    language plpgsql
{plan:each}
as $sql$
declare
    v_id         uuid;
    v_topics     text[];
    v_state      text;
    v_constraint text;
    v_waits      integer := 0;
begin
    foreach v_id in array p_ids loop
        begin
            v_topics := v_topics || {schema}.{outbox_timer_deliver}(array[v_id]);
        exception
            when others or assert_failure then
                get stacked diagnostics v_state = returned_sqlstate, v_constraint = constraint_name;
                v_waits := v_waits + (v_state = '55P03')::integer;
                exit when v_waits = 50;
                begin
                    if exists (select
                                 from {schema}.{outbox_timer} t
                                 join {schema}.{outbox} m on m.id = coalesce(t.message_id, t.id)
                                where t.id = v_id) then
                        delete from {schema}.{outbox_timer} t where t.id = v_id;
                        delete from {schema}.{outbox_timer_failure} h where h.message_id = v_id;
                    elsif v_state <> '55P03' then
                        update {schema}.{outbox_timer} t
                           set retry_count = t.retry_count + 1, last_error = {schema}.{outbox_error}(v_state, v_constraint),
                               next_attempt_at = clock_timestamp() + make_interval(secs => least(2 ^ least(t.retry_count, 6), 60))
                         where t.id = v_id;
                    end if;
                exception
                    when others or assert_failure then
                        null;
                end;
        end;
    end loop;
    return array(select distinct unnest(v_topics));
end
$sql$;
