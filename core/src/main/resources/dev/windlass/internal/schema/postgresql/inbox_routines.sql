-- The inbox as a guard: whoever received a message begins it, processes it and marks it, and finds out on the way if
-- somebody else does or did. Messages of the queue are begun by nobody.
--
-- What they have in common:
-- * The database's clock decides; leases and delays arrive as intervals, never as somebody else's now.
-- * Only the holder of the owner token changes a message in progress.
-- * None waits for a transaction that may stay open: a row that is locked is read as it was committed, and a key that
--   somebody has inserted and not committed is in progress. Only a mark has to have the row: it waits for a second, and fails
--   with lock_not_available. Then roll back, and try again.

-- Begins an attempt, in a transaction of its own: lease and attempt must be committed before the work starts, so that a
-- message that kills its process is found out. Answers
--   outcome 0, proceed: the caller has it until the lease runs out; attempt counts from one
--   outcome 1, in progress: somebody has it, the queue has it, or it rests after a failure; remaining milliseconds of that, if known
--   outcome 2, done
--   outcome 3, failed, or cancelled in the queue
-- and whether the hash differs from that of the first arrival. Who asks again with the same token, because the answer was
-- lost, gets the same answer.
--
-- A lease that ran out is taken over, and counts as a used attempt; but not in the first lease period after the server's
-- start, in which owners that lived through the outage come first. p_arrival says whether this is an arrival of the
-- message, or another look of somebody who waits.
create or replace function {schema}.{inbox_begin}(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_lease        interval,
    p_max_attempts integer,
    p_hash         text default null,
    p_arrival      boolean default true
) returns table (outcome smallint, attempt integer, remaining bigint, differs boolean)
    language plpgsql
{plan:index}
as $sql$
declare
    v_hash     bytea := decode(p_hash, 'hex');
    v_start    timestamptz := pg_postmaster_start_time();
    v_now      timestamptz;
    v_row      {schema}.{inbox_seen};
    v_locked   {schema}.{inbox_seen};
    v_mine     boolean;
    v_inserted boolean;
begin
    perform {schema}.windlass_check_lease(p_lease);
    differs := false;
    for v_try in 1 .. 3 loop
        select s.* into v_row from {schema}.{inbox_seen} s where s.source = p_source and s.message_id = p_message_id;
        exit when found;
        v_inserted := {schema}.{inbox_begin_new}(p_source, p_message_id, p_owner, p_lease, v_hash);
        if v_inserted then
            outcome := 0;
            attempt := 1;
            return next;
            return;
        end if;
        exit when v_inserted is null; -- else somebody has just committed it
    end loop;
    outcome := 1;
    if v_row.source is null then
        return next;
        return;
    end if;
    select s.* into v_locked
      from {schema}.{inbox_seen} s
     where s.source = p_source and s.message_id = p_message_id
       for update skip locked;
    v_mine := found;
    if v_mine then
        v_row := v_locked;
    end if;
    v_now := clock_timestamp();
    differs := coalesce(v_hash <> v_row.hash, false);
    attempt := v_row.retry_count + v_row.lease_expiries + 1;
    if v_row.id is not null then -- read at one moment: if only its row in the queue is gone, it is done
        select case coalesce(m.status, 2) when 2 then 2 when 3 then 3 when 5 then 3 else 1 end,
               ceil(extract(epoch from m.locked_until - v_now) * 1000)
          into outcome, remaining
          from {schema}.{inbox_seen} s
          left join lateral (select m.status, m.locked_until from {schema}.{inbox} m where m.id = s.id limit 1) m on true
         where s.source = p_source and s.message_id = p_message_id and s.id is not null;
        outcome := coalesce(outcome, 1);
    elsif v_row.status in (2, 3) then
        outcome := v_row.status;
    elsif v_row.status = 1 and v_row.owner_token = p_owner then
        outcome := 0;
    elsif not v_mine then
        remaining := ceil(extract(epoch from v_row.locked_until - v_now) * 1000);
    elsif v_row.status = 1 then
        remaining := ceil(extract(epoch from greatest(v_row.locked_until, v_start + p_lease) - v_now) * 1000);
        if v_row.locked_until <= v_now and v_start + p_lease <= v_now then
            outcome := {schema}.{inbox_begin_again}(p_source, p_message_id, p_owner, p_lease, attempt >= p_max_attempts, p_max_attempts);
            attempt := attempt + 1;
        end if;
    else
        remaining := ceil(extract(epoch from v_row.state_at - v_now) * 1000);
        if v_row.state_at <= v_now then
            outcome := {schema}.{inbox_begin_again}(p_source, p_message_id, p_owner, p_lease, false, p_max_attempts);
        end if;
    end if;
    if v_mine and p_arrival then
        update {schema}.{inbox_seen} s
           set last_seen_at = v_now, hash = coalesce(s.hash, v_hash)
         where s.source = p_source and s.message_id = p_message_id;
    end if;
    attempt := case outcome when 0 then attempt end;
    remaining := case outcome when 1 then greatest(remaining, 0) end;
    return next;
end
$sql$;

-- Inserts a message that nobody has seen, in progress. Returns false if somebody has by now, null if somebody is about to: an
-- enqueue in a transaction that is open, perhaps for long. PostgreSQL cannot be asked whether an insert would wait; so it
-- is tried, for a moment.
create or replace function {schema}.{inbox_begin_new}(
    p_source     text,
    p_message_id text,
    p_owner      uuid,
    p_lease      interval,
    p_hash       bytea
) returns boolean
    language plpgsql
    set lock_timeout = '20ms'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    insert into {schema}.{inbox_seen}
        (source, message_id, first_seen_at, last_seen_at, state_at, claimed_at, locked_until, owner_token, status, hash)
    values (p_source, p_message_id, v_now, v_now, v_now, v_now, v_now + p_lease, p_owner, 1, p_hash);
    return true;
exception
    when unique_violation then
        return false;
    when lock_not_available then
        return null;
end
$sql$;

-- Takes a message over whose lease ran out, which is counted, or that rests; the caller has locked it. If the attempt that was
-- lost was its last, it has failed. Returns the outcome of begin.
create or replace function {schema}.{inbox_begin_again}(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_lease        interval,
    p_used_up      boolean,
    p_max_attempts integer
) returns smallint
    language plpgsql
{plan:index}
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    if p_used_up then
        update {schema}.{inbox_seen} s
           set lease_expiries = s.lease_expiries + 1, status = 3, owner_token = null, locked_until = null, state_at = v_now,
               last_error = 'its lease ran out at the last of ' || p_max_attempts
                            || ' attempts: processing it may have ended the process'
         where s.source = p_source and s.message_id = p_message_id;
        return 3;
    end if;
    update {schema}.{inbox_seen} s
       set lease_expiries = s.lease_expiries + s.status, status = 1, owner_token = p_owner, state_at = v_now, claimed_at = v_now,
           locked_until = v_now + p_lease
     where s.source = p_source and s.message_id = p_message_id;
    return 0;
end
$sql$;

-- Renews the leases of attempts that have not run out; one row for each, in the order of the arrays: whether it did; null if somebody
-- has the row locked, or a trigger or a constraint of the user's refuses it, so that it has to be asked again.
create or replace function {schema}.{inbox_renew}(
    p_sources     text[],
    p_message_ids text[],
    p_owners      uuid[],
    p_lease       interval
) returns table (renewed boolean)
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_held record;
begin
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    for v_held in select * from unnest(p_sources, p_message_ids, p_owners) as e (source, message_id, owner_token) loop
        perform 1
           from {schema}.{inbox_seen} s
          where s.source = v_held.source and s.message_id = v_held.message_id and s.owner_token = v_held.owner_token
            and s.locked_until > clock_timestamp()
            for update skip locked;
        if found then
            begin
                update {schema}.{inbox_seen} s
                   set locked_until = clock_timestamp() + p_lease
                 where s.source = v_held.source and s.message_id = v_held.message_id;
                renewed := true;
            exception
                when others or assert_failure then
                    renewed := null;
            end;
        else
            renewed := case when exists (
                select
                  from {schema}.{inbox_seen} s
                 where s.source = v_held.source and s.message_id = v_held.message_id and s.owner_token = v_held.owner_token
                   and s.locked_until > clock_timestamp()) then null else false end;
        end if;
        return next;
    end loop;
end
$sql$;

-- Ends an attempt well: the message is done. Call it in the transaction of the business change; if it returns false, the
-- attempt is over, and that transaction must be rolled back: somebody else has taken the message over, or this owner has
-- marked it before, in a transaction whose commit it was not told of, and must not do the work again. Only who marks it in a
-- transaction without any work may repeat itself, and says so with p_again.
create or replace function {schema}.{inbox_mark_done}(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_processed_by text default null,
    p_again        boolean default false
) returns boolean
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
begin
    update {schema}.{inbox_seen} s
       set status = 2, locked_until = null, processed_by = p_processed_by,
           state_at = case when s.locked_until is null then s.state_at else clock_timestamp() end
     where s.source = p_source and s.message_id = p_message_id and s.owner_token = p_owner
       and (s.locked_until is not null or p_again and s.status + 0 = 2);
    return found;
end
$sql$;

-- Ends an attempt, and the message as failed. Returns false if the attempt was lost to somebody else.
create or replace function {schema}.{inbox_mark_failed}(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_error        text,
    p_processed_by text default null
) returns boolean
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
begin
    update {schema}.{inbox_seen} s
       set status = 3, locked_until = null, processed_by = p_processed_by, last_error = left(p_error, 2048),
           state_at = case when s.locked_until is null then s.state_at else clock_timestamp() end
     where s.source = p_source and s.message_id = p_message_id and s.owner_token = p_owner and s.status + 0 in (1, 3);
    return found;
end
$sql$;

-- Ends an attempt that failed. The message can be begun again after p_delay, or has failed if that was the last attempt.
-- Returns 0 or 3, or null if the attempt was lost to somebody else.
create or replace function {schema}.{inbox_mark_abandoned}(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_error        text,
    p_delay        interval,
    p_max_attempts integer,
    p_processed_by text default null
) returns smallint
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_last boolean;
begin
    select s.retry_count + s.lease_expiries + 1 >= p_max_attempts into v_last
      from {schema}.{inbox_seen} s
     where s.source = p_source and s.message_id = p_message_id and s.owner_token = p_owner and s.locked_until is not null
       for update;
    if not found then
        return null;
    end if;
    update {schema}.{inbox_seen} s
       set status = case when v_last then 3 else 0 end,
           retry_count = s.retry_count + 1,
           owner_token = case when v_last then s.owner_token end,
           locked_until = null,
           state_at = clock_timestamp() + case when v_last then interval '0' else p_delay end,
           processed_by = case when v_last then p_processed_by end,
           last_error = coalesce(left(p_error, 2048), s.last_error)
     where s.source = p_source and s.message_id = p_message_id;
    return case when v_last then 3 else 0 end;
end
$sql$;

-- Forgets what was processed without the queue, and done for longer than p_keep; also what was begun so long ago and never ended,
-- or failed so long ago and was never begun again. What has failed for good stays. Returns how many.
create or replace function {schema}.{inbox_clean_guards}(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_rows   tid[] := '{}';
    v_status integer;
begin
    foreach v_status in array array[2, 1, 0] loop
        v_rows := v_rows || array(select s.ctid
                                    from {schema}.{inbox_seen} s
                                   where s.status = v_status and s.state_at < v_before
                                     and (s.locked_until is null or s.locked_until < v_before)
                                   order by s.state_at
                                   limit p_limit - cardinality(v_rows)
                                     for update skip locked);
    end loop;
    return {schema}.windlass_delete($name${schema}.{inbox_seen}$name$, v_rows);
end
$sql$;
