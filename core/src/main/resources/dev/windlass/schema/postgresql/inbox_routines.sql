-- The inbox as a guard: whoever received a message begins it, processes it and marks it, and finds out on the way if
-- somebody else does or did. The queue's verbs are in the next file.
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
--   outcome 1, in progress: somebody has it, or it rests after a failure; remaining milliseconds of that, if known
--   outcome 2, done
--   outcome 3, dead
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
    v_now      timestamptz;
    v_row      record;
    v_locked   record;
    v_mine     boolean;
    v_inserted boolean;
begin
    perform {schema}.windlass_check_lease(p_lease);
    for v_try in 1 .. 3 loop
        select m.status, m.id, m.owner_token, m.locked_until, m.next_attempt_at, m.retry_count, m.lease_expiries, m.hash
          into v_row
          from {schema}.{inbox} m
         where m.source = p_source and m.message_id = p_message_id;
        exit when found;
        v_inserted := {schema}.{inbox_begin_new}(p_source, p_message_id, p_owner, p_lease, v_hash);
        if v_inserted then
            return query select 0::smallint, 1, null::bigint, false;
            return;
        end if;
        exit when v_inserted is null; -- else somebody has just committed it
    end loop;
    if v_row is null then
        return query select 1::smallint, null::integer, null::bigint, false;
        return;
    end if;
    select m.status, m.id, m.owner_token, m.locked_until, m.next_attempt_at, m.retry_count, m.lease_expiries, m.hash
      into v_locked
      from {schema}.{inbox} m
     where m.source = p_source and m.message_id = p_message_id
       and (m.id is null or m.ended_at is not null) -- a lock would keep the queue from its message, and hold up a whole batch
       for update skip locked;
    v_mine := found;
    if v_mine then
        v_row := v_locked;
    end if;
    v_now := clock_timestamp();
    differs := coalesce(v_hash <> v_row.hash, false);
    attempt := v_row.retry_count + v_row.lease_expiries + 1;
    outcome := 1;
    if v_row.status in (2, 3) then
        outcome := v_row.status;
    elsif v_row.status = 1 and v_row.owner_token = p_owner then
        outcome := 0;
    elsif v_row.id is not null or not v_mine then
        remaining := ceil(extract(epoch from v_row.locked_until - v_now) * 1000);
    elsif v_row.status = 1 then
        remaining := ceil(extract(epoch from greatest(v_row.locked_until, pg_postmaster_start_time() + p_lease) - v_now) * 1000);
        if v_row.locked_until <= v_now and pg_postmaster_start_time() + p_lease <= v_now then
            attempt := attempt + 1;
            outcome := {schema}.{inbox_begin_again}(p_source, p_message_id, p_owner, p_lease, p_max_attempts);
        end if;
    else
        remaining := ceil(extract(epoch from v_row.next_attempt_at - v_now) * 1000);
        if v_row.next_attempt_at <= v_now then
            outcome := {schema}.{inbox_begin_again}(p_source, p_message_id, p_owner, p_lease, p_max_attempts);
        end if;
    end if;
    if v_mine and p_arrival then
        update {schema}.{inbox} m
           set last_seen_at = v_now, hash = coalesce(m.hash, v_hash)
         where m.source = p_source and m.message_id = p_message_id;
    end if;
    return query
    select outcome, case outcome when 0 then attempt end, case outcome when 1 then greatest(remaining, 0) end, differs;
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
    insert into {schema}.{inbox}
        (source, message_id, first_seen_at, last_seen_at, next_attempt_at, claimed_at, locked_until, owner_token, status, hash)
    values (p_source, p_message_id, v_now, v_now, v_now, v_now, v_now + p_lease, p_owner, 1, p_hash);
    return true;
exception
    when unique_violation then
        return false;
    when lock_not_available then
        return null;
end
$sql$;

-- Takes over a message that the caller has locked, and that nobody is processing; an attempt that nobody heard of again is
-- counted. Returns 0, or 3 if its attempts are used up and it is dead.
create or replace function {schema}.{inbox_begin_again}(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_lease        interval,
    p_max_attempts integer
) returns smallint
    language plpgsql
{plan:index}
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_status smallint;
begin
    update {schema}.{inbox} m
       set lease_expiries = m.lease_expiries + m.status,
           status = case when used.up then 3 else 1 end,
           owner_token = case when used.up then null else p_owner end,
           claimed_at = case when used.up then m.claimed_at else v_now end,
           locked_until = case when not used.up then v_now + p_lease end,
           ended_at = case when used.up then v_now end,
           last_error = case when used.up and m.status = 1
                             then 'its lease ran out at the last of ' || p_max_attempts
                                  || ' attempts: processing it may have ended the process'
                             else m.last_error end
      from (select u.retry_count + u.lease_expiries + u.status >= p_max_attempts as up
              from {schema}.{inbox} u
             where u.source = p_source and u.message_id = p_message_id) used
     where m.source = p_source and m.message_id = p_message_id
    returning m.status into v_status;
    return case v_status when 1 then 0 else v_status end;
end
$sql$;

-- Renews the lease of an attempt, if it has not run out. Returns whether it did; null if somebody has the row locked, or a trigger or
-- a constraint of the user's refuses it, so that it has to be asked again.
create or replace function {schema}.{inbox_renew}(
    p_source     text,
    p_message_id text,
    p_owner      uuid,
    p_lease      interval
) returns boolean
    language plpgsql
{plan:index}
as $sql$
begin
    perform 1
       from {schema}.{inbox} m
      where m.source = p_source and m.message_id = p_message_id and m.owner_token = p_owner
        and m.locked_until > clock_timestamp()
        for update skip locked;
    if found then
        begin
            update {schema}.{inbox} m
               set locked_until = clock_timestamp() + p_lease
             where m.source = p_source and m.message_id = p_message_id;
        exception
            when others or assert_failure then
                return null;
        end;
        return true;
    end if;
    perform 1
       from {schema}.{inbox} m
      where m.source = p_source and m.message_id = p_message_id and m.owner_token = p_owner
        and m.locked_until > clock_timestamp();
    return case when found then null else false end;
end
$sql$;

-- Renews many; one row for each, in the order of the arrays.
create or replace function {schema}.{inbox_renew_all}(
    p_sources     text[],
    p_message_ids text[],
    p_owners      uuid[],
    p_lease       interval
) returns table (renewed boolean)
    language plpgsql
as $sql$
begin
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    return query
    select {schema}.{inbox_renew}(e.source, e.message_id, e.owner_token, p_lease)
      from unnest(p_sources, p_message_ids, p_owners) with ordinality as e (source, message_id, owner_token, place)
     order by e.place;
end
$sql$;

-- Ends an attempt well: the message is done. Call it in the transaction of the business change; if it returns false, the
-- attempt is over, and that transaction must be rolled back: somebody else has taken the message over, or this owner has
-- marked it before, in a transaction whose commit he was not told of, and must not do the work again. Only who marks it in a
-- transaction without any work may repeat himself, and says so with p_again.
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
    update {schema}.{inbox} m
       set status = 2, locked_until = null, ended_at = coalesce(m.ended_at, clock_timestamp()), processed_by = p_processed_by
     where m.source = p_source and m.message_id = p_message_id and m.owner_token = p_owner
       and (m.locked_until is not null or p_again and m.status + 0 = 2);
    return found;
end
$sql$;

-- Ends an attempt for good: the message is dead. Returns false if the attempt was lost to somebody else.
create or replace function {schema}.{inbox_mark_dead}(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_reason       text,
    p_processed_by text default null
) returns boolean
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
begin
    update {schema}.{inbox} m
       set status = 3, locked_until = null, ended_at = coalesce(m.ended_at, clock_timestamp()), processed_by = p_processed_by,
           last_error = left(p_reason, 2048)
     where m.source = p_source and m.message_id = p_message_id and m.owner_token = p_owner and m.status + 0 in (1, 3);
    return found;
end
$sql$;

-- Ends an attempt that failed. The message can be begun again after p_delay, or is dead if that was the last attempt.
-- Returns 0 or 3, or null if the attempt was lost to somebody else.
create or replace function {schema}.{inbox_mark_failed}(
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
    v_now    timestamptz;
    v_used   integer;
    v_status smallint;
begin
    perform pg_current_xact_id();
    select m.retry_count + m.lease_expiries + 1 into v_used
      from {schema}.{inbox} m
     where m.source = p_source and m.message_id = p_message_id and m.owner_token = p_owner and m.locked_until is not null
       for update;
    if not found then
        return null;
    end if;
    v_now := clock_timestamp();
    update {schema}.{inbox} m
       set status = case when v_used >= p_max_attempts then 3 else 0 end,
           retry_count = m.retry_count + 1,
           owner_token = case when v_used >= p_max_attempts then m.owner_token end,
           locked_until = null,
           ended_at = case when v_used >= p_max_attempts then v_now end,
           processed_by = case when v_used >= p_max_attempts then p_processed_by end,
           next_attempt_at = v_now + p_delay,
           last_error = coalesce(left(p_error, 2048), m.last_error)
     where m.source = p_source and m.message_id = p_message_id
    returning m.status into v_status;
    return v_status;
end
$sql$;

-- Deletes what was processed without the queue, and done for longer than p_keep; also what was begun so long ago and never ended,
-- or failed so long ago and was never begun again. The dead stay. Returns how many.
create or replace function {schema}.{inbox_clean_guards}(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
{plan:each}
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_rows   tid[];
begin
    v_rows := array(select r.ctid
                      from {schema}.{inbox} r
                     where r.status = 2 and r.id is null and r.ended_at < v_before
                     order by r.ended_at
                     limit p_limit
                       for update skip locked);
    v_rows := v_rows || array(select r.ctid
                                from {schema}.{inbox} r
                               where r.status = 1 and r.id is null and r.claimed_at < v_before and r.locked_until < v_before
                               order by r.claimed_at
                               limit p_limit - cardinality(v_rows)
                                 for update skip locked);
    v_rows := v_rows || array(select r.ctid
                                from {schema}.{inbox} r
                               where r.status = 0 and r.id is null and r.next_attempt_at < v_before
                               order by r.next_attempt_at
                               limit p_limit - cardinality(v_rows)
                                 for update skip locked);
    return {schema}.windlass_delete($name${schema}.{inbox}$name$, v_rows);
end
$sql$;
