-- What programs and operators do to messages that nobody is handling. What an operator does is recorded in the same
-- transaction: who, when, what, and to how many messages.

-- Refuses ids that are not there, which is not the same as none.
create or replace function {schema}.{outbox_check_ids}(p_ids uuid[]) returns void
    language plpgsql
as $sql$
begin
    if p_ids is null then
        raise exception 'expected an array of message ids, got null'
            using errcode = 'null_value_not_allowed', hint = 'array_agg() of no rows is null; array(select ...) is empty.';
    end if;
end
$sql$;

-- Refuses an operator without a name.
create or replace function {schema}.{outbox_check_by}(p_by text) returns void
    language plpgsql
as $sql$
begin
    if p_by is null or btrim(p_by) = '' then
        raise exception 'expected the name of the operator, got %', case when p_by is null then 'null' else 'blank text' end
            using errcode = 'invalid_parameter_value', hint = 'Give p_by: what is done is recorded with it.';
    end if;
end
$sql$;

-- Refuses a choice of failed messages that is none, or two at once. To change all, one has to say so: the ids of a query
-- that found nothing may arrive as null.
create or replace function {schema}.{outbox_check_choice}(
    p_by    text,
    p_ids   uuid[],
    p_topic text,
    p_from  timestamptz,
    p_until timestamptz,
    p_error text,
    p_limit integer,
    p_all   boolean
) returns void
    language plpgsql
as $sql$
declare
    v_filter boolean := coalesce(p_topic, p_from::text, p_until::text, p_error) is not null or p_all is true;
begin
    perform {schema}.{outbox_check_by}(p_by);
    if p_ids is null and not v_filter then
        raise exception 'expected message ids or a filter, got neither'
            using errcode = 'invalid_parameter_value', hint = 'Give p_all => true to choose every failed message.';
    elsif p_ids is not null and v_filter then
        raise exception 'expected message ids or a filter, got both'
            using errcode = 'invalid_parameter_value', hint = 'Ids choose by themselves; leave the rest out.';
    elsif (p_limit > 0) is not true then
        raise exception 'expected a positive limit, got %', coalesce(p_limit::text, 'null')
            using errcode = 'invalid_parameter_value', hint = 'Leave p_limit out to change up to 1000 messages at a time.';
    end if;
end
$sql$;

-- Ends messages that nobody has claimed as cancelled. Returns how many; others, claimed or ended, stay as they are.
create or replace function {schema}.{outbox_cancel}(p_ids uuid[]) returns integer
    language plpgsql
as $sql$
begin
    perform {schema}.{outbox_check_ids}(p_ids);
    return {schema}.{outbox_end_unclaimed}({schema}.{outbox_lock}(p_ids, array[0, 4]), 5::smallint, null);
end
$sql$;

-- Moves the due time of messages that nobody has claimed. Returns how many.
create or replace function {schema}.{outbox_reschedule}(
    p_ids    uuid[],
    p_due_at timestamptz default null,
    p_delay  interval default null
) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_ids uuid[];
    v_now timestamptz;
    v_due timestamptz;
begin
    perform {schema}.{outbox_check_ids}(p_ids);
    if p_due_at is not null and p_delay is not null then
        raise exception 'expected a due time or a delay, got both' using errcode = 'invalid_parameter_value';
    end if;
    v_ids := {schema}.{outbox_lock}(p_ids, array[0, 4]);
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    v_due := coalesce(p_due_at, v_now + p_delay, v_now);
    update {schema}.{outbox} m
       set due_at = v_due, next_attempt_at = greatest(v_now, v_due)
     where m.id = any (v_ids);
    if cardinality(v_ids) > 0 then
        perform pg_notify({channel}, '');
    end if;
    return cardinality(v_ids);
end
$sql$;

-- The attempts of a message that failed, the oldest first.
create or replace function {schema}.{outbox_failures}(p_id uuid) returns setof {schema}.{outbox_failure}
    language plpgsql
    stable
as $sql$
begin
    return query select h.* from {schema}.{outbox_failure} h where h.message_id = p_id order by h.failed_at;
end
$sql$;

-- Failed messages without their payloads, the latest first, of a topic, a time and an error text where these are given. The
-- next page begins before the last one's (ended_at, id).
create or replace function {schema}.{outbox_dead_letters}(
    p_limit     integer,
    p_topic     text default null,
    p_from      timestamptz default null,
    p_until     timestamptz default null,
    p_error     text default null,
    p_before_at timestamptz default null,
    p_before_id uuid default null
) returns table (
    id             uuid,
    topic          varchar,
    correlation_id varchar,
    ordering_key   varchar,
    blocks_key     boolean,
    created_at     timestamptz,
    ended_at       timestamptz,
    processed_by   varchar,
    retry_count    integer,
    lease_expiries integer,
    requeues       smallint,
    last_error     varchar,
    erased_at      timestamptz
)
    language plpgsql
    stable
{plan:order}
as $sql$
declare
    v_from   timestamptz := coalesce(p_from, '-infinity');
    v_until  timestamptz := coalesce(p_until, 'infinity');
    v_at     timestamptz := coalesce(p_before_at, 'infinity');
    v_id     uuid := coalesce(p_before_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
    if p_topic is null then
        return query
        select m.id, m.topic, m.correlation_id, m.ordering_key, m.blocks_key, m.created_at, m.ended_at, m.processed_by,
               m.retry_count, m.lease_expiries, m.requeues, m.last_error, m.erased_at
          from {schema}.{outbox} m
         where m.status = 3
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_at, v_id)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    else
        return query
        select m.id, m.topic, m.correlation_id, m.ordering_key, m.blocks_key, m.created_at, m.ended_at, m.processed_by,
               m.retry_count, m.lease_expiries, m.requeues, m.last_error, m.erased_at
          from {schema}.{outbox} m
         where m.status = 3 and m.topic = p_topic
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_at, v_id)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    end if;
end
$sql$;

-- Messages without their payloads: of a state, a topic and a time where these are given. The time is that of the state, and
-- listed_at tells it: when a ready message is due, when the attempt of one in progress began, when one ended, and for those that
-- wait behind another, or if no state is asked for, when it was created. Unfinished ones come the oldest first, those that wait key
-- by key; ended ones, and those of all states, the latest first. The next page begins after the last one's (listed_at, id), or
-- among those that wait, its (ordering_key, ordering_sequence).
--
-- Each walks along an index of its state. Ready and failed ones have one by topic; among others a topic that is rare is looked for.
create or replace function {schema}.{outbox_list}(
    p_limit          integer,
    p_status         integer default null,
    p_topic          text default null,
    p_from           timestamptz default null,
    p_until          timestamptz default null,
    p_after_at       timestamptz default null,
    p_after_id       uuid default null,
    p_after_key      text default null,
    p_after_sequence bigint default null
) returns table (
    id                uuid,
    topic             varchar,
    status            smallint,
    correlation_id    varchar,
    ordering_key      varchar,
    ordering_sequence bigint,
    created_at        timestamptz,
    listed_at         timestamptz,
    processed_by      varchar,
    retry_count       integer,
    lease_expiries    integer,
    requeues          smallint,
    last_error        varchar
)
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
    if p_status is null then
        return query
        select m.id, m.topic, m.status, m.correlation_id, m.ordering_key, m.ordering_sequence, m.created_at, m.created_at, m.processed_by,
               m.retry_count, m.lease_expiries, m.requeues, m.last_error
          from {schema}.{outbox} m
         where m.id < v_last
           and m.created_at >= v_from and m.created_at < v_until
           and (p_topic is null or m.topic = p_topic)
         order by m.id desc
         limit p_limit;
    elsif p_status = 0 then
        return query
        select r.*
          from unnest(case when p_topic is null then array(select {schema}.{outbox_ready_topics}()) else array[p_topic] end) t (topic)
         cross join lateral (
               select m.id, m.topic, m.status, m.correlation_id, m.ordering_key, m.ordering_sequence, m.created_at, m.next_attempt_at, m.processed_by,
                      m.retry_count, m.lease_expiries, m.requeues, m.last_error
                 from {schema}.{outbox} m
                where m.status = 0 and m.topic = t.topic
                  and m.next_attempt_at >= v_from and m.next_attempt_at <= v_to
                  and (m.next_attempt_at, m.id) > (v_after, v_first)
                order by m.next_attempt_at, m.id
                limit p_limit) r
         order by r.next_attempt_at, r.id
         limit p_limit;
    elsif p_status = 1 then
        return query
        select m.id, m.topic, m.status, m.correlation_id, m.ordering_key, m.ordering_sequence, m.created_at, m.claimed_at, m.processed_by,
               m.retry_count, m.lease_expiries, m.requeues, m.last_error
          from {schema}.{outbox} m
         where m.status = 1
           and m.claimed_at >= v_from and m.claimed_at < v_until and (m.claimed_at, m.id) > (v_after, v_first)
           and (p_topic is null or m.topic = p_topic)
         order by m.claimed_at, m.id
         limit p_limit;
    elsif p_status = 2 then
        return query
        select m.id, m.topic, m.status, m.correlation_id, m.ordering_key, m.ordering_sequence, m.created_at, m.ended_at, m.processed_by,
               m.retry_count, m.lease_expiries, m.requeues, m.last_error
          from {schema}.{outbox} m
         where m.status = 2
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
           and (p_topic is null or m.topic = p_topic)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    elsif p_status = 3 and p_topic is not null then
        return query
        select m.id, m.topic, m.status, m.correlation_id, m.ordering_key, m.ordering_sequence, m.created_at, m.ended_at, m.processed_by,
               m.retry_count, m.lease_expiries, m.requeues, m.last_error
          from {schema}.{outbox} m
         where m.status = 3 and m.topic = p_topic
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    elsif p_status = 3 then
        return query
        select m.id, m.topic, m.status, m.correlation_id, m.ordering_key, m.ordering_sequence, m.created_at, m.ended_at, m.processed_by,
               m.retry_count, m.lease_expiries, m.requeues, m.last_error
          from {schema}.{outbox} m
         where m.status = 3
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
           and (p_topic is null or m.topic = p_topic)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    elsif p_status = 4 then
        return query
        select m.id, m.topic, m.status, m.correlation_id, m.ordering_key, m.ordering_sequence, m.created_at, m.created_at, m.processed_by,
               m.retry_count, m.lease_expiries, m.requeues, m.last_error
          from {schema}.{outbox} m
         where m.status = 4
           and m.created_at >= v_from and m.created_at < v_until
           and (m.ordering_key, m.ordering_sequence) > (coalesce(p_after_key, ''), coalesce(p_after_sequence, 0))
           and (p_topic is null or m.topic = p_topic)
         order by m.ordering_key, m.ordering_sequence
         limit p_limit;
    else
        return query
        select m.id, m.topic, m.status, m.correlation_id, m.ordering_key, m.ordering_sequence, m.created_at, m.ended_at, m.processed_by,
               m.retry_count, m.lease_expiries, m.requeues, m.last_error
          from {schema}.{outbox} m
         where m.status = 5
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
           and (p_topic is null or m.topic = p_topic)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    end if;
end
$sql$;

-- Locks failed messages: those of p_ids, or the oldest that fit the rest; only such that hold a key, or have their payload,
-- if that is asked. Returns their ids.
create or replace function {schema}.{outbox_pick_failed}(
    p_ids     uuid[],
    p_topic   text,
    p_from    timestamptz,
    p_until   timestamptz,
    p_error   text,
    p_holding boolean,
    p_whole   boolean,
    p_limit   integer
) returns uuid[]
    language plpgsql
{plan:index}
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := coalesce(p_until, 'infinity');
    v_ids   uuid[];
begin
    if p_ids is not null then
        v_ids := {schema}.{outbox_lock}(p_ids, array[3]);
        return array(select m.id
                       from {schema}.{outbox} m
                      where m.id = any (v_ids)
                        and (m.blocks_key or not p_holding) and (m.erased_at is null or not p_whole));
    elsif p_topic is not null then
        return array(select m.id
                       from {schema}.{outbox} m
                      where m.status = 3 and m.topic = p_topic and m.ended_at >= v_from and m.ended_at < v_until
                        and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                        and (m.blocks_key or not p_holding) and (m.erased_at is null or not p_whole)
                      order by m.ended_at, m.id
                      limit p_limit
                        for update skip locked);
    end if;
    return array(select m.id
                   from {schema}.{outbox} m
                  where m.status = 3 and m.ended_at >= v_from and m.ended_at < v_until
                    and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                    and (m.blocks_key or not p_holding) and (m.erased_at is null or not p_whole)
                  order by m.ended_at, m.id
                  limit p_limit
                    for update skip locked);
end
$sql$;

-- Records what an operator did; with p_action, as a part of what is recorded there. Returns the number of the record.
create or replace function {schema}.{outbox_record}(
    p_action   bigint,
    p_by       text,
    p_verb     text,
    p_messages integer,
    p_ids      uuid[],
    p_detail   jsonb
) returns bigint
    language plpgsql
as $sql$
declare
    v_action bigint := p_action;
begin
    if p_action is not null then
        update {schema}.{outbox_action} a
           set messages = a.messages + p_messages
         where a.id = p_action and a.acted_by = p_by and a.verb = p_verb;
        if not found then
            raise exception 'expected the number of a % by % that is recorded, got %', p_verb, p_by, p_action
                using errcode = 'invalid_parameter_value', hint = 'Leave p_action out to begin another.';
        end if;
    else
        insert into {schema}.{outbox_action} (acted_at, acted_by, verb, messages, detail)
        values (clock_timestamp(), p_by, p_verb, p_messages,
                jsonb_strip_nulls(p_detail || jsonb_build_object('ids', to_jsonb(p_ids[1:100]))))
        returning id into v_action;
    end if;
    return v_action;
end
$sql$;

-- Makes failed messages ready again: those of p_ids, or up to p_limit that fit the rest, or of all if p_all says so. They
-- lose what expiry they had, if it has passed, and their expired leases; p_reset says whether failed attempts are forgotten
-- too. Under an ordering key that others hold by now they wait, as the first in line. Erased ones are left out.
--
-- More than p_limit take several calls; give each the action of the first, which is then one record, and touches only what
-- had failed before it began. They go from the oldest to the newest: what one call reached can be p_from of the next.
create or replace function {schema}.{outbox_requeue}(
    p_by     text,
    p_ids    uuid[] default null,
    p_topic  text default null,
    p_from   timestamptz default null,
    p_until  timestamptz default null,
    p_error  text default null,
    p_reset  boolean default true,
    p_limit  integer default 1000,
    p_action bigint default null,
    p_all    boolean default false
) returns table (action bigint, messages integer, reached timestamptz)
    language plpgsql
{plan:index}
as $sql$
declare
    v_now   timestamptz;
    v_token uuid := gen_random_uuid();
    v_ids   uuid[];
    v_heads uuid[];
begin
    perform {schema}.{outbox_check_choice}(p_by, p_ids, p_topic, p_from, p_until, p_error, p_limit, p_all);
    v_ids := {schema}.{outbox_pick_failed}(p_ids, p_topic, p_from, {schema}.{outbox_action_until}(p_action, p_until), p_error,
                                           false, true, p_limit);
    reached := (select max(m.ended_at) from {schema}.{outbox} m where m.id = any (v_ids));
    perform pg_current_xact_id();
    with entry as (
        select m.ordering_key, (array_agg(m.id order by m.ordering_sequence))[1] as first
          from {schema}.{outbox} m
         where m.id = any (v_ids) and m.ordering_key is not null and not m.blocks_key
         group by m.ordering_key
         order by m.ordering_key),
    held as (
        insert into {schema}.{outbox_key} as k (ordering_key, last_sequence, taken_by)
        select entry.ordering_key, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint, v_token from entry
        on conflict (ordering_key) do update set last_sequence = k.last_sequence
        returning k.ordering_key, k.taken_by = v_token as free)
    select coalesce(array_agg(entry.first), '{}') into v_heads
      from entry join held on held.ordering_key = entry.ordering_key
     where held.free;
    v_now := clock_timestamp();
    update {schema}.{outbox} m
       set status = case when m.ordering_key is null or m.blocks_key or m.id = any (v_heads) then 0 else 4 end,
           blocks_key = false, owner_token = null,
           next_attempt_at = greatest(v_now, m.due_at), ended_at = null, processed_by = null, lease_expiries = 0, crashes = 0,
           retry_count = case when p_reset then 0 else m.retry_count end,
           requeues = least(m.requeues + 1, 32767),
           expires_at = case when m.expires_at > v_now then m.expires_at end
     where m.id = any (v_ids);
    perform {schema}.{outbox_job_runs_reopened}(array(select m.id from {schema}.{outbox} m where m.id = any (v_ids) and m.run));
    if cardinality(v_ids) > 0 then
        perform pg_notify({channel}, '');
    end if;
    return query
    select {schema}.{outbox_record}(p_action, p_by, 'requeue', cardinality(v_ids), p_ids,
               jsonb_build_object('topic', p_topic, 'from', p_from, 'until', p_until, 'error', p_error, 'reset', p_reset)),
           cardinality(v_ids), reached;
end
$sql$;

-- Deletes failed messages and their history. The keys they held are passed on. Otherwise as requeue.
create or replace function {schema}.{outbox_purge}(
    p_by     text,
    p_ids    uuid[] default null,
    p_topic  text default null,
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
    v_ids  uuid[];
    v_keys text[];
begin
    perform {schema}.{outbox_check_choice}(p_by, p_ids, p_topic, p_from, p_until, p_error, p_limit, p_all);
    v_ids := {schema}.{outbox_pick_failed}(p_ids, p_topic, p_from, {schema}.{outbox_action_until}(p_action, p_until), p_error,
                                           false, false, p_limit);
    reached := (select max(m.ended_at) from {schema}.{outbox} m where m.id = any (v_ids));
    v_keys := array(select m.ordering_key from {schema}.{outbox} m where m.id = any (v_ids) and m.blocks_key);
    delete from {schema}.{outbox} m where m.id = any (v_ids);
    delete from {schema}.{outbox_failure} h where h.message_id = any (v_ids);
    if cardinality(v_keys) > 0 then
        perform {schema}.{outbox_pass_on}(v_keys, true);
    end if;
    return query
    select {schema}.{outbox_record}(p_action, p_by, 'purge', cardinality(v_ids), p_ids,
               jsonb_build_object('topic', p_topic, 'from', p_from, 'until', p_until, 'error', p_error)),
           cardinality(v_ids), reached;
end
$sql$;

-- Lets the messages behind failed ones go on; those stay failed. Otherwise as requeue.
create or replace function {schema}.{outbox_skip}(
    p_by     text,
    p_ids    uuid[] default null,
    p_topic  text default null,
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
    v_ids  uuid[];
    v_keys text[];
begin
    perform {schema}.{outbox_check_choice}(p_by, p_ids, p_topic, p_from, p_until, p_error, p_limit, p_all);
    v_ids := {schema}.{outbox_pick_failed}(p_ids, p_topic, p_from, {schema}.{outbox_action_until}(p_action, p_until), p_error,
                                           true, false, p_limit);
    reached := (select max(m.ended_at) from {schema}.{outbox} m where m.id = any (v_ids));
    with passed as (
        update {schema}.{outbox} m set blocks_key = false where m.id = any (v_ids) returning m.ordering_key)
    select coalesce(array_agg(passed.ordering_key), '{}') into v_keys from passed;
    if cardinality(v_keys) > 0 then
        perform {schema}.{outbox_pass_on}(v_keys, true);
    end if;
    return query
    select {schema}.{outbox_record}(p_action, p_by, 'skip', cardinality(v_ids), p_ids,
               jsonb_build_object('topic', p_topic, 'from', p_from, 'until', p_until, 'error', p_error)),
           cardinality(v_ids), reached;
end
$sql$;

-- Until when messages must have failed to belong to an action that is already recorded.
create or replace function {schema}.{outbox_action_until}(p_action bigint, p_until timestamptz) returns timestamptz
    language plpgsql
    stable
as $sql$
begin
    return coalesce((select least(p_until, a.acted_at) from {schema}.{outbox_action} a where a.id = p_action), p_until);
end
$sql$;

-- Removes payload and headers of messages that have ended; everything else stays. Returns how many.
create or replace function {schema}.{outbox_erase}(p_by text, p_ids uuid[]) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_ids uuid[];
begin
    perform {schema}.{outbox_check_by}(p_by);
    perform {schema}.{outbox_check_ids}(p_ids);
    v_ids := {schema}.{outbox_lock}(p_ids, array[2, 3, 5]);
    v_ids := array(select m.id from {schema}.{outbox} m where m.id = any (v_ids) and m.erased_at is null);
    update {schema}.{outbox} m set payload = '', headers = null, erased_at = clock_timestamp() where m.id = any (v_ids);
    perform {schema}.{outbox_record}(null, p_by, 'erase', cardinality(v_ids), p_ids, '{}');
    return cardinality(v_ids);
end
$sql$;

-- Stops claims of a topic, everywhere; handlers that are at work finish. Returns whether it was not paused before.
create or replace function {schema}.{outbox_pause_topic}(p_by text, p_topic text, p_reason text default null) returns boolean
    language plpgsql
as $sql$
declare
    v_new boolean;
begin
    perform {schema}.{outbox_check_by}(p_by);
    if p_topic is null or btrim(p_topic) = '' then
        raise exception 'expected a topic, got %', case when p_topic is null then 'null' else 'blank text' end
            using errcode = 'invalid_parameter_value', hint = 'Topics are paused one by one.';
    end if;
    insert into {schema}.{outbox_pause} (topic, paused_at, paused_by, reason)
    values (p_topic, clock_timestamp(), p_by, nullif(left(p_reason, 2048), ''))
    on conflict (topic) do nothing;
    v_new := found;
    if v_new then
        perform {schema}.{outbox_record}(null, p_by, 'pause', 0, null,
                                         jsonb_build_object('topic', p_topic, 'reason', p_reason));
        perform pg_notify({channel}, chr(1) || 'topics');
    end if;
    return v_new;
end
$sql$;

-- Lets a topic be claimed again. Returns whether it was paused.
create or replace function {schema}.{outbox_resume_topic}(p_by text, p_topic text) returns boolean
    language plpgsql
as $sql$
declare
    v_paused boolean;
begin
    perform {schema}.{outbox_check_by}(p_by);
    delete from {schema}.{outbox_pause} p where p.topic = p_topic;
    v_paused := found;
    if v_paused then
        perform {schema}.{outbox_record}(null, p_by, 'resume', 0, null, jsonb_build_object('topic', p_topic));
        perform pg_notify({channel}, chr(1) || 'topics');
    end if;
    return v_paused;
end
$sql$;

create or replace function {schema}.{outbox_paused_topics}() returns setof {schema}.{outbox_pause}
    language plpgsql
    stable
as $sql$
begin
    return query select p.* from {schema}.{outbox_pause} p order by p.topic;
end
$sql$;

-- What operators did, the latest first. The next page begins before the last one's number.
create or replace function {schema}.{outbox_actions}(p_limit integer, p_before bigint default null)
    returns setof {schema}.{outbox_action}
    language plpgsql
    stable
as $sql$
begin
    return query
    select a.* from {schema}.{outbox_action} a where p_before is null or a.id < p_before order by a.id desc limit p_limit;
end
$sql$;
