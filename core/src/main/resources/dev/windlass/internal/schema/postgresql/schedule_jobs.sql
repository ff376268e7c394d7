-- Jobs, and what their runs have besides the verbs of every queue. Programs compute the ticks; what is decided here is who takes
-- one, once. A job that is not there is told by a null.

-- Ends the runs whose messages end; these have been changed in the same transaction, or are about to be deleted.
create or replace function {schema}.{outbox_job_runs_ended}(p_ids uuid[], p_status smallint) returns void
    language plpgsql
{plan:each}
as $sql$
begin
    update {schema}.{outbox_job_run} r
       set status = p_status, ended_at = clock_timestamp(), claimed_at = m.claimed_at, retry_count = m.retry_count,
           lease_expiries = m.lease_expiries, last_error = m.last_error
      from {schema}.{outbox} m
     where m.id = any (p_ids) and r.id = m.id and r.status + 0 = 6;
end
$sql$;

-- Failed messages are to be handled once more, and so are the runs they belong to.
create or replace function {schema}.{outbox_job_runs_reopened}(p_ids uuid[]) returns void
    language plpgsql
{plan:index}
as $sql$
begin
    update {schema}.{outbox_job_run} r set status = 6, ended_at = null where r.id = any (p_ids) and r.status + 0 = 3;
end
$sql$;

-- The clock that decides, for programs that compute ticks.
create or replace function {schema}.{outbox_job_clock}() returns timestamptz
    language plpgsql
as $sql$
begin
    return clock_timestamp();
end
$sql$;

-- Creates a job, or changes it. Its ticks are given by the caller: the next one, when that fires, and, for a job with a period, the
-- moment from which its ticks are counted. They count only if the job is new or its times have changed; else it goes on as
-- before, and a paused job stays paused. A job belongs to a set once one has brought it along, and no other set can take
-- it. Returns whether anything was changed.
create or replace function {schema}.{outbox_job_save}(
    p_name          text,
    p_topic         text,
    p_payload       text,
    p_cron          text,
    p_zone          text,
    p_period        interval,
    p_anchor_at     timestamptz,
    p_next_tick_at  timestamptz,
    p_fires_at      timestamptz,
    p_misfire       integer default 0,
    p_misfire_runs  integer default null,
    p_misfire_after interval default null,
    p_overlap       integer default 0,
    p_jitter        interval default '0',
    p_job_set       text default null
) returns boolean
    language plpgsql
{plan:index}
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_set text;
begin
    insert into {schema}.{outbox_job} as j
        (name, version, topic, payload, cron, zone, period, anchor_at, misfire, misfire_runs, misfire_after, overlap, jitter,
         next_tick_at, fires_at, job_set, created_at, updated_at)
    values (p_name, 1, p_topic, p_payload, p_cron, p_zone, p_period, p_anchor_at, p_misfire, p_misfire_runs, p_misfire_after,
            p_overlap, p_jitter, p_next_tick_at, p_fires_at, p_job_set, v_now, v_now)
    on conflict (name) do update
       set (anchor_at, next_tick_at, fires_at) = (
               select case when times.same then j.anchor_at else p_anchor_at end,
                      case when j.paused_at is null then case when times.same then j.next_tick_at else p_next_tick_at end end,
                      case when j.paused_at is not null then null
                           when not times.same then p_fires_at
                           when j.problem is not null then greatest(j.next_tick_at, v_now)
                           else least(j.fires_at, j.next_tick_at + p_jitter) end
                 from (select (j.cron, j.zone, j.period) is not distinct from (p_cron::varchar, p_zone::varchar, p_period)) times (same)),
           version = j.version + 1, topic = p_topic, payload = p_payload, cron = p_cron, zone = p_zone, period = p_period,
           misfire = p_misfire, misfire_runs = p_misfire_runs, misfire_after = p_misfire_after, overlap = p_overlap,
           jitter = p_jitter, problem = null, job_set = coalesce(p_job_set, j.job_set), updated_at = v_now
     where coalesce(j.job_set, p_job_set) is not distinct from coalesce(p_job_set, j.job_set)
       and (j.problem is not null
            or (j.cron, j.zone, j.period, j.topic, j.payload, j.misfire, j.misfire_runs, j.misfire_after, j.overlap, j.jitter, j.job_set)
               is distinct from
               (excluded.cron, excluded.zone, excluded.period, excluded.topic, excluded.payload, excluded.misfire, excluded.misfire_runs,
                excluded.misfire_after, excluded.overlap, excluded.jitter, coalesce(excluded.job_set, j.job_set)));
    if found then
        perform pg_notify({outbox_job_run_channel}, 'ready');
        return true;
    end if;
    v_set := (select j.job_set from {schema}.{outbox_job} j where j.name = p_name);
    if v_set <> p_job_set then
        raise exception 'job % belongs to the set %, and cannot be brought along by the set %', quote_literal(p_name),
                        quote_literal(v_set), quote_literal(p_job_set)
            using errcode = 'unique_violation', hint = 'Give it another name, or take it out of the other set first.';
    end if;
    return false;
end
$sql$;

-- Records what an operator did to a job, if p_by names one: with what operators did to runs.
create or replace function {schema}.{outbox_job_record}(p_by text, p_verb text, p_name text, p_runs integer) returns void
    language plpgsql
as $sql$
begin
    if p_by is not null then
        perform {schema}.windlass_check_by(p_by);
        perform {schema}.windlass_record({outbox_name} || '_job_run', null, p_by, p_verb, p_runs, null, jsonb_build_object('job', p_name));
    end if;
end
$sql$;

-- Deletes a job with the runs that nobody has begun; runs that are being handled go on, and what has run stays known. Returns how
-- many runs it took along.
create or replace function {schema}.{outbox_job_delete}(p_name text, p_by text default null) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_runs  uuid[];
    v_count integer;
begin
    delete from {schema}.{outbox_job} j where j.name = p_name;
    if not found then
        return null;
    end if;
    v_runs := array(select r.id from {schema}.{outbox_job_run} r where r.source = p_name and r.ended_at is null);
    v_count := {schema}.{outbox_job_run_end_unclaimed}({schema}.{outbox_job_run_lock}(v_runs, array[0]), 5::smallint,
                                                       'its job was deleted');
    v_count := v_count + {schema}.{outbox_cancel}(v_runs); -- after it: a run that was just handed off is a message only now
    perform {schema}.{outbox_job_record}(p_by, 'delete job', p_name, v_count);
    return v_count;
end
$sql$;

-- The first run of a job that has not ended, or null. A message that is gone is not waited for.
create or replace function {schema}.{outbox_job_unfinished}(p_name text) returns uuid
    language plpgsql
{plan:index}
as $sql$
begin
    return (select r.id
              from {schema}.{outbox_job_run} r
             where r.source = p_name and r.ended_at is null
               and (not r.handed_off or exists (select from {schema}.{outbox} m where m.id = r.id))
             limit 1);
end
$sql$;

-- Makes a run of a job now, also of a paused one. With p_hand_off it is a message at once; else a node that hands off makes it
-- one, or a program claims it. While a run is unfinished, a job that allows no overlap is not triggered: then the run_id is null, and
-- the unfinished_id tells. A run that is known already, from a call whose answer was lost, is not made again.
create or replace function {schema}.{outbox_job_trigger}(
    p_name     text,
    p_id       uuid default null,
    p_hand_off boolean default false,
    p_by       text default null,
    out run_id        uuid,
    out unfinished_id uuid,
    out topic         text
)
    language plpgsql
{plan:index}
as $sql$
declare
    v_job {schema}.{outbox_job};
begin
    select j.* into v_job from {schema}.{outbox_job} j where j.name = p_name for update;
    if not found then
        return;
    end if;
    topic := v_job.topic;
    if exists (select from {schema}.{outbox_job_run} r where r.id = p_id) then
        run_id := p_id;
        return;
    end if;
    if v_job.overlap > 0 then
        unfinished_id := {schema}.{outbox_job_unfinished}(p_name);
        if unfinished_id is not null then
            return;
        end if;
    end if;
    run_id := coalesce(p_id, {schema}.windlass_new_id());
    perform pg_current_xact_id();
    perform {schema}.{outbox_job_make_runs}(v_job, clock_timestamp(), array[run_id], null, true, p_hand_off);
    update {schema}.{outbox_job} j set last_run_id = run_id where j.name = p_name; -- not the version: ticks go on beside it
    perform {schema}.{outbox_job_record}(p_by, 'trigger job', p_name, 1);
    perform pg_notify(case when p_hand_off then {channel} else {outbox_job_run_channel} end, 'ready ' || v_job.topic);
end
$sql$;

-- Writes runs of a job, one for each tick that has none, or of this moment; with p_hand_off as messages, which have the payload then.
-- Returns the id of the last tick's.
create or replace function {schema}.{outbox_job_make_runs}(
    p_job       {schema}.{outbox_job},
    p_now       timestamptz,
    p_ids       uuid[],
    p_ticks     timestamptz[],
    p_triggered boolean,
    p_hand_off  boolean
) returns uuid
    language plpgsql
as $sql$
declare
    v_ids uuid[];
begin
    with made as (
        insert into {schema}.{outbox_job_run}
            (id, source, topic, payload, tick_at, triggered, created_at, next_attempt_at, status, handed_off)
        select e.id, p_job.name, p_job.topic, case when p_hand_off then '' else p_job.payload end, coalesce(e.tick_at, p_now), p_triggered,
               p_now, p_now, case when p_hand_off then 6 else 0 end, p_hand_off
          from unnest(p_ids, p_ticks) as e (id, tick_at)
         order by e.tick_at
        on conflict (source, tick_at) where not triggered do nothing
        returning id, tick_at)
    select array_agg(made.id order by made.tick_at) into v_ids from made;
    if p_hand_off and v_ids is not null then
        perform {schema}.{outbox_job_run_deliver}(v_ids, p_job.payload);
    end if;
    return v_ids[cardinality(v_ids)];
end
$sql$;

-- Writes runs as messages, with this payload or their own.
create or replace function {schema}.{outbox_job_run_deliver}(p_ids uuid[], p_payload text) returns void
    language plpgsql
{plan:index}
as $sql$
declare
    v_now timestamptz;
begin
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    insert into {schema}.{outbox} (id, created_at, next_attempt_at, due_at, topic, source, correlation_id, headers, payload, awaited)
    select r.id, v_now, v_now, r.tick_at, r.topic, 'job', 'job-run-' || r.id,
           jsonb_build_object('windlass-job', r.source, 'windlass-tick',
               rtrim(rtrim(to_char(r.tick_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || 'Z'),
           coalesce(p_payload, r.payload), true
      from {schema}.{outbox_job_run} r
     where r.id = any (p_ids);
end
$sql$;

-- Lets a job rest: its ticks pass without runs. Returns whether it did not rest before.
create or replace function {schema}.{outbox_job_pause}(p_name text, p_by text default null) returns boolean
    language plpgsql
{plan:index}
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    update {schema}.{outbox_job} j
       set version = j.version + 1, paused_at = v_now, next_tick_at = null, fires_at = null, problem = null, updated_at = v_now
     where j.name = p_name and j.paused_at is null;
    if found then
        perform {schema}.{outbox_job_record}(p_by, 'pause job', p_name, 0);
        return true;
    end if;
    return (select false from {schema}.{outbox_job} j where j.name = p_name);
end
$sql$;

-- Lets a paused job go on with the tick given, computed of the version given. Returns whether it did: another version has to be
-- read, and computed, again.
create or replace function {schema}.{outbox_job_resume}(
    p_name         text,
    p_version      bigint,
    p_next_tick_at timestamptz,
    p_fires_at     timestamptz,
    p_by           text default null
) returns boolean
    language plpgsql
{plan:index}
as $sql$
begin
    update {schema}.{outbox_job} j
       set version = j.version + 1, paused_at = null, next_tick_at = p_next_tick_at, fires_at = p_fires_at, problem = null,
           updated_at = clock_timestamp()
     where j.name = p_name and j.version = p_version and j.paused_at is not null;
    if not found then
        return false;
    end if;
    perform {schema}.{outbox_job_record}(p_by, 'resume job', p_name, 0);
    perform pg_notify({outbox_job_run_channel}, 'ready');
    return true;
end
$sql$;

-- When the next ready run is due; null if there is none.
create or replace function {schema}.{outbox_job_run_next}() returns timestamptz
    language plpgsql
    stable
{plan:index}
as $sql$
begin
    return (select min(f.next_attempt_at)
              from {schema}.{outbox_job_run_ready_topics}() as t (topic)
             cross join lateral (
                   select r.next_attempt_at
                     from {schema}.{outbox_job_run} r
                    where r.status = 0 and not r.keyed and r.topic = t.topic and r.priority = 4
                    order by r.next_attempt_at, r.id
                    limit 1) f);
end
$sql$;

-- Jobs that fire now, the first of them first, at most p_limit; and, in every row, also if there is no job in it, the clock,
-- whether a run is ready, and how many microseconds remain until the next job fires or run is ready, null if there is none.
create or replace function {schema}.{outbox_job_due}(p_limit integer default 100)
    returns table (
        name          varchar,
        version       bigint,
        cron          varchar,
        zone          varchar,
        period        bigint,
        anchor_at     timestamptz,
        misfire       smallint,
        misfire_runs  integer,
        misfire_after bigint,
        jitter        bigint,
        next_tick_at  timestamptz,
        fires_at      timestamptz,
        now           timestamptz,
        run_ready     boolean,
        next_due      bigint
    )
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_run  timestamptz;
    v_next timestamptz;
begin
    v_run := {schema}.{outbox_job_run_next}();
    v_next := (select j.fires_at from {schema}.{outbox_job} j where j.fires_at > v_now order by j.fires_at limit 1);
    v_next := least(v_next, case when v_run > v_now then v_run end, v_now + interval '1 day');
    return query
    select d.name, d.version, d.cron, d.zone, (extract(epoch from d.period) * 1000000)::bigint, d.anchor_at, d.misfire, d.misfire_runs,
           (extract(epoch from d.misfire_after) * 1000000)::bigint, (extract(epoch from d.jitter) * 1000000)::bigint, d.next_tick_at,
           d.fires_at, v_now, coalesce(v_run <= v_now, false), ceil(extract(epoch from v_next - v_now) * 1000000)::bigint
      from (values (1)) as always
      left join (select j.*
                   from {schema}.{outbox_job} j
                  where j.fires_at <= v_now
                  order by j.fires_at
                  limit p_limit) d on true;
end
$sql$;

-- Takes ticks of jobs: for each job that still has the version of which they were computed, writes its next tick and the runs.
-- p_run_jobs says which of the jobs, counted from 1, a run belongs to. A job that somebody else holds, or behind which something is
-- locked, is left alone; one that fails says so, and is tried again after a minute; one that cannot even say so is left alone, too.
-- Returns how many jobs were not left alone, the topics that have new messages, and the runs it made.
create or replace function {schema}.{outbox_job_take}(
    p_names        text[],
    p_versions     bigint[],
    p_next_tick_at timestamptz[],
    p_fires_at     timestamptz[],
    p_skipped      bigint[],
    p_run_jobs     integer[],
    p_run_ids      uuid[],
    p_run_ticks    timestamptz[],
    p_hand_off     boolean,
    out looked_at  integer,
    out topics     text[],
    out made       uuid[]
)
    language plpgsql
    set lock_timeout = '1s'
as $sql$
declare
    v_each       record;
    v_free       boolean;
    v_topic      text;
    v_state      text;
    v_constraint text;
    v_failed     integer := 0;
begin
    looked_at := 0;
    topics := '{}';
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    for v_each in
        select e.*
          from unnest(p_names, p_versions, p_next_tick_at, p_fires_at, p_skipped) with ordinality
               as e (name, version, next_tick_at, fires_at, skipped, place)
         order by e.name collate "C"
    loop
        begin
            select t.free, t.topic into v_free, v_topic
              from {schema}.{outbox_job_take_one}(
                       v_each.name, v_each.version, v_each.next_tick_at, v_each.fires_at, v_each.skipped,
                       array(select r.id from unnest(p_run_jobs, p_run_ids) with ordinality as r (job, id, place)
                              where r.job = v_each.place order by r.place),
                       array(select r.tick from unnest(p_run_jobs, p_run_ticks) with ordinality as r (job, tick, place)
                              where r.job = v_each.place order by r.place),
                       p_hand_off) t;
        exception
            when others or assert_failure then
                get stacked diagnostics v_state = returned_sqlstate, v_constraint = constraint_name;
                v_topic := null;
                v_free := false;
                v_failed := v_failed + 1;
                begin
                    v_free := v_state <> '55P03' and {schema}.{outbox_job_problem}(
                        v_each.name, v_each.version, {schema}.{outbox_error}(v_state, v_constraint),
                        case when v_state like '40%' then interval '1 second' else interval '1 minute' end);
                exception
                    when others or assert_failure then
                        null;
                end;
        end;
        looked_at := looked_at + v_free::integer;
        if v_topic is not null and v_topic <> all (topics) then
            topics := topics || v_topic;
        end if;
    end loop;
    if v_failed > 1 and v_failed = cardinality(p_names) and v_state ~ '^(08|25|40|53|54|57|58|F0|HV|XX)' then
        raise exception 'no job can be run' using errcode = v_state; -- the database's trouble, which passes
    end if;
    made := array(select r.id from {schema}.{outbox_job_run} r where r.id = any (p_run_ids));
    perform pg_notify({channel}, 'ready ' || t.topic) from unnest(topics) as t (topic);
end
$sql$;

-- The same for one job. Whoever updates it has it until he commits: so what he sees of its runs afterwards holds.
create or replace function {schema}.{outbox_job_take_one}(
    p_name         text,
    p_version      bigint,
    p_next_tick_at timestamptz,
    p_fires_at     timestamptz,
    p_skipped      bigint,
    p_run_ids      uuid[],
    p_run_ticks    timestamptz[],
    p_hand_off     boolean,
    out free       boolean,
    out topic      text
)
    language plpgsql
{plan:index}
    set lock_timeout = '5ms'
as $sql$
declare
    v_now     timestamptz;
    v_job     {schema}.{outbox_job};
    v_runs    integer := cardinality(p_run_ids);
    v_skipped bigint := p_skipped;
    v_next    timestamptz := p_next_tick_at;
    v_fires   timestamptz := p_fires_at;
    v_after   timestamptz;
    v_last    uuid;
begin
    select j.* into v_job from {schema}.{outbox_job} j where j.name = p_name for update skip locked;
    if not found then
        free := not exists (select from {schema}.{outbox_job} j where j.name = p_name);
        return;
    end if;
    free := true;
    if v_job.version <> p_version or v_job.paused_at is not null then
        return;
    end if;
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    if v_job.overlap = 1 and v_runs > 0 then
        v_runs := case when {schema}.{outbox_job_unfinished}(p_name) is null then 1 else 0 end;
        v_skipped := v_skipped + cardinality(p_run_ids) - v_runs;
    elsif v_job.overlap = 2 then
        -- A run that is unfinished ends later than now: to look again after a period is early enough.
        v_after := case when {schema}.{outbox_job_unfinished}(p_name) is not null then v_now
                        else (select r.ended_at from {schema}.{outbox_job_run} r where r.id = v_job.last_run_id) end + v_job.period;
        if v_after > v_now then
            v_runs := 0;
            v_next := v_after;
        elsif v_runs > 0 then
            v_runs := 1;
            v_next := v_now + v_job.period;
        end if;
        v_fires := v_next + (p_fires_at - p_next_tick_at);
        v_skipped := 0;
    end if;
    if v_runs > 0 then
        v_last := {schema}.{outbox_job_make_runs}(v_job, v_now, p_run_ids[1:v_runs], p_run_ticks[1:v_runs], false, p_hand_off);
        topic := case when p_hand_off and v_last is not null then v_job.topic end;
    end if;
    update {schema}.{outbox_job} j
       set version = j.version + 1, next_tick_at = v_next, fires_at = v_fires, problem = null,
           last_run_id = coalesce(v_last, j.last_run_id), skipped_ticks = j.skipped_ticks + v_skipped,
           last_skipped_at = case when v_skipped > 0 then v_now else j.last_skipped_at end
     where j.name = p_name;
end
$sql$;

-- Writes down why the ticks of a job cannot be computed or taken, unless it was changed since; it is tried again after p_retry.
-- Returns whether it did.
create or replace function {schema}.{outbox_job_problem}(p_name text, p_version bigint, p_problem text, p_retry interval)
    returns boolean
    language plpgsql
{plan:index}
as $sql$
begin
    perform 1 from {schema}.{outbox_job} j where j.name = p_name for update skip locked;
    if not found then
        return false;
    end if;
    update {schema}.{outbox_job} j
       set version = j.version + 1, problem = left(p_problem, 2048), fires_at = clock_timestamp() + p_retry
     where j.name = p_name and j.version = p_version and j.paused_at is null;
    return found;
end
$sql$;

-- Lets runs that are ready become messages, at most p_limit: such as were made where nobody hands off. Also those of paused topics, as
-- with timers. Returns how many it looked at, but for those behind which something is locked, or that cannot be changed at all, and
-- the topics of the messages.
create or replace function {schema}.{outbox_job_run_hand_off}(
    p_limit       integer default 100,
    out looked_at integer,
    out topics    text[]
)
    language plpgsql
{plan:index}
    set lock_timeout = '5ms'
as $sql$
declare
    v_now        timestamptz := clock_timestamp();
    v_run        record;
    v_state      text;
    v_constraint text;
begin
    looked_at := 0;
    topics := '{}';
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    for v_run in
        select f.id, t.topic
          from {schema}.{outbox_job_run_ready_topics}() as t (topic)
         cross join lateral (
               select r.id
                 from {schema}.{outbox_job_run} r
                where r.status = 0 and not r.keyed and r.topic = t.topic and r.priority = 4 and r.next_attempt_at <= v_now
                order by r.next_attempt_at, r.id
                limit p_limit
                  for update skip locked) f
         limit p_limit
    loop
        looked_at := looked_at + 1;
        begin
            perform {schema}.{outbox_job_run_deliver}(array[v_run.id], null);
            update {schema}.{outbox_job_run} r set status = 6, handed_off = true, payload = '' where r.id = v_run.id;
            topics := topics || v_run.topic;
        exception
            when others or assert_failure then
                get stacked diagnostics v_state = returned_sqlstate, v_constraint = constraint_name;
                begin
                    update {schema}.{outbox_job_run} r
                       set retry_count = r.retry_count + 1, last_error = {schema}.{outbox_error}(v_state, v_constraint),
                           next_attempt_at = clock_timestamp() + interval '1 minute'
                     where r.id = v_run.id and v_state <> '55P03';
                    looked_at := looked_at - case when found then 0 else 1 end;
                exception
                    when others or assert_failure then
                        looked_at := looked_at - 1;
                end;
        end;
    end loop;
    topics := array(select distinct unnest(topics));
    perform pg_notify({channel}, 'ready ' || t.topic) from unnest(topics) as t (topic);
end
$sql$;

-- Runs as they are.
create or replace function {schema}.{outbox_job_run_states}(p_ids uuid[]) returns setof {schema}.{outbox_job_run_listed}
    language plpgsql
    stable
{plan:each}
as $sql$
begin
    return query select r.* from {schema}.{outbox_job_run_listed} r where r.id = any (p_ids);
end
$sql$;

-- Runs of a job, the latest first. The next page begins before the last one's (created_at, id).
create or replace function {schema}.{outbox_job_runs}(
    p_name      text,
    p_limit     integer default 100,
    p_before_at timestamptz default null,
    p_before_id uuid default null
) returns setof {schema}.{outbox_job_run_listed}
    language plpgsql
    stable
{plan:order}
as $sql$
begin
    return query
    select r.*
      from {schema}.{outbox_job_run_listed} r
     where r.source = p_name
       and (r.created_at, r.id) < (coalesce(p_before_at, 'infinity'), coalesce(p_before_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
     order by r.created_at desc, r.id desc
     limit p_limit;
end
$sql$;

-- Writes down what came of a run, of which 8,192 characters are kept. Returns whether it did: not once the run has ended.
create or replace function {schema}.{outbox_job_run_record_output}(p_id uuid, p_output text) returns boolean
    language plpgsql
{plan:index}
as $sql$
begin
    update {schema}.{outbox_job_run} r set output = left(p_output, 8192) where r.id = p_id and r.ended_at is null;
    return found;
end
$sql$;

-- All jobs in the order of their names, or the one that is asked for.
create or replace function {schema}.{outbox_jobs}(p_name text default null) returns setof {schema}.{outbox_job_listed}
    language plpgsql
    stable
as $sql$
begin
    return query select j.* from {schema}.{outbox_job_listed} j where p_name is null or j.name = p_name order by j.name;
end
$sql$;

-- Brings the jobs of a set along, as JSON objects with the parameters of save: with a revision that is greater than the one stored,
-- they are saved, and those of the set that are not among them are deleted. Of several programs that start at once, one does
-- it. Returns the revision and digest that stood before, null for none, and how many jobs were changed and deleted.
create or replace function {schema}.{outbox_job_set_sync}(
    p_set      text,
    p_revision bigint,
    p_digest   text,
    p_jobs     jsonb,
    out stored_revision bigint,
    out stored_digest   text,
    out changed         integer,
    out deleted         integer
)
    language plpgsql
as $sql$
declare
    v_job record;
begin
    changed := 0;
    deleted := 0;
    insert into {schema}.{outbox_job_set} (name, revision, digest, synced_at)
    values (p_set, p_revision, p_digest, clock_timestamp())
    on conflict (name) do nothing;
    if not found then
        select s.revision, s.digest into stored_revision, stored_digest
          from {schema}.{outbox_job_set} s
         where s.name = p_set
           for update;
        if stored_revision >= p_revision then
            return;
        end if;
        update {schema}.{outbox_job_set} s
           set revision = p_revision, digest = p_digest, synced_at = clock_timestamp()
         where s.name = p_set;
    end if;
    for v_job in
        select e.*
          from jsonb_to_recordset(p_jobs) as e (
                   name text, topic text, payload text, cron text, zone text, period interval, anchor_at timestamptz,
                   next_tick_at timestamptz, fires_at timestamptz, misfire integer, misfire_runs integer,
                   misfire_after interval, overlap integer, jitter interval)
         order by e.name collate "C"
    loop
        changed := changed + {schema}.{outbox_job_save}(
            v_job.name, v_job.topic, v_job.payload, v_job.cron, v_job.zone, v_job.period, v_job.anchor_at, v_job.next_tick_at,
            v_job.fires_at, v_job.misfire, v_job.misfire_runs, v_job.misfire_after, v_job.overlap, v_job.jitter,
            p_set)::integer;
    end loop;
    for v_job in
        select j.name
          from {schema}.{outbox_job} j
         where j.job_set = p_set and j.name not in (select e.job ->> 'name' from jsonb_array_elements(p_jobs) as e (job))
         order by j.name
    loop
        deleted := deleted + ({schema}.{outbox_job_delete}(v_job.name) is not null)::integer; -- unless somebody has just done it
    end loop;
end
$sql$;

-- Ends runs as failed whose message is gone. Returns how many.
create or replace function {schema}.{outbox_job_run_end_lost}(p_limit integer default 1000) returns integer
    language plpgsql
{plan:each}
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - interval '1 minute';
    v_count  integer := 0;
    v_id     uuid;
begin
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    for v_id in
        select u.id
          from {schema}.{outbox_job_run} u
         where u.ended_at is null and u.handed_off and u.created_at < v_before
           and not exists (select from {schema}.{outbox} m where m.id = u.id)
         limit p_limit
           for update skip locked
    loop
        begin
            update {schema}.{outbox_job_run} r
               set status = 3, ended_at = clock_timestamp(), last_error = 'its message is gone'
             where r.id = v_id;
            v_count := v_count + 1;
        exception
            when others or assert_failure then
                null; -- one that is refused keeps no other from being ended
        end;
    end loop;
    return v_count;
end
$sql$;

-- How long after their ticks runs were written, for each hour of the ticks, the latest first: of the p_most that were done last and the p_most
-- that failed last, without those that were triggered. An hour that began before the end of what was looked at may have "more". The jitter
-- of a job is a part of it.
create or replace function {schema}.{outbox_job_run_delays}(p_most integer default 1000) returns setof {schema}.windlass_delay
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
begin
    perform {schema}.windlass_check_most(p_most);
    return query
    with runs as materialized (
        select ended.status, r.tick_at, r.ended_at, r.triggered,
               greatest(0, round(extract(epoch from r.created_at - r.tick_at) * 1000)) as late
          from unnest(array[2, 3]) as ended (status)
         cross join lateral (
               select l.tick_at, l.created_at, l.ended_at::timestamptz, l.triggered
                 from {schema}.{outbox_job_run} l
                where l.status = ended.status and l.ended_at is not null
                order by l.ended_at desc
                limit p_most) r),
    looked as ( -- back to where, if not all were looked at
        select case when count(*) = p_most then min(r.ended_at) end as since
          from runs r
         group by r.status)
    select date_trunc('hour', d.tick_at, 'UTC'), count(*), round(avg(d.late))::bigint,
           percentile_disc(0.99) within group (order by d.late)::bigint, max(d.late)::bigint,
           coalesce(date_trunc('hour', d.tick_at, 'UTC') < (select max(l.since) from looked l), false)
      from runs d
     where not d.triggered
     group by date_trunc('hour', d.tick_at, 'UTC')
     order by 1 desc;
end
$sql$;
