-- The verbs of a queue. Every change of state is one call of one of these, from Java, psql or any other language.
--
-- What they have in common:
-- * The database's clock decides; delays arrive as intervals, never as somebody else's now.
-- * Only the holder of the owner token changes a message in progress. It has a lease exactly while it is in progress (the
--   lease check of the table), so the lease is the check of the state; naming status = 1 makes the planner scan all leases.
-- * Whatever becomes ready is stamped with a time read after the transaction has its number, so that a claimer can prove
--   that nothing older is still to come (see claim).
-- * Several rows are locked in the order of their ids, so that two batches cannot deadlock.
-- * None waits for a lock that somebody else holds: what is locked is left out, and the answer says so.
-- * Whatever ends a message for which something has to be done calls ended() in the same transaction.

-- The verbs from here to heartbeat() change messages that their owner holds. They take the ids and the owners, one for each
-- or one for all, and answer with the number that was changed, the ids that somebody else has locked at this moment, so
-- that nothing is known of them and they have to be asked for again, and the ids that the owner does not hold.

-- Ends messages as done, or deletes them when nothing is to be kept. One that this owner has ended before counts, unless
-- p_again says otherwise: whoever acks in the transaction of the work must not do that work twice.
create or replace function {schema}.{queue_ack}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text default null,
    p_keep         boolean default {keeps},
    p_notify       boolean default true,
    p_again        boolean default true
) returns {schema}.windlass_answer
    language plpgsql
as $sql$
begin
    return {schema}.{queue_change_held}(case when p_keep then 'ack' else 'delete' end, p_ids, p_owners,
                                        p_processed_by => p_processed_by, p_notify => p_notify, p_again => p_again);
end
$sql$;

-- Returns messages to ready after a failed attempt, which is counted and kept in the history unless p_counted says otherwise. A
-- null delay means min(2^retry_count s, 60 s).
create or replace function {schema}.{queue_abandon}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_delays       interval[] default null,
    p_errors       text[] default null,
    p_processed_by text default null,
    p_counted      boolean[] default null
) returns {schema}.windlass_answer
    language plpgsql
as $sql$
begin
    perform {schema}.windlass_check_lengths(cardinality(p_ids), cardinality(p_delays), cardinality(p_errors), cardinality(p_counted));
    return {schema}.{queue_change_held}('abandon', p_ids, p_owners, p_processed_by => p_processed_by, p_delays => p_delays,
                                        p_errors => p_errors, p_flags => p_counted);
end
$sql$;

-- Returns messages to ready without counting an attempt: the owner is shutting down or cannot handle them. Other nodes are
-- told.
create or replace function {schema}.{queue_release}(
    p_ids    uuid[],
    p_owners uuid[],
    p_delay  interval default '0 s'
) returns {schema}.windlass_answer
    language plpgsql
as $sql$
begin
    return {schema}.{queue_change_held}('release', p_ids, p_owners, p_delays => array[p_delay]);
end
$sql$;

-- Ends messages as failed; they are not claimed again. Under an ordering key, the others wait until it is requeued, purged or
-- passed over, unless p_block says otherwise.
create or replace function {schema}.{queue_fail}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_errors       text[] default null,
    p_processed_by text default null,
    p_block        boolean[] default null,
    p_notify       boolean default true
) returns {schema}.windlass_answer
    language plpgsql
as $sql$
begin
    perform {schema}.windlass_check_lengths(cardinality(p_ids), cardinality(p_errors), cardinality(p_block));
    return {schema}.{queue_change_held}('fail', p_ids, p_owners, p_processed_by => p_processed_by, p_errors => p_errors,
                                        p_flags => p_block, p_notify => p_notify);
end
$sql$;

-- Renews the leases that have not run out.
create or replace function {schema}.{queue_heartbeat}(
    p_ids    uuid[],
    p_owners uuid[],
    p_lease  interval
) returns {schema}.windlass_answer
    language plpgsql
as $sql$
begin
    perform {schema}.windlass_check_lease(p_lease);
    return {schema}.{queue_change_held}('heartbeat', p_ids, p_owners, p_delays => array[p_lease], p_leave => true);
end
$sql$;

-- Writes down that the handlers of these messages start now. If their lease runs out after that, it is held against them.
create or replace function {schema}.{queue_start}(
    p_ids    uuid[],
    p_owners uuid[]
) returns {schema}.windlass_answer
    language plpgsql
as $sql$
begin
    return {schema}.{queue_change_held}('start', p_ids, p_owners, p_leave => true);
end
$sql$;

-- Gives back all that a claim took whose answer was lost or could not be read: to ready, without counting an attempt, or, with
-- a reason why it cannot be read, as failed. Tells how many, and how many are left because somebody has them locked, or because
-- they are refused: ask for them again. None at all may mean that the claim is not committed yet.
create or replace function {schema}.{queue_give_back}(
    p_owner uuid,
    p_error text default null,
    out given       integer,
    out left_locked integer
)
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_ids uuid[] := array(select m.id
                            from {schema}.{queue} m
                           where m.status = 1 and m.locked_until > clock_timestamp() and m.owner_token = p_owner);
begin
    given := 0;
    left_locked := 0;
    if cardinality(v_ids) > 0 then
        select s.changed, cardinality(s.locked)
          into given, left_locked
          from {schema}.{queue_change_held}(case when p_error is null then 'release' else 'fail' end, v_ids, array[p_owner],
                                       p_errors => case when p_error is not null then array_fill(p_error, array[cardinality(v_ids)]) end,
                                       p_leave => true) s;
    end if;
end
$sql$;

-- One of the verbs above, on all rows at once; and if somebody holds one of them, on those that nobody holds. Whatever else has
-- to be changed along with a message (the next one under its key, a join, a run) may be held by somebody too: then one by one.
-- Those that have nothing of that kind are changed together all the same. They wait for nobody's row any more, but perhaps for the
-- disk: whoever enlarges a table is waited for as for a lock, and one by one would only take longer.
-- What a constraint or a trigger of the user's refuses is an error, since whoever writes an outcome has to know of it; with
-- p_leave it is left as if it were locked, unless all are refused: a renewal that is refused costs no other its lease.
create or replace function {schema}.{queue_change_held}(
    p_verb         text,
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text default null,
    p_delays       interval[] default null,
    p_errors       text[] default null,
    p_flags        boolean[] default null,
    p_notify       boolean default true,
    p_again        boolean default true,
    p_pass_on      boolean default true,
    p_leave        boolean default false
) returns {schema}.windlass_answer
    language plpgsql
{plan:ids}
as $sql$
declare
    v_owners  uuid[] := case when cardinality(p_owners) = 1 then array_fill(p_owners[1], array[cardinality(p_ids)]) else p_owners end;
    v_done    uuid[];
    v_free    uuid[];
    v_part    uuid[];
    v_each    uuid[] := '{}';
    v_id      uuid;
    v_waits   integer := 0;
    v_refused uuid;
    v_awaited boolean;
    v_answer  {schema}.windlass_answer;
begin
    if cardinality(p_ids) <> cardinality(v_owners) then
        raise exception 'expected one owner, or one for each of % messages, got %', cardinality(p_ids), cardinality(p_owners)
            using errcode = 'invalid_parameter_value', hint = 'Give the owner tokens in the order of the ids.';
    end if;
    if p_leave then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    end if;
    begin
        v_done := {schema}.{queue_change_all}(p_verb, p_ids, p_ids, v_owners, p_processed_by, p_delays, p_errors, p_flags, p_notify,
                                          p_pass_on);
    exception
        when others or assert_failure then
            if sqlstate <> '55P03' and not p_leave then
                raise;
            end if;
            v_done := '{}';
            v_free := array(select m.id from {schema}.{queue} m where m.id = any (p_ids) order by m.id for update skip locked);
            foreach v_awaited in array array[false, true] loop
                v_part := array(select m.id from {schema}.{queue} m where m.id = any (v_free) and m.awaited = v_awaited);
                begin
                    v_done := v_done || {schema}.{queue_change_all}(p_verb, v_part, p_ids, v_owners, p_processed_by, p_delays,
                                                                p_errors, p_flags, p_notify, p_pass_on, not v_awaited);
                exception
                    when others or assert_failure then
                        if sqlstate <> '55P03' and not p_leave then
                            raise;
                        end if;
                        v_each := v_each || v_part;
                end;
            end loop;
            -- Each may be waited for, for a moment. So after some the rest is left to the next call, which begins with others.
            foreach v_id in array array(select e.id from unnest(v_each) as e (id) order by random()) loop
                exit when v_waits = 50;
                begin
                    v_done := v_done || {schema}.{queue_change_all}(p_verb, array[v_id], p_ids, v_owners, p_processed_by, p_delays,
                                                                p_errors, p_flags, p_notify, p_pass_on);
                exception
                    when others or assert_failure then
                        if sqlstate <> '55P03' and not p_leave then
                            raise;
                        end if;
                        v_refused := case when sqlstate = '55P03' then v_refused else v_id end;
                        v_waits := v_waits + 1;
                end;
            end loop;
            if cardinality(v_done) = 0 and v_refused is not null then -- fails in the words of who refuses it
                v_done := {schema}.{queue_change_all}(p_verb, array[v_refused], p_ids, v_owners, p_processed_by, p_delays, p_errors,
                                                  p_flags, p_notify, p_pass_on);
            end if;
    end;
    if cardinality(v_done) < cardinality(p_ids) then
        select count(*) filter (where e.state = 'done'), coalesce(array_agg(e.id) filter (where e.state = 'locked'), '{}'),
               coalesce(array_agg(e.id) filter (where e.state = 'lost'), '{}')
          into v_answer.changed, v_answer.locked, v_answer.lost
          from (select distinct c.id,
                       case when c.id = any (v_done) then 'done'
                            when m.owner_token is distinct from c.owner_token then 'lost'
                            when p_again and m.status + 0 = 2 and p_verb in ('ack', 'delete', 'heartbeat') then 'done'
                            when p_again and m.status + 0 = 3 and p_verb = 'fail' then 'done'
                            when m.locked_until is null then 'lost'
                            when m.locked_until <= clock_timestamp() and p_verb in ('heartbeat', 'start') then 'lost'
                            else 'locked' end as state
                  from unnest(p_ids, v_owners) as c (id, owner_token)
                  left join {schema}.{queue} m on m.id = c.id and m.id = any (p_ids)) e;
    else
        v_answer := (cardinality(v_done), '{}', '{}');
    end if;
    return v_answer;
end
$sql$;

-- Changes those of p_only that their owners hold; what is said of each stands in the order of p_ids. Fails if somebody holds a
-- row for longer than a moment, or, where p_patient says that the caller has locked them, than a second. Returns the ids that it changed.
create or replace function {schema}.{queue_change_all}(
    p_verb         text,
    p_only         uuid[],
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text,
    p_delays       interval[],
    p_errors       text[],
    p_flags        boolean[],
    p_notify       boolean,
    p_pass_on      boolean,
    p_patient      boolean default false
) returns uuid[]
    language plpgsql
{plan:ids}
    set lock_timeout = '5ms'
as $sql$
declare
    v_ids     uuid[];
    v_awaited uuid[];
    v_tried   uuid[];
begin
    if p_patient then
        perform set_config('lock_timeout', '1s', true); -- until this function ends
    end if;
    case p_verb
        when 'ack' then
            with done as (
                update {schema}.{queue} m
                   set status = 2, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited)
            select coalesce(array_agg(done.id), '{}'), array_agg(done.id) filter (where done.awaited)
              into v_ids, v_awaited from done;
            if v_awaited is not null then
                perform {schema}.{queue_ended}(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
            end if;
        when 'delete' then
            v_ids := '{}';
            if p_pass_on then -- else all of them are awaited, as a rule
                with done as (
                    delete from {schema}.{queue} m
                     using (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                     where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                       and not m.awaited
                    returning m.id, m.retry_count + m.lease_expiries + m.requeues > 0 as tried)
                select coalesce(array_agg(done.id), '{}'), array_agg(done.id) filter (where done.tried)
                  into v_ids, v_tried from done;
            end if;
            if cardinality(v_ids) < cardinality(p_only) then
                select array_agg(l.id), v_tried || array_agg(l.id) filter (where l.tried)
                  into v_awaited, v_tried
                  from (select m.id, m.retry_count + m.lease_expiries + m.requeues > 0 as tried
                          from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                          join {schema}.{queue} m on m.id = c.id
                         where m.id = any (p_only) and m.owner_token = c.owner_token and m.locked_until is not null
                           for update of m) l;
                if v_awaited is not null then
                    perform {schema}.{queue_ended}(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
                    delete from {schema}.{queue} m where m.id = any (v_awaited);
                    v_ids := v_ids || v_awaited;
                end if;
            end if;
            if v_tried is not null then
                delete from {schema}.{queue_failure} h where h.message_id = any (v_tried);
            end if;
            {slot:deleted}
        when 'abandon' then
            perform pg_current_xact_id();
            with failed as (
                update {schema}.{queue} m
                   set status = 0, owner_token = null, locked_until = null,
                       retry_count = m.retry_count + case when c.counted is false then 0 else 1 end,
                       next_attempt_at = clock_timestamp()
                           + coalesce(c.delay, make_interval(secs => least(2 ^ least(m.retry_count, 6), 60))),
                       last_error = coalesce(left(c.error, 2048), m.last_error)
                  from (select *
                          from unnest(p_ids, p_owners, p_delays, p_errors, p_flags) as u (id, owner_token, delay, error, counted)
                         order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.retry_count as attempt, c.error, c.counted is not false as counted),
            recorded as (
                insert into {schema}.{queue_failure} (message_id, failed_at, attempt, node, error)
                select failed.id, clock_timestamp(), failed.attempt, left(p_processed_by, 100), left(failed.error, 2048)
                  from failed
                 where failed.counted)
            select coalesce(array_agg(failed.id), '{}') into v_ids from failed;
            {slot:returned}
        when 'release' then
            perform pg_current_xact_id();
            with released as (
                update {schema}.{queue} m
                   set status = 0, owner_token = null, locked_until = null,
                       next_attempt_at = greatest(
                           clock_timestamp() + coalesce(p_delays[1], interval '0'),
                           case when m.next_attempt_at > m.claimed_at then m.next_attempt_at end) -- put off by a trigger of the user's
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id)
            select coalesce(array_agg(released.id), '{}') into v_ids from released;
            {slot:returned}
            if cardinality(v_ids) > 0 then
                perform pg_notify({channel}, 'ready');
            end if;
        when 'fail' then
            with ended as (
                update {schema}.{queue} m
                   set status = 3, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by,
                       last_error = coalesce(left(c.error, 2048), m.last_error)
                  from (select * from unnest(p_ids, p_owners, p_errors) as u (id, owner_token, error) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited, m.ended_at, m.retry_count, c.error),
            recorded as (
                insert into {schema}.{queue_failure} (message_id, failed_at, attempt, node, error)
                select ended.id, ended.ended_at, ended.retry_count + 1, left(p_processed_by, 100), left(ended.error, 2048)
                  from ended)
            select coalesce(array_agg(ended.id), '{}'), array_agg(ended.id) filter (where ended.awaited)
              into v_ids, v_awaited from ended;
            if v_awaited is not null then
                perform {schema}.{queue_ended}(
                    v_awaited, 3::smallint,
                    array(select u.id from unnest(p_ids, p_flags) as u (id, block) where u.block is not false),
                    p_pass_on, p_notify);
            end if;
        when 'heartbeat' then
            with kept as (
                update {schema}.{queue} m
                   set locked_until = clock_timestamp() + p_delays[1]
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token
                   and m.locked_until > clock_timestamp()
                returning m.id)
            select coalesce(array_agg(kept.id), '{}') into v_ids from kept;
        when 'start' then
            with begun as (
                update {schema}.{queue} m
                   set started = true
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token
                   and m.locked_until > clock_timestamp()
                returning m.id)
            select coalesce(array_agg(begun.id), '{}') into v_ids from begun;
    end case;
    return v_ids;
end
$sql$;

-- Returns messages whose lease ran out to ready, and tells the nodes. Nothing is reaped in the first p_quiet after the server
-- started or, if p_watched says that the caller does this all the time, after an interruption in which nobody did: owners
-- that lived through an outage renew, or write their outcome, first. Returns how many.
create or replace function {schema}.{queue_reap}(
    p_quiet   interval,
    p_limit   integer default 1000,
    p_watched boolean default false
) returns integer
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer;
begin
    if v_now < pg_postmaster_start_time() + p_quiet
       or p_watched and not {schema}.{queue_is_calm}(p_quiet) then
        return 0;
    end if;
    v_count := {schema}.{queue_maintain}('reap', array(
        select r.id
          from {schema}.{queue} r
         where r.status = 1 and r.id is not null and r.locked_until <= v_now
         order by r.locked_until
         limit p_limit
           for update skip locked));
    if v_count > 0 then
        perform pg_notify({channel}, 'ready');
    end if;
    return v_count;
end
$sql$;

-- What has to be done to messages that the caller has locked: reap, expire or clean; see windlass_each. Returns how many.
create or replace function {schema}.{queue_maintain}(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
as $sql$
begin
    return {schema}.windlass_each(
        'select ' || $name${schema}.{queue_maintain_all}$name$ || '(' || quote_literal(p_verb) || ', $1::uuid[])', p_ids::text[]);
end
$sql$;

create or replace function {schema}.{queue_maintain_all}(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_ids   uuid[];
    v_count integer;
begin
    case p_verb
        when 'reap' then
            with reaped as (
                update {schema}.{queue} m
                   set status = 0, owner_token = null, locked_until = null, lease_expiries = m.lease_expiries + 1,
                       crashes = least(m.crashes + m.started::integer, 32767), next_attempt_at = clock_timestamp()
                 where m.id = any (p_ids)
                returning m.id, m.next_attempt_at, m.retry_count),
            recorded as (
                insert into {schema}.{queue_failure} (message_id, failed_at, attempt, error)
                select reaped.id, reaped.next_attempt_at, reaped.retry_count + 1, 'its lease ran out' from reaped)
            select coalesce(array_agg(reaped.id), '{}') into v_ids from reaped;
            v_count := cardinality(v_ids);
            {slot:returned}
        when 'expire' then
            v_count := {schema}.{queue_end_unclaimed}(p_ids, 3::smallint, 'expired before it was handled');
        when 'clean' then
            v_count := {schema}.{queue_remove}(p_ids);
    end case;
    return v_count;
end
$sql$;

-- Deletes messages that the caller has locked, with their history. Returns how many.
create or replace function {schema}.{queue_remove}(p_ids uuid[]) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_count integer;
    v_tried uuid[];
begin
    {slot:removing}
    with removed as (
        delete from {schema}.{queue} m
         where m.id = any (p_ids)
        returning m.id, m.status = 3 or m.retry_count + m.lease_expiries + m.requeues > 0 as tried)
    select count(*), array_agg(removed.id) filter (where removed.tried) into v_count, v_tried from removed;
    if v_tried is not null then
        delete from {schema}.{queue_failure} h where h.message_id = any (v_tried);
    end if;
    return v_count;
end
$sql$;

-- Does what has to be done when messages end for which something has to be done (awaited), in the same transaction. Called after
-- their rows have been changed, or locked and not deleted yet.
create or replace function {schema}.{queue_ended}(
    p_ids      uuid[],
    p_status   smallint,
    p_blocking uuid[],
    p_pass_on  boolean,
    p_notify   boolean
) returns void
    language plpgsql
as $sql$
begin
    {slot:ended}
end
$sql$;

-- Ends messages that nobody has claimed; the caller has locked them. Returns how many.
create or replace function {schema}.{queue_end_unclaimed}(p_ids uuid[], p_status smallint, p_reason text) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_waiting uuid[] := array(select m.id from {schema}.{queue} m where m.id = any (p_ids) and m.status + 0 = 4);
    v_count   integer;
    v_awaited uuid[];
begin
    with ended as (
        update {schema}.{queue} m
           set status = p_status, ended_at = clock_timestamp(), last_error = coalesce(p_reason, m.last_error)
         where m.id = any (p_ids)
        returning m.id, m.awaited)
    select count(*), array_agg(ended.id) filter (where ended.awaited) into v_count, v_awaited from ended;
    if v_awaited is not null then
        perform {schema}.{queue_ended}(array(select unnest(v_awaited) except select unnest(v_waiting)), p_status, '{}', true, true);
        perform {schema}.{queue_ended}(array(select unnest(v_awaited) intersect select unnest(v_waiting)), p_status, '{}', false,
                                       true);
    end if;
    return v_count;
end
$sql$;

-- Whether living owners have had the time to renew: somebody has been here again and again, and the last interruption lies
-- p_quiet back. Owners renew every third of a lease; so after two thirds without anybody, leases may have run out for no fault
-- of theirs. A server that was away, or has just become the primary, was not here. A clock that was set back is an interruption,
-- too; what was noted by the clock before does not count.
create or replace function {schema}.{queue_is_calm}(p_quiet interval) returns boolean
    language plpgsql
{plan:index}
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_watch {schema}.windlass_watch;
begin
    select w.* into v_watch from {schema}.windlass_watch w where w.queue = {queue_name};
    if v_watch.seen_at between v_now - p_quiet / 10 and v_now + p_quiet then
        return v_watch.quiet_until <= v_now;
    end if;
    perform 1 from {schema}.windlass_watch w where w.queue = {queue_name} for update skip locked;
    if found then -- else whoever has it locked is here, too
        update {schema}.windlass_watch w
           set seen_at = v_now,
               quiet_until = case when w.seen_at between v_now - p_quiet * 2 / 3 and v_now + p_quiet then w.quiet_until
                                  else v_now + p_quiet end
         where w.queue = {queue_name}
        returning w.* into v_watch;
    end if;
    return v_watch.quiet_until <= v_now;
end
$sql$;

-- Locks those of the ids that are in one of these states. Whoever has one locked is waited for, in the order of the ids and with none
-- locked that is not in these states, so that two who want the same cannot deadlock; and a message that has left them meanwhile is
-- not kept locked, as PostgreSQL would: its owner could not renew it.
create or replace function {schema}.{queue_lock}(p_ids uuid[], p_states integer[]) returns uuid[]
    language plpgsql
{plan:index}
as $sql$
declare
    v_ids uuid[];
    v_id  uuid;
begin
    begin
        v_ids := array(select m.id
                         from {schema}.{queue} m
                        where m.id = any (p_ids) and m.status + 0 = any (p_states)
                        order by m.id
                          for update skip locked);
        if not exists (select
                         from {schema}.{queue} m
                        where m.id = any (p_ids) and m.status + 0 = any (p_states) and m.id <> all (v_ids)) then
            return v_ids;
        end if;
        raise exception using errcode = 'WL000'; -- lets go of what this block has locked
    exception
        when sqlstate 'WL000' then
            null;
    end;
    loop
        begin
            v_ids := '{}';
            for v_id in
                select m.id from {schema}.{queue} m where m.id = any (p_ids) and m.status + 0 = any (p_states) order by m.id
            loop
                perform 1 from {schema}.{queue} m where m.id = v_id and m.status + 0 = any (p_states) for update;
                if not found then
                    raise exception using errcode = 'WL000';
                end if;
                v_ids := v_ids || v_id;
            end loop;
            return v_ids;
        exception
            when sqlstate 'WL000' then
                null;
        end;
    end loop;
end
$sql$;

insert into {schema}.windlass_watch (queue, seen_at, quiet_until)
values ({queue_name}, clock_timestamp(), '-infinity')
on conflict do nothing;
