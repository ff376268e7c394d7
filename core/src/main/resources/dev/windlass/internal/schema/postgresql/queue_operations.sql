-- What programs and operators do to messages of a queue that nobody is handling. What an operator does is recorded in the same
-- transaction: who, when, what, and to how many messages.

-- One message, in whatever state.
create or replace function {schema}.{queue_find}(p_id uuid) returns setof {schema}.{queue}
    language plpgsql
    stable
{plan:index}
as $sql$
begin
    return query select m.* from {schema}.{queue} m where m.id = p_id;
end
$sql$;

-- The attempts of a message that failed, the oldest first.
create or replace function {schema}.{queue_failures}(p_id uuid) returns setof {schema}.{queue_failure}
    language plpgsql
    stable
as $sql$
begin
    return query select h.* from {schema}.{queue_failure} h where h.message_id = p_id order by h.failed_at;
end
$sql$;

-- Ends messages that nobody has claimed as cancelled; they are gone at once unless p_keep says otherwise. Returns how many;
-- others, claimed or ended, stay as they are.
create or replace function {schema}.{queue_cancel}(p_ids uuid[], p_keep boolean default {keeps}) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_ids uuid[];
begin
    perform {schema}.windlass_check_ids(p_ids);
    v_ids := {schema}.{queue_lock}(p_ids, array[0, 4]);
    if p_keep or exists (select from {schema}.{queue} m where m.id = any (v_ids) and m.awaited) then
        perform {schema}.{queue_end_unclaimed}(v_ids, 5::smallint, null);
    end if;
    if not p_keep and {schema}.{queue_remove}(v_ids) < cardinality(v_ids) then -- what cannot be deleted now is cancelled all the same
        perform {schema}.{queue_end_unclaimed}(
            array(select m.id from {schema}.{queue} m where m.id = any (v_ids) and m.status + 0 in (0, 4)), 5::smallint, null);
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Moves the due time of messages that nobody has claimed: to p_due_at, or p_delay from now, or now. Returns how many.
create or replace function {schema}.{queue_reschedule}(
    p_ids    uuid[],
    p_due_at timestamptz default null,
    p_delay  interval default null,
    p_notify boolean default true
) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_ids uuid[];
    v_now timestamptz;
    v_due timestamptz;
begin
    perform {schema}.windlass_check_ids(p_ids);
    perform {schema}.windlass_check_times(p_due_at, p_delay);
    v_ids := {schema}.{queue_lock}(p_ids, array[0, 4]);
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    v_due := coalesce(p_due_at, v_now + p_delay, v_now);
    update {schema}.{queue} m
       set due_at = v_due, next_attempt_at = greatest(v_now, v_due)
     where m.id = any (v_ids);
    if p_notify and cardinality(v_ids) > 0 then
        perform pg_notify({channel}, 'ready');
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Messages without their content: of a state, a topic, a source, a time and a part of the last error, where these are given.
-- The time is that of the state: when a ready message is due, when the attempt of one in progress began, when one ended; if no
-- state is asked for, when it was created. Unfinished ones of a state come the oldest first; ended ones, and those of all states,
-- the latest first. The next page begins after the last one's time and id; after its key and number, where a queue has an order of
-- its own.
--
-- Each walks along an index of its state. Ready and failed ones have one by topic; among others a topic that is rare is looked for.
create or replace function {schema}.{queue_list}(
    p_limit        integer,
    p_status       integer default null,
    p_topic        text default null,
    p_source       text default null,
    p_from         timestamptz default null,
    p_until        timestamptz default null,
    p_error        text default null,
    p_after_at     timestamptz default null,
    p_after_id     uuid default null,
    p_after_key    text default null,
    p_after_number bigint default null
) returns setof {schema}.{queue_listed}
    language plpgsql
    stable
{plan:order}
as $sql$
declare
    v_from   timestamptz := coalesce(p_from, '-infinity');
    v_until  timestamptz := coalesce(p_until, 'infinity');
    v_to     timestamptz := coalesce(p_until - interval '1 microsecond', 'infinity'); -- some are due at no time
    v_after  timestamptz := coalesce(p_after_at, '-infinity');
    v_first  uuid := coalesce(p_after_id, '00000000-0000-0000-0000-000000000000');
    v_before timestamptz := coalesce(p_after_at, 'infinity');
    v_last   uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
    {slot:listing}
    if p_status is null then
        return query
        select m.*
          from {schema}.{queue_listed} m
         where m.id < v_last
           and m.created_at >= v_from and m.created_at < v_until
           and (p_topic is null or m.topic = p_topic)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.id desc
         limit p_limit;
    elsif p_status = 0 then
        return query
        select r.*
          from unnest(case when p_topic is null then array(select distinct {schema}.{queue_ready_topics}()) else array[p_topic] end) t (topic)
         cross join unnest({priorities}) level (priority)
         cross join lateral (
               select m.*
                 from {schema}.{queue_listed} m
                where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                  and m.next_attempt_at >= v_from and m.next_attempt_at <= v_to
                  and (m.next_attempt_at, m.id) > (v_after, v_first)
                  and (p_source is null or m.source = p_source)
                  and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                order by m.next_attempt_at, m.id
                limit p_limit) r
         order by r.next_attempt_at, r.id
         limit p_limit;
    elsif p_status = 1 then
        return query
        select m.*
          from {schema}.{queue_listed} m
         where m.status = 1
           and m.claimed_at >= v_from and m.claimed_at < v_until and (m.claimed_at, m.id) > (v_after, v_first)
           and (p_topic is null or m.topic = p_topic)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.claimed_at, m.id
         limit p_limit;
    elsif p_status = 3 and p_topic is not null then
        return query
        select m.*
          from {schema}.{queue_listed} m
         where m.status = 3 and m.topic = p_topic
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    else
        return query
        select m.*
          from {schema}.{queue_listed} m
         where m.status = p_status and m.ended_at is not null
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
           and (p_topic is null or m.topic = p_topic)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    end if;
end
$sql$;

-- Locks failed messages: those of p_ids, or the oldest that fit the rest; with p_whole only such that have their content. Returns
-- their ids.
create or replace function {schema}.{queue_pick_failed}(
    p_by     text,
    p_ids    uuid[],
    p_topic  text,
    p_source text,
    p_from   timestamptz,
    p_until  timestamptz,
    p_error  text,
    p_limit  integer,
    p_action bigint,
    p_all    boolean,
    p_whole  boolean
) returns uuid[]
    language plpgsql
{plan:index}
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := {schema}.windlass_action_until(p_action, p_until);
    v_ids   uuid[];
begin
    perform {schema}.windlass_check_choice(p_by, p_ids, coalesce(p_topic, p_source, p_from::text, p_until::text, p_error) is not null,
                                           p_limit, p_all);
    if p_ids is not null then
        v_ids := {schema}.{queue_lock}(p_ids, array[3]);
        return array(select m.id from {schema}.{queue} m where m.id = any (v_ids) and (m.erased_at is null or not p_whole));
    elsif p_topic is not null then
        return array(select m.id
                       from {schema}.{queue} m
                      where m.status = 3 and m.topic = p_topic and m.ended_at >= v_from and m.ended_at < v_until
                        and (p_source is null or m.source = p_source)
                        and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                        and (m.erased_at is null or not p_whole)
                      order by m.ended_at, m.id
                      limit p_limit
                        for update skip locked);
    end if;
    return array(select m.id
                   from {schema}.{queue} m
                  where m.status = 3 and m.ended_at >= v_from and m.ended_at < v_until
                    and (p_source is null or m.source = p_source)
                    and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                    and (m.erased_at is null or not p_whole)
                  order by m.ended_at, m.id
                  limit p_limit
                    for update skip locked);
end
$sql$;

-- Makes failed messages ready again: those of p_ids, or up to p_limit that fit the rest, or of all if p_all says so. They
-- lose what expiry they had, if it has passed, and their expired leases; p_reset says whether failed attempts are forgotten
-- too. Erased ones are left out.
--
-- More than p_limit take several calls; give each the action of the first, which is then one record, and touches only what
-- had failed before it began. They go from the oldest to the newest: what one call reached can be p_from of the next.
create or replace function {schema}.{queue_requeue}(
    p_by     text,
    p_ids    uuid[] default null,
    p_topic  text default null,
    p_source text default null,
    p_from   timestamptz default null,
    p_until  timestamptz default null,
    p_error  text default null,
    p_limit  integer default 1000,
    p_action bigint default null,
    p_all    boolean default false,
    p_reset  boolean default true
) returns table (action bigint, messages integer, reached timestamptz)
    language plpgsql
{plan:index}
as $sql$
declare
    v_now     timestamptz;
    v_ids     uuid[];
    v_waiting uuid[] := '{}';
begin
    v_ids := {schema}.{queue_pick_failed}(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, true);
    messages := cardinality(v_ids);
    reached := (select max(m.ended_at) from {schema}.{queue} m where m.id = any (v_ids));
    perform pg_current_xact_id();
    {slot:requeuing}
    v_now := clock_timestamp();
    update {schema}.{queue} m
       set status = case when m.id = any (v_waiting) then 4 else 0 end, owner_token = null,
           next_attempt_at = greatest(v_now, m.due_at), ended_at = null, processed_by = null, lease_expiries = 0, crashes = 0,
           retry_count = case when p_reset then 0 else m.retry_count end,
           requeues = least(m.requeues + 1, 32767),
           expires_at = case when m.expires_at > v_now then m.expires_at end
     where m.id = any (v_ids);
    if messages > 0 then
        perform pg_notify({channel}, 'ready');
    end if;
    action := {schema}.windlass_record({queue_name}, p_action, p_by, 'requeue', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error,
                                     'reset', p_reset));
    return next;
end
$sql$;

-- Deletes failed messages and their history. Otherwise as requeue.
create or replace function {schema}.{queue_purge}(
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
    v_ids uuid[];
begin
    v_ids := {schema}.{queue_pick_failed}(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, false);
    reached := (select max(m.ended_at) from {schema}.{queue} m where m.id = any (v_ids));
    messages := {schema}.{queue_remove}(v_ids);
    action := {schema}.windlass_record({queue_name}, p_action, p_by, 'purge', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error));
    return next;
end
$sql$;

-- Removes payload and headers of messages that have ended; everything else stays. Returns how many.
create or replace function {schema}.{queue_erase}(p_by text, p_ids uuid[]) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_ids uuid[];
begin
    perform {schema}.windlass_check_by(p_by);
    perform {schema}.windlass_check_ids(p_ids);
    {slot:erasing}
    v_ids := {schema}.{queue_lock}(p_ids, array[2, 3, 5]);
    v_ids := array(select m.id from {schema}.{queue} m where m.id = any (v_ids) and m.erased_at is null);
    update {schema}.{queue} m set payload = '', headers = null, erased_at = clock_timestamp() where m.id = any (v_ids);
    perform {schema}.windlass_record({queue_name}, null, p_by, 'erase', cardinality(v_ids), p_ids, '{}');
    return cardinality(v_ids);
end
$sql$;

-- Stops claims of a topic, everywhere; handlers that are at work finish. Returns whether it was not paused before.
create or replace function {schema}.{queue_pause_topic}(p_by text, p_topic text, p_reason text default null) returns boolean
    language plpgsql
as $sql$
begin
    perform {schema}.windlass_check_by(p_by);
    if p_topic is null or btrim(p_topic) = '' then
        perform {schema}.windlass_refuse('a topic', case when p_topic is null then 'null' else 'blank text' end,
                                         'Topics are paused one by one.');
    end if;
    insert into {schema}.windlass_topic as t (queue, topic, paused_at, paused_by, reason)
    values ({queue_name}, p_topic, clock_timestamp(), p_by, nullif(left(p_reason, 2048), ''))
    on conflict (queue, topic) do update
       set paused_at = excluded.paused_at, paused_by = excluded.paused_by, reason = excluded.reason
     where t.paused_at is null;
    if not found then
        return false;
    end if;
    perform {schema}.windlass_record({queue_name}, null, p_by, 'pause', 0, null, jsonb_build_object('topic', p_topic, 'reason', p_reason));
    perform pg_notify({channel}, 'topics');
    return true;
end
$sql$;

-- Lets a topic be claimed again. Returns whether it was paused.
create or replace function {schema}.{queue_resume_topic}(p_by text, p_topic text) returns boolean
    language plpgsql
as $sql$
begin
    perform {schema}.windlass_check_by(p_by);
    delete from {schema}.windlass_topic t
     where t.queue = {queue_name} and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) = 0;
    if not found then
        update {schema}.windlass_topic t
           set paused_at = null, paused_by = null, reason = null
         where t.queue = {queue_name} and t.topic = p_topic and t.paused_at is not null;
    end if;
    if not found then
        return false;
    end if;
    perform {schema}.windlass_record({queue_name}, null, p_by, 'resume', 0, null, jsonb_build_object('topic', p_topic));
    perform pg_notify({channel}, 'topics');
    return true;
end
$sql$;

-- Limits a topic over all nodes: how many are in progress at once, how many of each key, and how many begin within any time of this
-- length. What is left out is not limited. Whatever is in progress goes on. Returns whether that is a change.
create or replace function {schema}.{queue_limit_topic}(
    p_by          text,
    p_topic       text,
    p_max_running integer default null,
    p_max_per_key integer default null,
    p_rate        integer default null,
    p_rate_period interval default null
) returns boolean
    language plpgsql
as $sql$
begin
    perform {schema}.windlass_check_by(p_by);
    perform {schema}.windlass_check_limit(p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period);
    if p_max_per_key is not null and not {keyed} then
        perform {schema}.windlass_refuse('a limit without p_max_per_key, since messages of ' || {queue_name} || ' have no keys',
                                         p_max_per_key::text, 'Leave p_max_per_key out.');
    end if;
    if num_nonnulls(p_max_running, p_max_per_key, p_rate) > 0 then
        insert into {schema}.windlass_topic as t (queue, topic, max_running, max_per_key, rate, rate_period)
        values ({queue_name}, p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period)
        on conflict (queue, topic) do update
           set max_running = excluded.max_running, max_per_key = excluded.max_per_key, rate = excluded.rate,
               rate_period = excluded.rate_period
         where (t.max_running, t.max_per_key, t.rate, t.rate_period)
               is distinct from (excluded.max_running, excluded.max_per_key, excluded.rate, excluded.rate_period);
    else
        delete from {schema}.windlass_topic t where t.queue = {queue_name} and t.topic = p_topic and t.paused_at is null;
        if not found then
            update {schema}.windlass_topic t
               set max_running = null, max_per_key = null, rate = null, rate_period = null
             where t.queue = {queue_name} and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0;
        end if;
    end if;
    if not found then
        return false;
    end if;
    perform {schema}.windlass_record({queue_name}, null, p_by, 'limit', 0, null,
                jsonb_build_object('topic', p_topic, 'running', p_max_running, 'perKey', p_max_per_key, 'rate', p_rate,
                                   'period', p_rate_period));
    perform pg_notify({channel}, 'topics');
    return true;
end
$sql$;

-- The topics that are paused or limited.
create or replace function {schema}.{queue_decided_topics}() returns table (
    topic       varchar,
    paused_at   timestamptz,
    paused_by   varchar,
    reason      varchar,
    max_running integer,
    max_per_key integer,
    rate        integer,
    rate_micros bigint                                 -- the period of the rate, in microseconds
)
    language plpgsql
    stable
    set lock_timeout = '1s'
as $sql$
begin
    return query
    select t.topic, t.paused_at, t.paused_by, t.reason, t.max_running, t.max_per_key, t.rate,
           (extract(epoch from t.rate_period) * 1000000)::bigint
      from {schema}.windlass_topic t
     where t.queue = {queue_name}
     order by t.topic;
end
$sql$;

-- What operators did, the latest first. The next page begins before the last one's number.
create or replace function {schema}.{queue_actions}(p_limit integer, p_before bigint default null)
    returns setof {schema}.windlass_action
    language plpgsql
    stable
as $sql$
begin
    return query
    select a.*
      from {schema}.windlass_action a
     where a.queue = {queue_name} and (p_before is null or a.id < p_before)
     order by a.id desc
     limit p_limit;
end
$sql$;
