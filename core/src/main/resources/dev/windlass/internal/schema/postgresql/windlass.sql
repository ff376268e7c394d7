-- What all components have in common: versions, who looks after each queue, pauses and limits, what operators did, and checks of
-- arguments.
-- Whoever owns a schema that is there need not have the right to create one, which "if not exists" would ask for.
do $sql$
begin
    if not exists (select from pg_namespace where nspname = {schema_name}) then
        create schema {schema};
    end if;
end
$sql$;

-- What has been applied to this schema, one row for each version of each component. The newest row of a component tells
-- its version and the oldest program version that can still work with it.
create table {schema}.windlass_version (
    table_name     varchar(63)  not null,
    component      varchar(63)  not null,
    version        integer      not null,
    min_compatible integer      not null,
    applied_at     timestamptz  not null default clock_timestamp(),
    applied_by     varchar(255) not null default current_user,
    primary key (table_name, component, version)
);

-- When somebody last looked after each queue, and until when no lease of it is taken for expired. See reap.
create table {schema}.windlass_watch (
    queue       varchar(63) not null primary key,
    seen_at     timestamptz not null,
    quiet_until timestamptz not null
) with (fillfactor = 50);

-- What operators have decided about topics: that nobody claims one, or how many of it may be in progress, over all nodes. A topic has
-- a row only while something is decided about it.
create table {schema}.windlass_topic (
    queue       varchar(63)  not null,
    topic       varchar(255) collate "C" not null,
    paused_at   timestamptz,
    paused_by   varchar(255),
    reason      varchar(2048),
    max_running integer,                               -- so many at once,
    max_per_key integer,                               -- so many of each key at once,
    rate        integer,                               -- so many begin
    rate_period interval,                              -- within any time of this length
    primary key (queue, topic),
    constraint windlass_topic_check check ((paused_at is null) = (paused_by is null) and (rate is null) = (rate_period is null)
                                       and max_running > 0 and max_per_key > 0 and rate > 0 and rate_period > '0'
                                       and num_nonnulls(paused_at, max_running, max_per_key, rate) > 0)
) with (fillfactor = 50);

-- What has begun within the period of a rate, one row for each claim.
create table {schema}.windlass_start (
    queue      varchar(63)  not null,
    topic      varchar(255) collate "C" not null,
    started_at timestamptz  not null,
    messages   integer      not null
);
create index windlass_start_of on {schema}.windlass_start (queue, topic, started_at);

-- What operators did: who, when, what, and to how many messages.
create table {schema}.windlass_action (
    id       bigint       generated always as identity primary key,
    acted_at timestamptz  not null,
    messages integer      not null,
    queue    varchar(63)  not null,
    acted_by varchar(255) not null,
    verb     varchar(32)  not null,
    detail   jsonb        not null,
    constraint windlass_action_by_check check (btrim(acted_by) <> '')
);
create index windlass_action_queue on {schema}.windlass_action (queue, id);

-- What columns may hold, where a check of the table would cost too much: PostgreSQL reads the text of every check of a table again
-- for each statement, which took two thirds of the time of an insert. The check of a domain is read once for each session, and asked
-- only about a column that is written.

-- A name that databases compare: not blank by Java's measure, without spaces at its end. Byte order is cheap to compare, and
-- case-sensitive everywhere.
create domain {schema}.windlass_name as varchar(255) collate "C"
    constraint windlass_name_check check (btrim(value, {blanks}) <> '' and value = rtrim(value));

create domain {schema}.windlass_time as timestamptz
    constraint windlass_time_check check (isfinite(value));

-- A time that programs can give back as their bound.
create domain {schema}.windlass_bound as timestamptz
    constraint windlass_bound_check check (value >= '0001-01-01 00:00:00+00');

create domain {schema}.windlass_count as integer
    constraint windlass_count_check check (value >= 0);

create domain {schema}.windlass_small_count as smallint
    constraint windlass_small_count_check check (value >= 0);

create domain {schema}.windlass_percent as smallint
    constraint windlass_percent_check check (value between 0 and 100);

create domain {schema}.windlass_status as smallint
    constraint windlass_status_check check (value between 0 and 5);

create domain {schema}.windlass_priority as smallint
    constraint windlass_priority_check check (value between 0 and 9);

-- Or no claim that meets it can be read; and claims reckon with payloads alone.
create domain {schema}.windlass_headers as jsonb
    constraint windlass_headers_check check (jsonb_typeof(value) = 'object' and pg_column_size(value) <= 65536);

create domain {schema}.windlass_hash as bytea
    constraint windlass_hash_check check (length(value) = 32);

-- What a verb answers about the messages it was given: how many it changed, those that somebody else has locked, and those that the
-- owner does not hold.
create type {schema}.windlass_answer as (changed integer, locked uuid[], lost uuid[]);

-- What there is to do in a queue: see look.
create type {schema}.windlass_look as (
    due_in       bigint,                               -- milliseconds until a message is due, at most a day; null if there is none
    expires_in   bigint,                               -- the same for the next one that expires
    leased       boolean,                              -- something is in progress, and its lease may run out
    others       text[],                               -- topics with ready messages that were not asked for
    claim_number bigint,                               -- what proves which transactions had ended, where that matters
    snapshot_xmin bigint
);

-- How late something was, of what was due in one hour. Times in milliseconds.
create type {schema}.windlass_delay as (
    hour       timestamptz,
    messages   bigint,
    average_ms bigint,
    p99_ms     bigint,
    max_ms     bigint,
    more       boolean                                 -- not all of this hour were looked at
);

-- Records what an operator did; with p_action, as a part of what is recorded there. Returns the number of the record.
create or replace function {schema}.windlass_record(
    p_queue    text,
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
    if p_action is null then
        insert into {schema}.windlass_action (acted_at, queue, acted_by, verb, messages, detail)
        values (clock_timestamp(), p_queue, p_by, p_verb, p_messages,
                jsonb_strip_nulls(p_detail || jsonb_build_object('ids', to_jsonb(p_ids[1:100]))))
        returning id into v_action;
        return v_action;
    end if;
    update {schema}.windlass_action a
       set messages = a.messages + p_messages
     where a.id = p_action and a.queue = p_queue and a.acted_by = p_by and a.verb = p_verb;
    if not found then
        perform {schema}.windlass_refuse('the number of a ' || p_verb || ' by ' || p_by || ' that is recorded', p_action::text,
                                         'Leave p_action out to begin another.');
    end if;
    return v_action;
end
$sql$;

-- Until when messages must have failed to belong to an action that is already recorded.
create or replace function {schema}.windlass_action_until(p_action bigint, p_until timestamptz) returns timestamptz
    language plpgsql
    stable
as $sql$
begin
    return coalesce((select least(p_until, a.acted_at) from {schema}.windlass_action a where a.id = p_action), p_until, 'infinity');
end
$sql$;

-- A new id, time-ordered (version 7): 48 bits of time, the rest random.
create or replace function {schema}.windlass_new_id() returns uuid
    language plpgsql
as $sql$
begin
    return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
               placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
               52, 1), 53, 1), 'hex')::uuid;
end
$sql$;

-- Refuses an argument: says what was expected, what came and what to do. Never with what may be content: errors are logged.
create or replace function {schema}.windlass_refuse(p_expected text, p_got text, p_hint text) returns void
    language plpgsql
    stable
as $sql$
begin
    raise exception 'expected %, got %', p_expected, coalesce(p_got, 'null')
        using errcode = 'invalid_parameter_value', hint = p_hint;
end
$sql$;

-- Refuses a lease that is over when it begins.
create or replace function {schema}.windlass_check_lease(p_lease interval) returns void
    language plpgsql
as $sql$
begin
    if (p_lease > interval '0') is not true then
        perform {schema}.windlass_refuse('a lease of more than nothing', p_lease::text, 'Give p_lease, for example interval ''30 s''.');
    end if;
end
$sql$;

-- Refuses to count up to nothing.
create or replace function {schema}.windlass_check_most(p_most integer) returns void
    language plpgsql
    stable
as $sql$
begin
    if (p_most > 0) is not true then
        perform {schema}.windlass_refuse('a positive number to count up to', p_most::text, 'Give p_most, for example 1000.');
    end if;
end
$sql$;

-- Whether an attempt is stuck: its lease ran out, and since then as much time has passed as it was long. Somebody should have returned it
-- to ready by then. What was renewed looks like one long lease, so after an hour it is stuck in any case. With p_older it is enough
-- that the lease ran out, or that the attempt began that long ago.
create or replace function {schema}.windlass_is_stuck(
    p_now          timestamptz,
    p_claimed_at   timestamptz,
    p_locked_until timestamptz,
    p_older        interval
) returns boolean
    language sql
    stable
as $sql$
    select case when p_locked_until > p_now then false
                when p_older is not null then true
                else p_now - p_locked_until >= least(p_locked_until - p_claimed_at, interval '1 hour') end
        or coalesce(p_claimed_at <= p_now - p_older, false)
$sql$;

-- Time, in spans that are longer the further they are from p_now: first what is to come, then what is past, from now backwards.
create or replace function {schema}.windlass_spans(p_now timestamptz) returns table (since timestamptz, until timestamptz)
    language plpgsql
    stable
as $sql$
declare
    v_steps interval[] := array['1 s', '4 s', '16 s', '1 min', '5 min', '20 min', '80 min', '5 h', '20 h', '3 days', '12 days'];
begin
    return query
    select p_now + coalesce(v_steps[n - 1], '0'), coalesce(p_now + v_steps[n], 'infinity') from generate_series(1, 12) as n;
    return query
    select coalesce(p_now - v_steps[n], '-infinity'), p_now - coalesce(v_steps[n - 1], '0') from generate_series(1, 12) as n;
end
$sql$;

-- Changes rows that the caller has locked by a statement that takes them as $1, and tells how many it changed. All at once; and if
-- one is refused, by a trigger or a constraint of the user's, or something behind one is locked, one by one: it stays as it is, and
-- the others are changed. Only what is refused for all is an error. Returns how many.
create or replace function {schema}.windlass_each(p_change text, p_rows text[]) returns integer
    language plpgsql
    set lock_timeout = '5ms'
as $sql$
declare
    v_count   integer;
    v_sum     integer := 0;
    v_waits   integer := 0;
    v_refused text;
    v_row     text;
begin
    if cardinality(p_rows) = 0 then
        return 0;
    end if;
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    begin
        execute p_change into v_count using p_rows;
        return v_count;
    exception
        when others or assert_failure then
            null;
    end;
    foreach v_row in array array(select r.name from unnest(p_rows) as r (name) order by random()) loop
        begin
            execute p_change into v_count using array[v_row];
            v_sum := v_sum + v_count;
        exception
            when others or assert_failure then
                if sqlstate = '55P03' then
                    v_waits := v_waits + 1;
                    exit when v_waits = 100; -- for each of these it has waited for a moment
                else
                    v_refused := v_row;
                end if;
        end;
    end loop;
    if v_sum = 0 and v_refused is not null then
        execute p_change into v_sum using array[v_refused]; -- fails in the words of who refuses it
    end if;
    return v_sum;
end
$sql$;

-- Deletes rows that the caller has locked; see windlass_each. Returns how many.
create or replace function {schema}.windlass_delete(p_table regclass, p_rows tid[]) returns integer
    language plpgsql
as $sql$
begin
    return {schema}.windlass_each(
        'with gone as (delete from ' || p_table::text || ' where ctid = any ($1::tid[]) returning 1) select count(*) from gone',
        p_rows::text[]);
end
$sql$;

-- Refuses arrays that do not have the same length as the first one. Null stands for an array that may be left out.
create or replace function {schema}.windlass_check_lengths(p_length integer, variadic p_lengths integer[]) returns void
    language plpgsql
as $sql$
begin
    if p_length is null or exists (select from unnest(p_lengths) as l (length) where l.length <> p_length) then
        perform {schema}.windlass_refuse('arrays of the same length', array_to_string(p_length || p_lengths, ', ', 'null'),
                                         'One element of each belongs together; leave an array out if it has nothing to say.');
    end if;
end
$sql$;

-- Refuses what is due twice, or expires before it is due.
create or replace function {schema}.windlass_check_times(
    p_due_at     timestamptz,
    p_delay      interval,
    p_expires_at timestamptz default null
) returns void
    language plpgsql
as $sql$
begin
    if p_due_at is not null and p_delay is not null then
        perform {schema}.windlass_refuse('a due time or a delay', 'both', 'Leave one of them out.');
    elsif p_expires_at <= coalesce(p_due_at, clock_timestamp() + p_delay) then
        perform {schema}.windlass_refuse('a message that expires after it is due', 'one that nobody could ever handle',
                                         'Give a later p_expires_at, or leave it out.');
    end if;
end
$sql$;

-- Refuses ids that are not there, which is not the same as none.
create or replace function {schema}.windlass_check_ids(p_ids uuid[]) returns void
    language plpgsql
as $sql$
begin
    if p_ids is null then
        perform {schema}.windlass_refuse('an array of ids', null, 'array_agg() of no rows is null; array(select ...) is empty.');
    end if;
end
$sql$;

-- Refuses an operator without a name.
create or replace function {schema}.windlass_check_by(p_by text) returns void
    language plpgsql
as $sql$
begin
    if p_by is null or btrim(p_by) = '' then
        perform {schema}.windlass_refuse('the name of the operator', case when p_by is null then 'null' else 'blank text' end,
                                         'Give p_by: what is done is recorded with it.');
    end if;
end
$sql$;

-- Refuses a choice of failed messages that is none, or two at once. To change all, one has to say so: the ids of a query
-- that found nothing may arrive as null.
create or replace function {schema}.windlass_check_choice(p_by text, p_ids uuid[], p_filtered boolean, p_limit integer, p_all boolean)
    returns void
    language plpgsql
as $sql$
begin
    perform {schema}.windlass_check_by(p_by);
    if p_ids is null and not p_filtered and p_all is not true then
        perform {schema}.windlass_refuse('message ids or a filter', 'neither', 'Give p_all => true to choose every failed message.');
    elsif p_ids is not null and (p_filtered or p_all is true) then
        perform {schema}.windlass_refuse('message ids or a filter', 'both', 'Ids choose by themselves; leave the rest out.');
    elsif (p_limit > 0) is not true then
        perform {schema}.windlass_refuse('a positive limit', p_limit::text, 'Leave p_limit out to change up to 1000 at a time.');
    end if;
end
$sql$;

-- Refuses a limit that would stop everything, or that says too little.
create or replace function {schema}.windlass_check_limit(
    p_topic       text,
    p_max_running integer,
    p_max_per_key integer,
    p_rate        integer,
    p_rate_period interval
) returns void
    language plpgsql
as $sql$
begin
    if p_topic is null or btrim(p_topic) = '' then
        perform {schema}.windlass_refuse('a topic', case when p_topic is null then 'null' else 'blank text' end,
                                         'Topics are limited one by one.');
    elsif least(p_max_running, p_max_per_key, p_rate) <= 0 then
        perform {schema}.windlass_refuse('limits of one or more', least(p_max_running, p_max_per_key, p_rate)::text,
                                         'Leave out what is not to be limited; pause the topic to stop it.');
    elsif (p_rate is null) <> (p_rate_period is null) or p_rate_period <= interval '0' then
        perform {schema}.windlass_refuse('a rate with a period of more than nothing', coalesce(p_rate_period::text, 'one without the other'),
                                         'Give p_rate => 100, p_rate_period => interval ''1 minute'', or neither.');
    elsif p_rate_period > interval '36500 days' then -- every claim subtracts it from its clock
        perform {schema}.windlass_refuse('a period of at most 100 years', p_rate_period::text, 'Give a shorter p_rate_period.');
    end if;
end
$sql$;
