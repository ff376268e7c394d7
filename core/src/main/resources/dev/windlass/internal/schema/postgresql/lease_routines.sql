-- The verbs of leases and of the permits of semaphores.
--
-- What they have in common:
-- * The database's clock decides, and it is read after the locks have been taken. A duration arrives as an interval.
-- * Identity is the holder, a fresh UUID for each acquisition. The owner is a name for people, and nobody compares it.
-- * Nobody waits for a lease row that somebody else has locked: whoever locks one is just changing it, and the answer is
--   "not now". Those who take permits of one semaphore wait for each other, for a second at most.
-- * What is free by the clock may be in the hands of somebody who has renewed it and not committed yet. So whoever takes it for
--   free holds its row, and whoever renews it holds the row from before he reads the clock. A row that is locked is not free.
-- * A release notifies only when somebody may be waiting: commits that notify wait for each other, all over the database.

-- Refuses a text that the table would refuse too, and says why.
create or replace function {schema}.{lease_check_text}(p_what text, p_text text) returns void
    language plpgsql
as $sql$
begin
    if p_text is null
       or p_text collate "C" !~ '[^\t-\r\u001c-\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]' then
        raise exception 'expected the name of %, got %', p_what, case when p_text is null then 'null' else 'blank text' end
            using errcode = 'invalid_parameter_value', hint = 'Give up to 255 characters.';
    elsif char_length(p_text) > 255 then
        raise exception 'expected the name of % of at most 255 characters, got %', p_what, char_length(p_text)
            using errcode = 'invalid_parameter_value', hint = 'Give a shorter one.';
    elsif right(p_text, 1) = ' ' then
        raise exception 'expected the name of % without a space at its end', p_what
            using errcode = 'invalid_parameter_value', hint = 'Take the space away: not every database can tell it apart.';
    end if;
end
$sql$;

-- Refuses what could not be a lease.
create or replace function {schema}.{lease_check}(
    p_name     text,
    p_holder   uuid,
    p_owner    text,
    p_duration interval,
    p_wait     interval default null
) returns void
    language plpgsql
as $sql$
begin
    perform {schema}.{lease_check_text}('a lease', p_name);
    perform {schema}.{lease_check_text}('the owner', p_owner);
    if p_holder is null or p_holder = '00000000-0000-0000-0000-000000000000' then
        raise exception 'expected a holder, got %', coalesce(p_holder::text, 'null')
            using errcode = 'invalid_parameter_value', hint = 'Give a fresh gen_random_uuid() for each acquisition.';
    elsif (p_duration > interval '0' and p_duration <= interval '1 day') is not true then
        raise exception 'expected a duration of more than nothing and at most a day, got %', coalesce(p_duration::text, 'null')
            using errcode = 'invalid_parameter_value', hint = 'Take a short lease, and renew it.';
    elsif p_wait < interval '0' or p_wait > interval '100 years' then
        raise exception 'expected a time to wait of nothing to 100 years, got %', p_wait
            using errcode = 'invalid_parameter_value', hint = 'Give null if you do not wait.';
    end if;
end
$sql$;

-- Takes a lease that is free, for a time. Answers whether that worked, and who has it now, with which token and until when.
-- An answer without an owner means that the lease is changing hands at this moment.
--
-- To repeat a call whose answer was lost is harmless: the holder that has the lease gets it again, with the same token.
-- Who says for how long he is going to wait (p_wait) is told of a release within that time. It is written down when it was not
-- yet, or not for as long; about as long will do, or each further look of whoever waits would write it anew.
create or replace function {schema}.{lease_acquire}(
    p_name     text,
    p_holder   uuid,
    p_owner    text,
    p_duration interval,
    p_wait     interval default null
) returns table (
    acquired      boolean,
    owner         varchar,
    fencing_token bigint,
    expires_at    timestamptz,
    server_time   timestamptz
)
    language plpgsql
as $sql$
declare
    v_lease {schema}.{lease};
begin
    perform {schema}.{lease_check}(p_name, p_holder, p_owner, p_duration, p_wait);
    server_time := clock_timestamp();
    perform 1
       from {schema}.{lease} l
      where l.name = p_name and l.slot = 0 and (l.holder is null or l.expires_at <= server_time or l.holder = p_holder)
        for update skip locked;
    acquired := found;
    server_time := clock_timestamp();
    if acquired then
        update {schema}.{lease} l
           set holder = p_holder, owner = p_owner, acquired_at = server_time, expires_at = server_time + p_duration,
               fencing_token = case when l.holder = p_holder then l.fencing_token
                                    else nextval($name${schema}.{lease_token}$name$) end
         where l.name = p_name and l.slot = 0
        returning l.* into v_lease;
    else
        select l.* into v_lease from {schema}.{lease} l where l.name = p_name and l.slot = 0;
        if not found then
            -- An insert would wait for another of the same name; whoever cannot have this lock would be second.
            if pg_try_advisory_xact_lock(hashtextextended(p_name, $name${schema}.{lease}$name$::regclass::oid::bigint)) then
                server_time := clock_timestamp();
                insert into {schema}.{lease} as l (name, slot, holder, owner, fencing_token, acquired_at, expires_at)
                values (p_name, 0, p_holder, p_owner, nextval($name${schema}.{lease_token}$name$), server_time,
                        server_time + p_duration)
                on conflict do nothing
                returning l.* into v_lease;
                acquired := found;
            end if;
        elsif v_lease.holder is null or v_lease.expires_at <= server_time then
            v_lease := null;
        elsif p_wait is not null and (v_lease.awaited_until >= server_time + p_wait * 0.9) is not true then
            perform 1
               from {schema}.{lease} l
              where l.name = p_name and l.slot = 0 and l.holder = v_lease.holder
                for update skip locked;
            if found then
                update {schema}.{lease} l
                   set awaited_until = server_time + p_wait
                 where l.name = p_name and l.slot = 0;
            else
                v_lease := null;
            end if;
        end if;
    end if;
    owner := v_lease.owner;
    fencing_token := v_lease.fencing_token;
    expires_at := coalesce(v_lease.expires_at, server_time);
    return next;
end
$sql$;

-- Takes one of the permits of a semaphore, for a time, if fewer than p_permits are taken. Answers like acquire; the owner of
-- a refusal is the one whose permit runs out first.
--
-- Exact, because the semaphore's row is held from before the permits are counted until the commit, and each statement sees
-- what was committed before it began. The row is changed, not only locked: under a stricter isolation, where all statements
-- see the same, whoever has waited for it fails instead of counting what is no longer true. Somebody who keeps the row for long
-- keeps nobody waiting: the answer is "not now".
create or replace function {schema}.{lease_acquire_permit}(
    p_name     text,
    p_permits  integer,
    p_holder   uuid,
    p_owner    text,
    p_duration interval,
    p_wait     interval default null
) returns table (
    acquired      boolean,
    owner         varchar,
    fencing_token bigint,
    expires_at    timestamptz,
    server_time   timestamptz
)
    language plpgsql
    set lock_timeout = '1s'
as $sql$
declare
    v_slot   integer;
    v_permit {schema}.{lease};
begin
    perform {schema}.{lease_check}(p_name, p_holder, p_owner, p_duration, p_wait);
    if (p_permits between 1 and 10000) is not true then
        raise exception 'expected 1 to 10000 permits, got %', coalesce(p_permits::text, 'null')
            using errcode = 'invalid_parameter_value', hint = 'Give p_permits: how many may be taken at once.';
    end if;
    server_time := clock_timestamp();
    if {schema}.{lease_taken_permits}(p_name, p_holder, server_time) < p_permits or (p_wait is not null and not exists (
            select from {schema}.{lease_semaphore} s where s.name = p_name and s.awaited_until >= server_time + p_wait * 0.9)) then
        begin
            insert into {schema}.{lease_semaphore} as s (name, permits, used_at)
            values (p_name, p_permits, server_time)
            on conflict (name) do update set permits = excluded.permits, used_at = greatest(s.used_at, excluded.used_at);
        exception
            when lock_not_available then
                acquired := false;
                expires_at := server_time;
                return next;
                return;
        end;
        server_time := clock_timestamp();
        v_slot := {schema}.{lease_free_permit}(p_name, p_permits, p_holder, server_time);
        server_time := clock_timestamp(); -- not before the one who had it gave it back
        if v_slot is null and p_wait is not null then
            update {schema}.{lease_semaphore} s
               set awaited_until = greatest(s.awaited_until, server_time + p_wait)
             where s.name = p_name;
        end if;
    end if;
    acquired := v_slot is not null;
    if acquired then
        insert into {schema}.{lease} as l (name, slot, holder, owner, fencing_token, acquired_at, expires_at)
        values (p_name, v_slot, p_holder, p_owner, nextval($name${schema}.{lease_token}$name$), server_time,
                server_time + p_duration)
        on conflict (name, slot) do update
           set holder = excluded.holder, owner = excluded.owner, acquired_at = excluded.acquired_at,
               expires_at = excluded.expires_at,
               fencing_token = case when l.holder = p_holder then l.fencing_token else excluded.fencing_token end
        returning l.* into v_permit;
    elsif {schema}.{lease_taken_permits}(p_name, p_holder, server_time) >= p_permits then
        select l.* into v_permit
          from {schema}.{lease} l
         where l.name = p_name and l.slot > 0 and l.holder is not null and l.expires_at > server_time
         order by l.expires_at
         limit 1;
    end if;
    owner := v_permit.owner;
    fencing_token := v_permit.fencing_token;
    expires_at := coalesce(v_permit.expires_at, server_time);
    return next;
end
$sql$;

-- How many permits others have that have not run out. Good for a refusal, not for taking one: somebody may be renewing another.
create or replace function {schema}.{lease_taken_permits}(p_name text, p_holder uuid, p_now timestamptz) returns integer
    language plpgsql
as $sql$
begin
    return (select count(*)
              from {schema}.{lease} l
             where l.name = p_name and l.slot > 0 and l.holder <> p_holder and l.expires_at > p_now);
end
$sql$;

-- Finds a permit that its caller, who holds the semaphore's row, can take, and returns its number; null if there is none, or
-- somebody has locked it. The row of the permit is locked then, if there is one.
--
-- What counts is the holder, not the clock: others may have holders in fewer than p_permits rows. Only whoever holds the
-- semaphore's row gives a row a holder; so the count can be too great when it is used, never too small. A permit that has run out
-- is in the way until somebody takes its row, or its holder away from it, having locked it.
create or replace function {schema}.{lease_free_permit}(p_name text, p_permits integer, p_holder uuid, p_now timestamptz)
    returns integer
    language plpgsql
as $sql$
declare
    v_slot    integer;
    v_excess  integer;
    v_evicted integer;
begin
    -- Whoever repeats a call has a permit already.
    select l.slot into v_slot
      from {schema}.{lease} l
     where l.name = p_name and l.slot > 0 and l.holder = p_holder
       for update skip locked;
    if not found then
        if exists (select from {schema}.{lease} l where l.name = p_name and l.slot > 0 and l.holder = p_holder) then
            return null;
        end if;
        select l.slot into v_slot
          from {schema}.{lease} l
         where l.name = p_name and l.slot between 1 and p_permits and (l.holder is null or l.expires_at <= p_now)
         order by l.holder is null desc, l.slot
         limit 1
           for update skip locked;
    end if;
    if not found then
        select min(n.slot) into v_slot
          from generate_series(1, p_permits) as n (slot)
         where not exists (select from {schema}.{lease} l where l.name = p_name and l.slot = n.slot);
    end if;
    -- More than p_permits only after others have said a greater number.
    v_excess := (select count(*)
                   from {schema}.{lease} l
                  where l.name = p_name and l.slot > 0 and l.slot <> v_slot and l.holder is not null) - p_permits + 1;
    if v_excess > 0 then
        update {schema}.{lease} l
           set holder = null
         where l.name = p_name
           and l.slot = any (array(select o.slot
                                     from {schema}.{lease} o
                                    where o.name = p_name and o.slot > 0 and o.slot <> v_slot and o.holder is not null
                                      and o.expires_at <= p_now
                                    limit v_excess
                                      for update skip locked));
        get diagnostics v_evicted = row_count;
        if v_evicted < v_excess then
            return null;
        end if;
    end if;
    return v_slot;
end
$sql$;

-- Extends leases and permits that have not run out, each to its duration from now. Answers for each holder whether it was
-- renewed; nothing for one whose row somebody is changing at this moment, or is refused by a trigger or a constraint of the
-- user's: ask again. Only what is refused for all is an error.
create or replace function {schema}.{lease_renew}(
    p_names     text[],
    p_holders   uuid[],
    p_durations interval[]
) returns table (
    holder      uuid,
    renewed     boolean,
    expires_at  timestamptz,
    server_time timestamptz
)
    language plpgsql
    set enable_seqscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_locked  text[];
    v_slots   integer[];
    v_ends    timestamptz[];
    v_refused integer[] := '{}';
begin
    perform {schema}.{lease_check}(e.name, e.holder, 'owner', e.duration)
       from unnest(p_names, p_holders, p_durations) as e (name, holder, duration);
    select array_agg(k.holder || k.name), array_agg(k.slot)
      into v_locked, v_slots
      from (select l.name, l.slot, l.holder
              from {schema}.{lease} l
             where l.name = any (p_names) and l.holder = any (p_holders)
               for update skip locked) k;
    v_slots := array(select v_slots[array_position(v_locked, e.holder || e.name)]
                       from unnest(p_names, p_holders) with ordinality as e (name, holder, place)
                      order by e.place);
    server_time := clock_timestamp();
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    begin
        v_ends := {schema}.{lease_extend}(p_names, v_slots, p_durations, server_time);
    exception
        when others or assert_failure then
            for v_place in 1 .. cardinality(p_names) loop
                begin
                    v_ends[v_place] := ({schema}.{lease_extend}(p_names[v_place:v_place], v_slots[v_place:v_place],
                                                                p_durations[v_place:v_place], server_time))[1];
                exception
                    when others or assert_failure then
                        v_refused := v_refused || v_place;
                end;
            end loop;
            if cardinality(v_refused) = cardinality(p_names) then
                raise; -- in the words of who refuses it
            end if;
    end;
    for v_place in 1 .. cardinality(p_names) loop
        continue when v_place = any (v_refused);
        holder := p_holders[v_place];
        expires_at := v_ends[v_place];
        renewed := expires_at is not null;
        if v_slots[v_place] is not null
           or not exists (select from {schema}.{lease} l where l.name = p_names[v_place] and l.holder = p_holders[v_place]) then
            return next;
        end if;
    end loop;
end
$sql$;

-- Extends leases whose rows the caller has locked; a slot of null is left out. Answers, in the order of the arrays, until when;
-- null for those that have run out.
create or replace function {schema}.{lease_extend}(p_names text[], p_slots integer[], p_durations interval[], p_now timestamptz)
    returns timestamptz[]
    language plpgsql
as $sql$
declare
    v_end  timestamptz;
    v_ends timestamptz[];
begin
    -- One by one: for a join of the arrays, the planner knows no better than to compare each with each.
    for v_place in 1 .. cardinality(p_names) loop
        update {schema}.{lease} l
           set expires_at = p_now + p_durations[v_place]
         where l.name = p_names[v_place] and l.slot = p_slots[v_place] and l.expires_at > p_now
        returning l.expires_at into v_end;
        v_ends[v_place] := v_end;
    end loop;
    return v_ends;
end
$sql$;

-- Gives a lease or a permit back, at once. Returns whether this holder still had it; null if somebody has its row locked, and it
-- was not given back: ask again. A lease that is never given back runs out.
create or replace function {schema}.{lease_release}(p_name text, p_holder uuid) returns boolean
    language plpgsql
as $sql$
declare
    v_now     timestamptz;
    v_slot    integer;
    v_awaited timestamptz;
begin
    select l.slot, l.awaited_until into v_slot, v_awaited
      from {schema}.{lease} l
     where l.name = p_name and l.holder = p_holder
       for update skip locked;
    if not found then
        return case when exists (select from {schema}.{lease} l where l.name = p_name and l.holder = p_holder)
                    then null else false end;
    end if;
    if v_slot > 0 then
        -- Whoever has just counted this permit has said by now whether he waits for it; or he has the row, and may be about to.
        select s.awaited_until into v_awaited from {schema}.{lease_semaphore} s where s.name = p_name for update skip locked;
        v_awaited := case when found then v_awaited else 'infinity' end;
    end if;
    v_now := clock_timestamp();
    update {schema}.{lease} l
       set holder = null, expires_at = least(l.expires_at, v_now)
     where l.name = p_name and l.slot = v_slot;
    if v_awaited > v_now then
        perform pg_notify({channel}, 'ready ' || p_name);
    end if;
    return true;
end
$sql$;

-- What is known of the lease of a name: who holds it, or held it last.
create or replace function {schema}.{lease_find}(p_name text) returns setof {schema}.{lease_listed}
    language plpgsql
    stable
as $sql$
begin
    return query select l.* from {schema}.{lease_listed} l where l.name = p_name and l.slot = 0;
end
$sql$;

-- The same for all names, permits of semaphores among them, in the order of the names.
create or replace function {schema}.{lease_list}() returns setof {schema}.{lease_listed}
    language plpgsql
    stable
as $sql$
begin
    return query select l.* from {schema}.{lease_listed} l order by l.name, l.slot;
end
$sql$;

-- The leases and permits that somebody holds: how many, and when the first and the last of them run out; of the first p_most by their names.
-- There is no index of their times, since every renewal would have to change it.
create or replace function {schema}.{lease_active}(
    p_most integer default 1000,
    out active          bigint,
    out earliest_expiry timestamptz,
    out latest_expiry   timestamptz
)
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
begin
    perform {schema}.windlass_check_most(p_most);
    select count(*), min(l.expires_at), max(l.expires_at)
      into active, earliest_expiry, latest_expiry
      from (select c.* from {schema}.{lease_listed} c order by c.name, c.slot limit p_most) l
     where l.held;
end
$sql$;

-- The leases and semaphores that somebody waits for, of the first p_most of each by their names: who holds the lease, since when and until
-- when; how many of how many permits are held. Who waits is not stored, only until when somebody wants to be told of a release.
create or replace function {schema}.{lease_contention}(p_most integer default 1000) returns table (
    name          varchar,
    owner         varchar,                             -- null of a semaphore
    acquired_at   timestamptz,
    expires_at    timestamptz,
    held          bigint,
    permits       integer,                             -- null of a lease
    awaited_until timestamptz
)
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform {schema}.windlass_check_most(p_most);
    return query
    select l.name, l.owner, l.acquired_at, l.expires_at, l.held::integer::bigint, null::integer, l.awaited_until
      from (select c.* from {schema}.{lease_listed} c order by c.name, c.slot limit p_most) l
     where l.slot = 0 and l.awaited_until > v_now
     union all
    select s.name, null, null, null,
           (select count(*) from {schema}.{lease_listed} l where l.name = s.name and l.slot > 0 and l.held), s.permits, s.awaited_until
      from (select c.* from {schema}.{lease_semaphore} c order by c.name limit p_most) s
     where s.awaited_until > v_now
     order by 1;
end
$sql$;

-- Deletes what has been free for longer than the retention. Returns how many rows.
create or replace function {schema}.{lease_clean}(p_retention interval, p_limit integer) returns integer
    language plpgsql
    set lock_timeout = '1s'
as $sql$
declare
    v_old   timestamptz := clock_timestamp() - p_retention;
    v_count integer;
begin
    v_count := {schema}.windlass_delete($name${schema}.{lease}$name$, array(
        select o.ctid
          from {schema}.{lease} o
         where o.expires_at < v_old
         limit p_limit
           for update skip locked));
    return greatest(v_count, {schema}.windlass_delete($name${schema}.{lease_semaphore}$name$, array(
        select o.ctid
          from {schema}.{lease_semaphore} o
         where o.used_at < v_old
           and not exists (select from {schema}.{lease} l where l.name = o.name and l.slot > 0)
         limit p_limit
           for update skip locked)));
end
$sql$;
