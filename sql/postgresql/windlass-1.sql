
-- What all components have in common: versions, who looks after each queue, pauses and limits, what operators did, and checks of
-- arguments.
-- Whoever owns a schema that is there need not have the right to create one, which "if not exists" would ask for.
do $sql$
begin
    if not exists (select from pg_namespace where nspname = 'windlass') then
        create schema "windlass";
    end if;
end
$sql$;

-- What has been applied to this schema, one row for each version of each component. The newest row of a component tells
-- its version and the oldest program version that can still work with it.
create table "windlass".windlass_version (
    table_name     varchar(63)  not null,
    component      varchar(63)  not null,
    version        integer      not null,
    min_compatible integer      not null,
    applied_at     timestamptz  not null default clock_timestamp(),
    applied_by     varchar(255) not null default current_user,
    primary key (table_name, component, version)
);

-- When somebody last looked after each queue, and until when no lease of it is taken for expired. See reap.
create table "windlass".windlass_watch (
    queue       varchar(63) not null primary key,
    seen_at     timestamptz not null,
    quiet_until timestamptz not null
) with (fillfactor = 50);

-- What operators have decided about topics: that nobody claims one, or how many of it may be in progress, over all nodes. A topic has
-- a row only while something is decided about it.
create table "windlass".windlass_topic (
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
create table "windlass".windlass_start (
    queue      varchar(63)  not null,
    topic      varchar(255) collate "C" not null,
    started_at timestamptz  not null,
    messages   integer      not null
);
create index windlass_start_of on "windlass".windlass_start (queue, topic, started_at);

-- What operators did: who, when, what, and to how many messages.
create table "windlass".windlass_action (
    id       bigint       generated always as identity primary key,
    acted_at timestamptz  not null,
    messages integer      not null,
    queue    varchar(63)  not null,
    acted_by varchar(255) not null,
    verb     varchar(32)  not null,
    detail   jsonb        not null,
    constraint windlass_action_by_check check (btrim(acted_by) <> '')
);
create index windlass_action_queue on "windlass".windlass_action (queue, id);

-- What columns may hold, where a check of the table would cost too much: PostgreSQL reads the text of every check of a table again
-- for each statement, which took two thirds of the time of an insert. The check of a domain is read once for each session, and asked
-- only about a column that is written.

-- A name that databases compare: not blank by Java's measure, without spaces at its end. Byte order is cheap to compare, and
-- case-sensitive everywhere.
create domain "windlass".windlass_name as varchar(255) collate "C"
    constraint windlass_name_check check (btrim(value, E' \t\n\x0b\f\r\x1c\x1d\x1e\x1f\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000') <> '' and value = rtrim(value));

create domain "windlass".windlass_time as timestamptz
    constraint windlass_time_check check (isfinite(value));

-- A time that programs can give back as their bound.
create domain "windlass".windlass_bound as timestamptz
    constraint windlass_bound_check check (value >= '0001-01-01 00:00:00+00');

create domain "windlass".windlass_count as integer
    constraint windlass_count_check check (value >= 0);

create domain "windlass".windlass_small_count as smallint
    constraint windlass_small_count_check check (value >= 0);

create domain "windlass".windlass_percent as smallint
    constraint windlass_percent_check check (value between 0 and 100);

create domain "windlass".windlass_status as smallint
    constraint windlass_status_check check (value between 0 and 5);

create domain "windlass".windlass_priority as smallint
    constraint windlass_priority_check check (value between 0 and 9);

-- Or no claim that meets it can be read; and claims reckon with payloads alone.
create domain "windlass".windlass_headers as jsonb
    constraint windlass_headers_check check (jsonb_typeof(value) = 'object' and pg_column_size(value) <= 65536);

create domain "windlass".windlass_hash as bytea
    constraint windlass_hash_check check (length(value) = 32);

-- What a verb answers about the messages it was given: how many it changed, those that somebody else has locked, and those that the
-- owner does not hold.
create type "windlass".windlass_answer as (changed integer, locked uuid[], lost uuid[]);

-- What there is to do in a queue: see look.
create type "windlass".windlass_look as (
    due_in       bigint,                               -- milliseconds until a message is due, at most a day; null if there is none
    expires_in   bigint,                               -- the same for the next one that expires
    leased       boolean,                              -- something is in progress, and its lease may run out
    others       text[],                               -- topics with ready messages that were not asked for
    claim_number bigint,                               -- what proves which transactions had ended, where that matters
    snapshot_xmin bigint
);

-- How late something was, of what was due in one hour. Times in milliseconds.
create type "windlass".windlass_delay as (
    hour       timestamptz,
    messages   bigint,
    average_ms bigint,
    p99_ms     bigint,
    max_ms     bigint,
    more       boolean                                 -- not all of this hour were looked at
);

-- Records what an operator did; with p_action, as a part of what is recorded there. Returns the number of the record.
create or replace function "windlass".windlass_record(
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
        insert into "windlass".windlass_action (acted_at, queue, acted_by, verb, messages, detail)
        values (clock_timestamp(), p_queue, p_by, p_verb, p_messages,
                jsonb_strip_nulls(p_detail || jsonb_build_object('ids', to_jsonb(p_ids[1:100]))))
        returning id into v_action;
        return v_action;
    end if;
    update "windlass".windlass_action a
       set messages = a.messages + p_messages
     where a.id = p_action and a.queue = p_queue and a.acted_by = p_by and a.verb = p_verb;
    if not found then
        perform "windlass".windlass_refuse('the number of a ' || p_verb || ' by ' || p_by || ' that is recorded', p_action::text,
                                         'Leave p_action out to begin another.');
    end if;
    return v_action;
end
$sql$;

-- Until when messages must have failed to belong to an action that is already recorded.
create or replace function "windlass".windlass_action_until(p_action bigint, p_until timestamptz) returns timestamptz
    language plpgsql
    stable
as $sql$
begin
    return coalesce((select least(p_until, a.acted_at) from "windlass".windlass_action a where a.id = p_action), p_until, 'infinity');
end
$sql$;

-- A new id, time-ordered (version 7): 48 bits of time, the rest random.
create or replace function "windlass".windlass_new_id() returns uuid
    language plpgsql
as $sql$
begin
    return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
               placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
               52, 1), 53, 1), 'hex')::uuid;
end
$sql$;

-- Refuses an argument: says what was expected, what came and what to do. Never with what may be content: errors are logged.
create or replace function "windlass".windlass_refuse(p_expected text, p_got text, p_hint text) returns void
    language plpgsql
    stable
as $sql$
begin
    raise exception 'expected %, got %', p_expected, coalesce(p_got, 'null')
        using errcode = 'invalid_parameter_value', hint = p_hint;
end
$sql$;

-- Refuses a lease that is over when it begins.
create or replace function "windlass".windlass_check_lease(p_lease interval) returns void
    language plpgsql
as $sql$
begin
    if (p_lease > interval '0') is not true then
        perform "windlass".windlass_refuse('a lease of more than nothing', p_lease::text, 'Give p_lease, for example interval ''30 s''.');
    end if;
end
$sql$;

-- Refuses to count up to nothing.
create or replace function "windlass".windlass_check_most(p_most integer) returns void
    language plpgsql
    stable
as $sql$
begin
    if (p_most > 0) is not true then
        perform "windlass".windlass_refuse('a positive number to count up to', p_most::text, 'Give p_most, for example 1000.');
    end if;
end
$sql$;

-- Whether an attempt is stuck: its lease ran out, and since then as much time has passed as it was long. Somebody should have returned it
-- to ready by then. What was renewed looks like one long lease, so after an hour it is stuck in any case. With p_older it is enough
-- that the lease ran out, or that the attempt began that long ago.
create or replace function "windlass".windlass_is_stuck(
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
create or replace function "windlass".windlass_spans(p_now timestamptz) returns table (since timestamptz, until timestamptz)
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
create or replace function "windlass".windlass_each(p_change text, p_rows text[]) returns integer
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
create or replace function "windlass".windlass_delete(p_table regclass, p_rows tid[]) returns integer
    language plpgsql
as $sql$
begin
    return "windlass".windlass_each(
        'with gone as (delete from ' || p_table::text || ' where ctid = any ($1::tid[]) returning 1) select count(*) from gone',
        p_rows::text[]);
end
$sql$;

-- Refuses arrays that do not have the same length as the first one. Null stands for an array that may be left out.
create or replace function "windlass".windlass_check_lengths(p_length integer, variadic p_lengths integer[]) returns void
    language plpgsql
as $sql$
begin
    if p_length is null or exists (select from unnest(p_lengths) as l (length) where l.length <> p_length) then
        perform "windlass".windlass_refuse('arrays of the same length', array_to_string(p_length || p_lengths, ', ', 'null'),
                                         'One element of each belongs together; leave an array out if it has nothing to say.');
    end if;
end
$sql$;

-- Refuses what is due twice, or expires before it is due.
create or replace function "windlass".windlass_check_times(
    p_due_at     timestamptz,
    p_delay      interval,
    p_expires_at timestamptz default null
) returns void
    language plpgsql
as $sql$
begin
    if p_due_at is not null and p_delay is not null then
        perform "windlass".windlass_refuse('a due time or a delay', 'both', 'Leave one of them out.');
    elsif p_expires_at <= coalesce(p_due_at, clock_timestamp() + p_delay) then
        perform "windlass".windlass_refuse('a message that expires after it is due', 'one that nobody could ever handle',
                                         'Give a later p_expires_at, or leave it out.');
    end if;
end
$sql$;

-- Refuses ids that are not there, which is not the same as none.
create or replace function "windlass".windlass_check_ids(p_ids uuid[]) returns void
    language plpgsql
as $sql$
begin
    if p_ids is null then
        perform "windlass".windlass_refuse('an array of ids', null, 'array_agg() of no rows is null; array(select ...) is empty.');
    end if;
end
$sql$;

-- Refuses an operator without a name.
create or replace function "windlass".windlass_check_by(p_by text) returns void
    language plpgsql
as $sql$
begin
    if p_by is null or btrim(p_by) = '' then
        perform "windlass".windlass_refuse('the name of the operator', case when p_by is null then 'null' else 'blank text' end,
                                         'Give p_by: what is done is recorded with it.');
    end if;
end
$sql$;

-- Refuses a choice of failed messages that is none, or two at once. To change all, one has to say so: the ids of a query
-- that found nothing may arrive as null.
create or replace function "windlass".windlass_check_choice(p_by text, p_ids uuid[], p_filtered boolean, p_limit integer, p_all boolean)
    returns void
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    if p_ids is null and not p_filtered and p_all is not true then
        perform "windlass".windlass_refuse('message ids or a filter', 'neither', 'Give p_all => true to choose every failed message.');
    elsif p_ids is not null and (p_filtered or p_all is true) then
        perform "windlass".windlass_refuse('message ids or a filter', 'both', 'Ids choose by themselves; leave the rest out.');
    elsif (p_limit > 0) is not true then
        perform "windlass".windlass_refuse('a positive limit', p_limit::text, 'Leave p_limit out to change up to 1000 at a time.');
    end if;
end
$sql$;

-- Refuses a limit that would stop everything, or that says too little.
create or replace function "windlass".windlass_check_limit(
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
        perform "windlass".windlass_refuse('a topic', case when p_topic is null then 'null' else 'blank text' end,
                                         'Topics are limited one by one.');
    elsif least(p_max_running, p_max_per_key, p_rate) <= 0 then
        perform "windlass".windlass_refuse('limits of one or more', least(p_max_running, p_max_per_key, p_rate)::text,
                                         'Leave out what is not to be limited; pause the topic to stop it.');
    elsif (p_rate is null) <> (p_rate_period is null) or p_rate_period <= interval '0' then
        perform "windlass".windlass_refuse('a rate with a period of more than nothing', coalesce(p_rate_period::text, 'one without the other'),
                                         'Give p_rate => 100, p_rate_period => interval ''1 minute'', or neither.');
    elsif p_rate_period > interval '36500 days' then -- every claim subtracts it from its clock
        perform "windlass".windlass_refuse('a period of at most 100 years', p_rate_period::text, 'Give a shorter p_rate_period.');
    end if;
end
$sql$;

-- Joins: somebody waits for the ends of several messages, of whatever queues of this schema. A message that ends counts in its joins
-- in the same transaction; the one that ends last ends the join, and writes the message that follows.
--
--   0 pending --(all steps counted)--> 1 completed, 2 failed          0 pending --cancel--> 3 cancelled
--
-- If the message that follows is refused, by a trigger or a constraint of the user's, the join stays pending with all steps counted;
-- it says so, and maintenance tries again to end it.
--
-- Whoever changes several locks messages in the order of their ids, and then joins, the latest id first: the end of an inner join
-- counts in its outer one, which is the older one as a rule.
create table "windlass".windlass_join (
    id               uuid         not null,
    created_at       timestamptz  not null,
    updated_at       timestamptz  not null,
    ended_at         timestamptz,
    expected_steps   integer      not null,
    members          integer      not null default 0,
    completed_steps  integer      not null default 0,
    failed_steps     integer      not null default 0,
    status           smallint     not null default 0,
    fail_if_any      boolean      not null default true, -- one failed step makes it failed; else it is completed when all have ended
    follow_up_id     uuid,                               -- of the message that follows, whichever it is
    outer_join_id    uuid,                               -- what follows is a step of this one; if nothing follows, the end itself
    outbox           varchar(63),                        -- where it is written
    grouping_key     varchar(255) collate "C",
    complete_topic   varchar(255) collate "C",
    fail_topic       varchar(255) collate "C",
    complete_payload text,
    fail_payload     text,
    metadata         text,
    last_error       varchar(2048),                      -- why it has not ended, though all steps are counted
    constraint windlass_join_pk primary key (id),
    constraint windlass_join_steps_check check (expected_steps > 0 and completed_steps >= 0 and failed_steps >= 0
                                            and completed_steps + failed_steps <= members and members <= expected_steps),
    constraint windlass_join_status_check check (status between 0 and 3 and (status = 0) = (ended_at is null)
                                             and (status not in (1, 2) or completed_steps + failed_steps = expected_steps)
                                             and (status = 0 or last_error is null)),
    constraint windlass_join_follow_check check ((follow_up_id is null) = (outbox is null)
                                             and (outbox is not null or outer_join_id is null and complete_topic is null
                                                  and fail_topic is null)),
    constraint windlass_join_topics_check check (btrim(complete_topic, E' \t\n\x0b\f\r\x1c\x1d\x1e\x1f\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000') <> '' and complete_topic = rtrim(complete_topic)
                                             and btrim(fail_topic, E' \t\n\x0b\f\r\x1c\x1d\x1e\x1f\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000') <> '' and fail_topic = rtrim(fail_topic)),
    constraint windlass_join_key_check check (btrim(grouping_key, E' \t\n\x0b\f\r\x1c\x1d\x1e\x1f\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000') <> '' and grouping_key = rtrim(grouping_key))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

create index windlass_join_grouping on "windlass".windlass_join (grouping_key, created_at, id) where grouping_key is not null;
create index windlass_join_created on "windlass".windlass_join (created_at, id);
create index windlass_join_pending on "windlass".windlass_join (created_at) where status = 0;
create index windlass_join_refused on "windlass".windlass_join (updated_at) where last_error is not null;
create index windlass_join_ended on "windlass".windlass_join (ended_at) where ended_at is not null;

-- No foreign key: it would cost every member a look, and a join of many a third of its time.
create table "windlass".windlass_join_member (
    join_id    uuid        not null,
    message_id uuid        not null,
    created_at timestamptz not null,
    status     smallint    not null default 0,         -- 0 pending, 1 completed, 2 failed
    queue      varchar(63),                            -- null for a step that was reported, and is no message
    constraint windlass_join_member_pk primary key (join_id, message_id),
    constraint windlass_join_member_check check (status between 0 and 2)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

create index windlass_join_member_message on "windlass".windlass_join_member (message_id);

-- Messages that ended, and were deleted at once, while a join was pending. Who starts a join, writes a message and attaches it
-- afterwards may come after its end: then this tells how it ended.
create table "windlass".windlass_join_gone (
    message_id uuid        not null,
    gone_at    timestamptz not null,
    status     smallint    not null,                   -- as that of a member
    constraint windlass_join_gone_pk primary key (message_id)
);
create index windlass_join_gone_at on "windlass".windlass_join_gone (gone_at);

-- Starts a join; with a topic or an outer join it also says what follows, see windlass_join_follow. A repeated call with the ids of the
-- first, because the answer was lost, changes nothing. Returns the id.
create or replace function "windlass".windlass_join_start(
    p_expected_steps   integer,
    p_grouping_key     text default null,
    p_metadata         text default null,
    p_fail_if_any      boolean default true,
    p_id               uuid default null,
    p_complete_topic   text default null,
    p_complete_payload text default null,
    p_fail_topic       text default null,
    p_fail_payload     text default null,
    p_outer_join_id    uuid default null,
    p_follow_up_id     uuid default null,
    p_outbox           text default null
) returns uuid
    language plpgsql
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_id  uuid := coalesce(p_id, "windlass".windlass_new_id());
begin
    if (p_expected_steps > 0) is not true then
        perform "windlass".windlass_refuse('a number of steps of one or more', p_expected_steps::text, 'Give p_expected_steps.');
    end if;
    insert into "windlass".windlass_join (id, created_at, updated_at, expected_steps, grouping_key, metadata, fail_if_any)
    values (v_id, v_now, v_now, p_expected_steps, p_grouping_key, p_metadata, coalesce(p_fail_if_any, true))
    on conflict (id) do nothing;
    if coalesce(p_complete_topic, p_fail_topic, p_outer_join_id::text) is not null then
        perform "windlass".windlass_join_follow(v_id, p_outbox, p_complete_topic, p_complete_payload, p_fail_topic, p_fail_payload,
                                              p_outer_join_id, p_follow_up_id);
    end if;
    return v_id;
end
$sql$;

-- Says what follows a join, once: a message of p_outbox when it has completed, another when it has failed; a topic of null means that
-- nothing follows then. p_fail_if_any replaces what was said at the start. With p_outer_join_id what follows is a step of that join,
-- and if nothing follows, the end of this one is. If the join has ended, it follows now; a cancelled one has nothing to follow.
-- Returns the id of the message that follows.
create or replace function "windlass".windlass_join_follow(
    p_join_id          uuid,
    p_outbox           text,
    p_complete_topic   text default null,
    p_complete_payload text default null,
    p_fail_topic       text default null,
    p_fail_payload     text default null,
    p_outer_join_id    uuid default null,
    p_follow_up_id     uuid default null,
    p_fail_if_any      boolean default null
) returns uuid
    language plpgsql
as $sql$
declare
    v_id   uuid := coalesce(p_follow_up_id, "windlass".windlass_new_id());
    v_join "windlass".windlass_join;
begin
    if coalesce(p_complete_topic, p_fail_topic) is null and p_outer_join_id is null then
        perform "windlass".windlass_refuse('what follows', 'nothing', 'Give p_complete_topic, p_fail_topic or p_outer_join_id.');
    elsif to_regclass($name$"windlass"$name$ || '.' || quote_ident(p_outbox || '_dedup')) is null then
        perform "windlass".windlass_refuse('the table of an outbox', p_outbox, 'Give p_outbox, for example ''outbox''.');
    end if;
    perform 1
       from "windlass".windlass_join j
      where j.id in (p_join_id, p_outer_join_id)
      order by j.id desc
        for update;
    v_join := "windlass".windlass_join_known(p_join_id);
    if v_join.follow_up_id is not null then
        if p_follow_up_id is distinct from v_join.follow_up_id then
            perform "windlass".windlass_refuse('a join without a follow-up', 'one that has it', 'What follows a join is said once.');
        end if;
        return v_join.follow_up_id;
    elsif v_join.status = 3 then
        perform "windlass".windlass_refuse('a join that is pending or has ended', 'one that was cancelled', 'Start another.');
    end if;
    if p_outer_join_id is not null then
        if exists (with recursive outward (id) as (
                       select p_outer_join_id
                       union
                       select j.outer_join_id from outward join "windlass".windlass_join j on j.id = outward.id)
                   select from outward where outward.id = p_join_id) then
            perform "windlass".windlass_refuse('an outer join that can end before this one', 'one that waits for it',
                                             'A join cannot be a step of itself, nor of one of its own steps.');
        end if;
        perform "windlass".windlass_join_enter(p_outer_join_id, p_outbox, array[v_id]);
    end if;
    update "windlass".windlass_join j
       set updated_at = clock_timestamp(), fail_if_any = coalesce(p_fail_if_any, j.fail_if_any), follow_up_id = v_id, outbox = p_outbox,
           outer_join_id = p_outer_join_id, complete_topic = p_complete_topic,
           complete_payload = case when p_complete_topic is not null then coalesce(p_complete_payload, '') end,
           fail_topic = p_fail_topic, fail_payload = case when p_fail_topic is not null then coalesce(p_fail_payload, '') end
     where j.id = p_join_id;
    if v_join.status in (1, 2) then
        perform "windlass".windlass_join_end(array[p_join_id]);
    end if;
    return v_id;
end
$sql$;

-- A join that the caller has locked. Fails if there is none.
create or replace function "windlass".windlass_join_known(p_join_id uuid) returns "windlass".windlass_join
    language plpgsql
as $sql$
declare
    v_join "windlass".windlass_join;
begin
    select j.* into v_join from "windlass".windlass_join j where j.id = p_join_id;
    if not found then
        perform "windlass".windlass_refuse('the id of a join', p_join_id::text, 'Start it first, in the same transaction or before.');
    end if;
    return v_join;
end
$sql$;

-- Makes messages members of a join that the caller has locked; those that are stay as they are. Returns the new ones.
create or replace function "windlass".windlass_join_enter(p_join_id uuid, p_queue text, p_ids uuid[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_join "windlass".windlass_join := "windlass".windlass_join_known(p_join_id);
    v_new  uuid[];
begin
    with entered as (
        insert into "windlass".windlass_join_member (join_id, message_id, created_at, queue)
        select p_join_id, i.id, clock_timestamp(), p_queue from unnest(p_ids) as i (id)
        on conflict (join_id, message_id) do nothing
        returning message_id)
    select coalesce(array_agg(entered.message_id), '{}') into v_new from entered;
    if cardinality(v_new) = 0 then
        return v_new;
    elsif v_join.status <> 0 then
        perform "windlass".windlass_refuse('a pending join', 'one that has ended', 'Start another for further steps.');
    elsif v_join.members + cardinality(v_new) > v_join.expected_steps then
        perform "windlass".windlass_refuse('at most ' || v_join.expected_steps || ' steps', (v_join.members + cardinality(v_new))::text,
                                         'Start the join with as many as it is to wait for.');
    end if;
    update "windlass".windlass_join j
       set members = j.members + cardinality(v_new), updated_at = clock_timestamp()
     where j.id = p_join_id;
    return v_new;
end
$sql$;

-- Counts the ends of messages in the joins they are members of, each membership once: p_status 1 completed, 2 failed. Called by
-- whatever ends a message, which has locked it; with p_join_id in that one only. Joins that have ended take no notice.
create or replace function "windlass".windlass_join_count(p_message_ids uuid[], p_status integer, p_join_id uuid default null)
    returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_joins uuid[];
    v_join  uuid;
begin
    v_joins := array(select j.id
                       from "windlass".windlass_join j
                      where j.id = any (array(select c.join_id
                                                from "windlass".windlass_join_member c
                                               where c.message_id = any (p_message_ids) and c.status = 0))
                        and j.status = 0 and (p_join_id is null or j.id = p_join_id)
                      order by j.id desc
                        for update);
    if cardinality(v_joins) = 0 then
        return;
    end if;
    with counted as (
        update "windlass".windlass_join_member c
           set status = p_status
         where c.message_id = any (p_message_ids) and c.join_id = any (v_joins) and c.status = 0
        returning c.join_id),
    steps as (
        select counted.join_id, count(*)::integer as number from counted group by counted.join_id),
    changed as (
        update "windlass".windlass_join j
           set completed_steps = j.completed_steps + case p_status when 1 then steps.number else 0 end,
               failed_steps = j.failed_steps + case p_status when 2 then steps.number else 0 end,
               updated_at = clock_timestamp()
          from steps
         where j.id = steps.join_id
        returning j.id, j.completed_steps + j.failed_steps = j.expected_steps as complete)
    select coalesce(array_agg(changed.id order by changed.id desc), '{}') into v_joins from changed where changed.complete;
    foreach v_join in array v_joins loop
        begin
            perform "windlass".windlass_join_end(array[v_join]);
        exception
            when others or assert_failure then
                if sqlstate = '55P03' or sqlstate like '40%' then -- no refusal: the outer join is locked, or all of this is to be repeated
                    raise;
                end if;
                update "windlass".windlass_join j
                   set last_error = 'what follows is refused (SQLSTATE ' || sqlstate || ')' -- whose text may quote a row
                 where j.id = v_join;
        end;
    end loop;
end
$sql$;

-- Ends joins all of whose steps are counted, and writes what follows; the caller has locked them. If no message follows, the end itself
-- is the step of the outer one. What follows is written once: its content is in the message from now on, and only there. Returns how
-- many.
create or replace function "windlass".windlass_join_end(p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_join   "windlass".windlass_join;
    v_status smallint;
    v_topic  text;
begin
    for v_join in select j.* from "windlass".windlass_join j where j.id = any (p_ids) order by j.id desc loop
        v_status := case when v_join.failed_steps > 0 and v_join.fail_if_any then 2 else 1 end;
        v_topic := case v_status when 1 then v_join.complete_topic else v_join.fail_topic end;
        update "windlass".windlass_join j
           set status = v_status, updated_at = clock_timestamp(), ended_at = coalesce(j.ended_at, clock_timestamp()),
               last_error = null, complete_payload = null, fail_payload = null
         where j.id = v_join.id;
        if v_topic is not null then
            execute 'select ' || $name$"windlass"$name$ || '.' || quote_ident(v_join.outbox || '_enqueue')
                    || '(p_topic => $1, p_payload => $2, p_correlation_id => $3, p_id => $4, p_join_id => $5)'
              using v_topic, case v_status when 1 then v_join.complete_payload else v_join.fail_payload end,
                    'join-' || v_join.id, v_join.follow_up_id,
                    (select o.id from "windlass".windlass_join o where o.id = v_join.outer_join_id); -- may be cancelled, and gone since
        elsif v_join.outer_join_id is not null then
            perform "windlass".windlass_join_count(array[v_join.follow_up_id], v_status);
        end if;
    end loop;
    return cardinality(p_ids);
end
$sql$;

-- Tries again to end joins whose follow-up was refused, those first that have waited longest; see windlass_each. Returns how many.
create or replace function "windlass".windlass_join_end_refused(p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
begin
    return "windlass".windlass_each(
        'select ' || $name$"windlass".windlass_join_end$name$ || '($1::uuid[])',
        array(select j.id
                from "windlass".windlass_join j
               where j.last_error is not null
               order by j.updated_at
               limit p_limit
                 for update skip locked)::text[]);
end
$sql$;

-- Notes messages that are done and were deleted, while a join is pending to which they could still be attached.
create or replace function "windlass".windlass_join_note_done(p_ids uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    if exists (select from "windlass".windlass_join j where j.status = 0) then
        insert into "windlass".windlass_join_gone (message_id, gone_at, status)
        select i.id, clock_timestamp(), 1 from unnest(p_ids) as i (id)
        on conflict (message_id) do nothing;
    end if;
end
$sql$;

-- Counts a step that no queue reports: p_status 1 completed, 2 failed. p_step names it, and may be the id of a message; what has been
-- counted before is not counted again. Returns whether it is counted so: false if it has ended otherwise, or the join has ended without
-- it. A new step of a join that has ended, or has all its steps, is refused.
create or replace function "windlass".windlass_join_report(p_join_id uuid, p_step uuid, p_status integer) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_status smallint;
begin
    if p_status is null or p_status not in (1, 2) then
        perform "windlass".windlass_refuse('1 for completed or 2 for failed', p_status::text, 'Give p_status.');
    elsif coalesce(p_step, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000' then
        perform "windlass".windlass_refuse('the id of a step', p_step::text, 'Give p_step, an id of your own, the same whenever you report it.');
    end if;
    perform 1 from "windlass".windlass_join j where j.id = p_join_id for update;
    select c.status into v_status from "windlass".windlass_join_member c where c.join_id = p_join_id and c.message_id = p_step;
    if v_status > 0 then
        return v_status = p_status;
    elsif v_status is null then
        perform "windlass".windlass_join_enter(p_join_id, null, array[p_step]);
    end if;
    perform "windlass".windlass_join_count(array[p_step], p_status, p_join_id);
    return exists (select from "windlass".windlass_join_member c
                    where c.join_id = p_join_id and c.message_id = p_step and c.status = p_status);
end
$sql$;

-- Takes failed steps back whose messages are to be handled once more, where the join is pending. The caller has locked them.
create or replace function "windlass".windlass_join_take_back(p_message_ids uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_joins uuid[];
begin
    v_joins := array(select j.id
                       from "windlass".windlass_join j
                      where j.id = any (array(select c.join_id
                                                from "windlass".windlass_join_member c
                                               where c.message_id = any (p_message_ids) and c.status = 2))
                        and j.status = 0
                      order by j.id desc
                        for update);
    with reopened as (
        update "windlass".windlass_join_member c
           set status = 0
         where c.message_id = any (p_message_ids) and c.join_id = any (v_joins) and c.status = 2
        returning c.join_id),
    steps as (
        select reopened.join_id, count(*)::integer as number from reopened group by reopened.join_id)
    update "windlass".windlass_join j
       set failed_steps = j.failed_steps - steps.number, updated_at = clock_timestamp(), last_error = null
      from steps
     where j.id = steps.join_id;
end
$sql$;

-- One join, or those of a grouping key, the latest first. The next page begins before the last one's (created_at, id).
create or replace function "windlass".windlass_join_find(p_join_id uuid) returns setof "windlass".windlass_join
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query select j.* from "windlass".windlass_join j where j.id = p_join_id;
end
$sql$;

create or replace function "windlass".windlass_join_list(
    p_limit        integer,
    p_grouping_key text default null,
    p_status       integer default null,
    p_before_at    timestamptz default null,
    p_before_id    uuid default null
) returns setof "windlass".windlass_join
    language plpgsql
    stable
as $sql$
begin
    return query
    select j.*
      from "windlass".windlass_join j
     where (p_grouping_key is null or j.grouping_key = p_grouping_key)
       and (p_status is null or j.status = p_status)
       and (p_before_at is null or (j.created_at, j.id) < (p_before_at, coalesce(p_before_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')))
     order by j.created_at desc, j.id desc
     limit p_limit;
end
$sql$;

-- The members of a join, in the order of their ids. The next page begins after the last one's.
create or replace function "windlass".windlass_join_members(p_join_id uuid, p_limit integer default 1000, p_after_id uuid default null)
    returns setof "windlass".windlass_join_member
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    select c.*
      from "windlass".windlass_join_member c
     where c.join_id = p_join_id and c.message_id > coalesce(p_after_id, '00000000-0000-0000-0000-000000000000')
     order by c.message_id
     limit p_limit;
end
$sql$;

-- Deletes joins that ended longer ago than p_keep, their members first, and what was noted for joins that have ended since. Returns how
-- many rows.
create or replace function "windlass".windlass_join_clean(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_oldest timestamptz := coalesce((select min(j.created_at) from "windlass".windlass_join j where j.status = 0), clock_timestamp());
    v_joins  uuid[];
    v_count  integer;
begin
    v_count := "windlass".windlass_delete($name$"windlass".windlass_join_gone$name$, array(
        select g.ctid
          from "windlass".windlass_join_gone g
         where g.gone_at < greatest(v_before, v_oldest - interval '1 hour')
         order by g.gone_at
         limit p_limit
           for update skip locked));
    v_joins := array(select j.id
                       from "windlass".windlass_join j
                      where j.ended_at < v_before
                      order by j.ended_at
                      limit p_limit
                        for update skip locked);
    v_count := v_count + "windlass".windlass_delete($name$"windlass".windlass_join_member$name$, array(
        select c.ctid from "windlass".windlass_join_member c where c.join_id = any (v_joins) limit p_limit for update skip locked));
    return v_count + "windlass".windlass_delete($name$"windlass".windlass_join$name$, array(
        select j.ctid
          from "windlass".windlass_join j
         where j.id = any (v_joins)
           and not exists (select from "windlass".windlass_join_member c where c.join_id = j.id)));
end
$sql$;

-- Ends a join without anything that follows. Its members go on; their ends count nowhere. Returns whether it is cancelled: false if
-- it has ended otherwise.
create or replace function "windlass".windlass_join_cancel(p_join_id uuid) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_outer uuid;
    v_step  uuid;
begin
    update "windlass".windlass_join j
       set status = 3, ended_at = clock_timestamp(), updated_at = clock_timestamp(), last_error = null, complete_payload = null,
           fail_payload = null
     where j.id = p_join_id and j.status = 0
    returning j.outer_join_id, j.follow_up_id into v_outer, v_step;
    if not found then
        return ("windlass".windlass_join_known(p_join_id)).status = 3;
    end if;
    if v_outer is not null then
        perform "windlass".windlass_join_count(array[v_step], 2);
    end if;
    return true;
end
$sql$;

insert into "windlass".windlass_version (table_name, component, version, min_compatible) values ('windlass', 'windlass', 1, 1);

-- A queue. One state machine:
--
--   4 waiting --(its turn has come)--> 0 ready --claim--> 1 in progress --ack--> 2 done
--                                        ^  |                |   |
--                                        |  +---- expire ----|---+--fail--> 3 failed --requeue--> 0 ready
--                                        +--abandon, release, reap
--
--   0 ready, 4 waiting --cancel--> 5 cancelled          4 waiting --expire--> 3 failed
--
-- The check is the invariant: a message has a lease exactly while it is in progress, and an end exactly when it has ended. What concerns
-- one column is said by its domain: PostgreSQL reads every check of a table again for each statement, and a dozen of them took two
-- thirds of the time of an insert. The token of the last owner stays with a message that has ended: who repeats an ack whose answer was lost is
-- told that it holds.
create table "windlass"."outbox" (
    id              uuid         not null,             -- time-ordered, so that the index grows at one end
    created_at      timestamptz  not null,
    next_attempt_at timestamptz  not null,             -- never earlier than the moment the message became ready
    due_at          timestamptz,                       -- as the user wrote it; retries move next_attempt_at only
    expires_at      timestamptz,
    claimed_at      "windlass".windlass_time,            -- when the attempt began that is going on, or was the last
    locked_until    "windlass".windlass_time,
    ended_at        "windlass".windlass_time,
    erased_at       timestamptz,
    owner_token     uuid,
    retry_count     "windlass".windlass_count not null default 0,
    lease_expiries  "windlass".windlass_count not null default 0, -- apart from retries: a neighbour may have killed the process
    crashes         "windlass".windlass_small_count not null default 0, -- leases that ran out after the start of the handler was written down
    requeues        "windlass".windlass_small_count not null default 0,
    status          "windlass".windlass_status not null default 0,
    priority        "windlass".windlass_priority not null default 4, -- 0 to 9: those with the higher one are claimed first
    started         boolean      not null default false, -- the start of its handler was written down, in this attempt
    awaited         boolean      not null default false, -- something has to be done when it ends; others pay nothing for it
    keyed           boolean      not null default false, -- it is claimed in the turn of its key
    topic           "windlass".windlass_name not null,
    source          varchar(255) collate "C",          -- where it came from
    correlation_id  varchar(255),
    processed_by    varchar(100),
    last_error      varchar(2048),
    headers         "windlass".windlass_headers,
    payload         text         not null,
    constraint "outbox_pk" primary key (id),
    constraint "outbox_state_check" check ((status = 1) = (locked_until is not null) and (status in (2, 3, 5)) = (ended_at is not null))
) with (
    -- Every message leaves two or three dead rows behind; the default (a fifth of the table) comes too late for a queue.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- Ready messages by topic and priority, then by time: a node looks only at topics it has a handler and room for, so a paused,
-- saturated or unknown topic with any backlog costs the others nothing.
create index "outbox_ready" on "windlass"."outbox" (topic, priority, next_attempt_at, id) where status = 0 and not keyed;
create index "outbox_leased" on "windlass"."outbox" (locked_until) where status = 1;
create index "outbox_expiring" on "windlass"."outbox" (expires_at) where status in (0, 4) and expires_at is not null;
create index "outbox_ended_at" on "windlass"."outbox" (status, ended_at) where ended_at is not null;
create index "outbox_failed" on "windlass"."outbox" (topic, ended_at, id) where status = 3;

-- Attempts that failed. Successes write nothing here. No foreign key: it would cost every deleted message a look.
create table "windlass"."outbox_failure" (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),                           -- unknown when a lease ran out
    error      varchar(2048)
);
create index "outbox_failure_of" on "windlass"."outbox_failure" (message_id, failed_at);

-- A queue whose messages can be members of joins. One that is none pays nothing for it.
alter table "windlass"."outbox"
    add column joined boolean not null default false,
    add constraint "outbox_joined_check" check (awaited or not joined);

-- Makes messages members of a join. One that has ended counts at once; also one that is gone, if the join was started before it was
-- written. Whoever repeats a call changes nothing. Returns how many are new.
create or replace function "windlass"."outbox_attach"(p_join_id uuid, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids     uuid[];
    v_unknown uuid[];
    v_ended   uuid[];
begin
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."outbox_lock"(p_ids, array[0, 1, 2, 3, 4, 5]);
    perform 1 from "windlass".windlass_join j where j.id = p_join_id for update;
    perform "windlass".windlass_join_known(p_join_id);
    if cardinality(v_ids) < cardinality(p_ids) then
        v_unknown := array(
            select unnest(p_ids)
            except select unnest(v_ids)
            except select g.message_id from "windlass".windlass_join_gone g where g.message_id = any (p_ids)
            except select c.message_id from "windlass".windlass_join_member c where c.join_id = p_join_id and c.message_id = any (p_ids));
        if cardinality(v_unknown) > 0 then
            perform "windlass".windlass_refuse('ids of messages of ' || 'outbox', v_unknown[1]::text,
                                             'Attach a message in the transaction that writes it, or start the join before it is written.');
        end if;
    end if;
    v_ids := "windlass".windlass_join_enter(p_join_id, 'outbox', array(select distinct i.id from unnest(p_ids) as i (id)));
    if cardinality(v_ids) > 0 then
        update "windlass"."outbox" m set joined = true, awaited = true where m.id = any (v_ids) and m.status + 0 <> 2;
        for v_status in 1 .. 2 loop
            v_ended := array(
                select m.id from "windlass"."outbox" m
                 where m.id = any (v_ids) and case m.status when 2 then 1 when 3 then 2 when 5 then 2 end = v_status
                 union
                select g.message_id from "windlass".windlass_join_gone g where g.message_id = any (v_ids) and g.status = v_status);
            if cardinality(v_ended) > 0 then
                perform "windlass".windlass_join_count(v_ended, v_status, p_join_id);
            end if;
        end loop;
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Makes messages that the caller has just written members of their joins; what was first under a deduplication key, in their place.
create or replace function "windlass"."outbox_enter_joins"(p_ids uuid[], p_join_ids uuid[], p_originals uuid[]) returns void
    language plpgsql
as $sql$
declare
    v_join  uuid;
    v_known uuid[];
begin
    if p_originals is not null then
        perform "windlass"."outbox_lock"(p_originals, array[0, 1, 2, 3, 4, 5]);
    end if;
    perform 1 from "windlass".windlass_join j where j.id = any (p_join_ids) order by j.id desc for update;
    for v_join in select distinct e.join_id from unnest(p_join_ids) as e (join_id) where e.join_id is not null loop
        perform "windlass".windlass_join_enter(v_join, 'outbox', array(
            select e.id
              from unnest(p_ids, p_join_ids, p_originals) as e (id, join_id, original)
             where e.join_id = v_join and e.original is null));
        v_known := array(
            select distinct e.original
              from unnest(p_join_ids, p_originals) as e (join_id, original)
             where e.join_id = v_join and e.original is not null);
        if cardinality(v_known) > 0 then
            perform "windlass"."outbox_attach"(v_join, v_known);
        end if;
    end loop;
end
$sql$;

-- Counts messages that end, if they are members of joins.
create or replace function "windlass"."outbox_joined_ended"(p_ids uuid[], p_status smallint) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_joined uuid[] := array(select m.id from "windlass"."outbox" m where m.id = any (p_ids) and m.joined);
begin
    if cardinality(v_joined) > 0 then
        perform "windlass".windlass_join_count(v_joined, case p_status when 2 then 1 else 2 end);
    end if;
end
$sql$;

-- Failed messages are to be handled once more: where their joins are pending, the failed steps are taken back.
create or replace function "windlass"."outbox_joined_reopened"(p_ids uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_joined uuid[] := array(select m.id from "windlass"."outbox" m where m.id = any (p_ids) and m.joined);
begin
    if cardinality(v_joined) > 0 then
        perform "windlass".windlass_join_take_back(v_joined);
    end if;
end
$sql$;

-- Notes how messages ended that are about to be deleted, while a join is pending to which they could still be attached.
create or replace function "windlass"."outbox_note_gone"(p_ids uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    if exists (select from "windlass".windlass_join j where j.status = 0) then
        insert into "windlass".windlass_join_gone (message_id, gone_at, status)
        select m.id, clock_timestamp(), case m.status when 2 then 1 else 2 end from "windlass"."outbox" m where m.id = any (p_ids)
        on conflict (message_id) do nothing;
    end if;
end
$sql$;

-- The outbox: a queue whose messages may have an order.
--
-- An ordering key is held by one message at most: the one that is ready or in progress, or that failed and keeps its successors
-- waiting. All others of that key wait, outside the index that claims read.
alter table "windlass"."outbox"
    add column ordering_sequence bigint,
    add column blocks_key        boolean not null default false, -- it failed, and others of its key wait until somebody decides
    add column ordering_key      varchar(255) collate "C",
    add constraint "outbox_key_check" check (ordering_key is null and status <> 4 or awaited and ordering_sequence is not null);

create index "outbox_waiting" on "windlass"."outbox" (ordering_key, ordering_sequence) where status = 4;
create index "outbox_waiting_again" on "windlass"."outbox" (ordering_key) where status = 4 and requeues > 0;

-- Messages as they are listed: without their content.
create view "windlass"."outbox_listed" with (security_invoker = true) as
select m.id, m.topic, m.source, m.status, m.priority, m.keyed, m.correlation_id, m.ordering_key, m.ordering_sequence, m.blocks_key, m.created_at, m.due_at,
       m.next_attempt_at, m.expires_at, m.claimed_at, m.locked_until, m.ended_at, m.erased_at, m.processed_by, m.retry_count,
       m.lease_expiries, m.requeues, m.last_error
  from "windlass"."outbox" m;

-- The keys that have unfinished messages. Who writes to a key holds its row until the commit, so that the order of the
-- sequence is the order of the commits. A new row starts at the time in microseconds: later than all there was before.
create table "windlass"."outbox_key" (
    ordering_key  varchar(255) collate "C" not null,
    last_sequence bigint       not null,
    taken_by      uuid         not null,               -- the message that found the key free
    constraint "outbox_key_pk" primary key (ordering_key)
) with (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1
);

-- Keys whose last known message ended while somebody was writing to them; the next claim sees what came of it.
create table "windlass"."outbox_key_freed" (
    ordering_key varchar(255) collate "C" not null,
    constraint "outbox_key_freed_pk" primary key (ordering_key)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

-- Which message was written under a deduplication key. Apart from the messages, which may be gone before the window ends.
create table "windlass"."outbox_dedup" (
    topic      varchar(255) collate "C" not null,
    dedup_key  varchar(255) collate "C" not null,
    message_id uuid         not null,
    expires_at timestamptz  not null,
    constraint "outbox_dedup_pk" primary key (topic, dedup_key)
);
create index "outbox_dedup_expiring" on "windlass"."outbox_dedup" (expires_at);

-- A queue whose messages are claimed by topic. What its verbs have in common stands with those for messages in progress.

-- Takes up to p_limit ready and due messages, at most p_places[i] of topic p_topics[i] and about p_bytes of payload, for
-- p_lease; the first one whatever its size. Without topics, of whatever topic there is, in random order, so that a full one
-- cannot keep the others waiting. Expired messages are left to expire(); paused topics are left alone, and of limited ones only as
-- many are taken as their limits leave.
--
-- Of a topic, the priorities of p_priorities come one after the other. With p_ageing that one comes first whose oldest message has
-- waited longest, where each step of priority counts as if it had waited for so much longer.
--
-- Under an open snapshot the dead entries of claimed messages stay in the index, and every claim would step over all of
-- them. So a claimer gives, for each topic and each priority, the position (next_attempt_at, id) up to which it knows that nothing
-- is left; the arrays have those of the first topic first.
-- How it knows: let F be the number of a claim's transaction that reached position P. Whoever stamped a message at or before
-- P did so before that claim read its clock, and had its own transaction number by then, so that number is below F. Once a
-- later claim from the old bound reaches past P in a snapshot with xmin > F, all of those transactions had ended in that
-- snapshot, and the claim has seen what they committed. What a claim itself makes ready, and takes, has a later stamp than
-- it can prove: it gets the time that the claim has read before it had its number.
--
-- With p_each it takes them one by one, and leaves those that a constraint or a trigger of the user's refuses; up to a thousand
-- of each topic. If all are refused, it fails as the last one did.
create or replace function "windlass"."outbox_claim"(
    p_owner      uuid,
    p_lease      interval,
    p_limit      integer,
    p_topics     text[] default null,
    p_places     integer[] default null,
    p_after_ats  timestamptz[] default null,
    p_after_ids  uuid[] default null,
    p_bytes      bigint default null,
    p_each       boolean default false,
    p_priorities integer[] default array[4],
    p_ageing     interval default null
) returns setof "windlass"."outbox"
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now     timestamptz := clock_timestamp();
    v_proved  timestamptz := v_now;
    v_bytes   bigint := coalesce(p_bytes, 9223372036854775807);
    v_most    bigint := p_limit;
    v_topics  text[];
    v_places  integer[];
    v_allowed integer[];
    v_paused  text[];
    v_limited text[];
    v_ids     uuid[] := '{}';
    v_keyed   uuid[] := '{}';
    v_found   record;
    v_counts  jsonb := '{}';
    v_size    bigint := 0;
    v_taken   uuid[] := '{}';
    v_refused uuid;
begin
    perform "windlass".windlass_check_lease(p_lease);
    if p_topics is not null then
        perform "windlass".windlass_check_lengths(cardinality(p_topics), cardinality(p_places));
        perform "windlass".windlass_check_lengths(cardinality(p_topics) * cardinality(p_priorities), cardinality(p_after_ats),
                                                cardinality(p_after_ids));
    end if;
    if exists (select from "windlass"."outbox_key_freed") then
        perform "windlass"."outbox_pass_on_freed"();
        v_now := clock_timestamp();
    end if;
    v_topics := coalesce(p_topics, array(select t from (select distinct "windlass"."outbox_ready_topics"() as t) r order by random()));
    v_places := coalesce(p_places, array_fill(p_limit, array[cardinality(v_topics)]));
    select coalesce(array_agg(t.topic) filter (where t.paused_at is not null), '{}'),
           array_agg(t.topic) filter (where num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0)
      into v_paused, v_limited
      from "windlass".windlass_topic t
     where t.queue = 'outbox';
    if v_limited && v_topics then
        v_places := "windlass"."outbox_limited_places"(v_topics, v_places, v_limited);
        v_now := clock_timestamp();
    end if;
    v_allowed := v_places;
    if p_each then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
        v_most := v_most + 1000;
        v_bytes := 9223372036854775807;
        v_places := array(select least(p.places, p_limit) + 1000 from unnest(v_places) with ordinality as p (places, number) order by p.number);
    end if;
    v_ids := v_keyed || array(
        select s.id
          from (select f.id, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
                  from unnest(v_topics, v_places) with ordinality as want (topic, places, number)
                 cross join lateral (
                       select r.id, r.size
                         from (select l.priority, (want.number - 1) * cardinality(p_priorities) + l.number as place
                                 from unnest(p_priorities) with ordinality as l (priority, number)
                                order by case when p_ageing is not null then
                                              (select o.next_attempt_at
                                                 from "windlass"."outbox" o
                                                where o.status = 0 and not o.keyed and o.topic = want.topic and o.priority = l.priority
                                                  and o.next_attempt_at <= v_now
                                                  and (o.next_attempt_at, o.id)
                                                      > (coalesce(p_after_ats[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '-infinity'),
                                                         coalesce(p_after_ids[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '00000000-0000-0000-0000-000000000000'))
                                                order by o.next_attempt_at, o.id
                                                limit 1) - l.priority * p_ageing end, l.number) level
                        cross join lateral (
                              select m.id, octet_length(m.payload) as size
                                from "windlass"."outbox" m
                               where m.status = 0
                                 and not m.keyed
                                 and m.topic = want.topic
                                 and m.priority = level.priority
                                 and m.next_attempt_at <= v_now
                                 and (m.next_attempt_at, m.id)
                                     > (coalesce(p_after_ats[level.place], '-infinity'),
                                        coalesce(p_after_ids[level.place], '00000000-0000-0000-0000-000000000000'))
                                 and (m.expires_at is null or m.expires_at > v_now)
                               order by m.next_attempt_at, m.id
                               limit want.places
                                 for update skip locked) r
                        limit want.places) f
                 where want.topic <> all (v_paused)
                 limit v_most - cardinality(v_keyed)) s
         where p_each or s.before is null or s.before < v_bytes);
    if cardinality(v_ids) = 0 then
    end if;
    if p_each then
        for v_found in
            select m.id, m.topic, octet_length(m.payload) as size
              from unnest(v_ids) with ordinality as p (id, number)
              join "windlass"."outbox" m on m.id = p.id
             order by p.number
        loop
            exit when cardinality(v_taken) >= p_limit or v_size >= p_bytes;
            continue when coalesce((v_counts ->> v_found.topic)::integer, 0)
                          >= v_allowed[array_position(v_topics, v_found.topic)];
            begin
                update "windlass"."outbox" m
                   set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
                       next_attempt_at = least(m.next_attempt_at, v_proved)
                 where m.id = v_found.id;
                v_taken := v_taken || v_found.id;
                v_counts := v_counts || jsonb_build_object(v_found.topic, coalesce((v_counts ->> v_found.topic)::integer, 0) + 1);
                v_size := v_size + v_found.size;
            exception when others or assert_failure then
                v_refused := v_found.id;
            end;
        end loop;
        v_ids := case when cardinality(v_taken) = 0 and v_refused is not null then array[v_refused] else v_taken end;
    end if;
    if v_limited && v_topics then
        perform "windlass"."outbox_note_starts"(v_ids, v_limited, v_now);
    end if;
    return query
    update "windlass"."outbox" m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
           next_attempt_at = least(m.next_attempt_at, v_proved)
     where m.id = any (v_ids)
    returning m.*; -- once more for those that were taken one by one; and if all were refused, it fails in the words of who refuses
end
$sql$;

-- How many of these topics may be claimed, where they have limits. Whoever learns it holds the rows of the limits until its commit, so that
-- the next one counts what it has taken. A topic whose row somebody else holds for longer than a moment gets no place now.
create or replace function "windlass"."outbox_limited_places"(p_topics text[], p_places integer[], p_limited text[]) returns integer[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '20ms'
as $sql$
declare
    v_places integer[] := p_places;
    v_topic  text;
    v_limit  "windlass".windlass_topic;
    v_now    timestamptz;
    v_room   integer;
begin
    for v_topic in select l.topic from unnest(p_limited) as l (topic) where l.topic = any (p_topics) order by l.topic loop
        begin
            select t.* into v_limit from "windlass".windlass_topic t where t.queue = 'outbox' and t.topic = v_topic for update;
        exception
            when lock_not_available then
                v_places[array_position(p_topics, v_topic)] := 0;
                continue;
        end;
        if current_setting('transaction_isolation') <> 'read committed' then -- no new snapshot: who counts with an old one has to fail
            update "windlass".windlass_topic t set topic = t.topic where t.queue = 'outbox' and t.topic = v_topic;
        end if;
        v_now := clock_timestamp();
        v_room := v_places[array_position(p_topics, v_topic)];
        if v_limit.max_running is not null then
            v_room := least(v_room, v_limit.max_running - cardinality("windlass"."outbox_in_progress"(v_topic, v_now)));
        end if;
        if v_limit.rate is not null then
            delete from "windlass".windlass_start s
             where s.queue = 'outbox' and s.topic = v_topic and s.started_at <= v_now - v_limit.rate_period;
            v_room := least(v_room, v_limit.rate - (select coalesce(sum(s.messages), 0)
                                                      from "windlass".windlass_start s
                                                     where s.queue = 'outbox' and s.topic = v_topic));
        end if;
        v_places[array_position(p_topics, v_topic)] := greatest(v_room, 0);
    end loop;
    return v_places;
end
$sql$;

-- The messages of a topic that are in progress. Those whose lease has run out are not: their rows are locked, so that no renewal that is
-- under way can bring them back. One that cannot be locked is being renewed, or ends; it counts.
create or replace function "windlass"."outbox_in_progress"(p_topic text, p_now timestamptz) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_live    uuid[];
    v_expired uuid[];
begin
    select coalesce(array_agg(m.id) filter (where m.locked_until > p_now), '{}'), array_agg(m.id) filter (where m.locked_until <= p_now)
      into v_live, v_expired
      from "windlass"."outbox" m
     where m.status = 1 and m.locked_until > p_now - interval '10 minutes' and m.topic = p_topic; -- no renewal takes that long
    if v_expired is not null then
        v_live := v_live || array(
            select unnest(v_expired)
            except
            select unnest(array(select m.id
                                  from "windlass"."outbox" m
                                 where m.id = any (v_expired) and (m.locked_until <= p_now or m.locked_until is null)
                                   for update skip locked)));
    end if;
    return v_live;
end
$sql$;

-- Notes what begins of topics that have a rate; their limits are locked.
create or replace function "windlass"."outbox_note_starts"(p_ids uuid[], p_limited text[], p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    insert into "windlass".windlass_start (queue, topic, started_at, messages)
    select 'outbox', m.topic, p_now, count(*)
      from "windlass"."outbox" m
     where m.id = any (p_ids)
       and m.topic in (select t.topic
                         from "windlass".windlass_topic t
                        where t.queue = 'outbox' and t.topic = any (p_limited) and t.rate is not null)
     group by m.topic;
end
$sql$;

-- The topics that have ready messages, due or not: one step in the index for each.
create or replace function "windlass"."outbox_ready_topics"() returns setof text
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with recursive step (topic) as (
        (select m.topic
           from "windlass"."outbox" m
          where m.status = 0 and not m.keyed and m.topic is not null
          order by m.topic
          limit 1)
        union all
        select (select m.topic
                  from "windlass"."outbox" m
                 where m.status = 0 and not m.keyed and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
end
$sql$;

-- How many milliseconds until the next ready message of these topics is due, at most a day; zero or less when one is due
-- now, null when there is none. The bounds are those of claim.
create or replace function "windlass"."outbox_next_due"(
    p_topics     text[],
    p_after_ats  timestamptz[],
    p_after_ids  uuid[],
    p_priorities integer[] default array[4]
) returns bigint
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_due bigint;
begin
    v_due := (
        select ceil(extract(epoch from min(least(f.next_attempt_at, v_now + interval '1 day')) - v_now) * 1000)
          from unnest(p_topics) with ordinality as want (topic, number)
         cross join unnest(p_priorities) with ordinality as level (priority, number)
         cross join lateral (
               select m.next_attempt_at
                 from "windlass"."outbox" m
                where m.status = 0
                  and not m.keyed
                  and m.topic = want.topic
                  and m.priority = level.priority
                  and (m.next_attempt_at, m.id) > (p_after_ats[(want.number - 1) * cardinality(p_priorities) + level.number],
                                                   p_after_ids[(want.number - 1) * cardinality(p_priorities) + level.number])
                  and (m.expires_at is null or m.expires_at > v_now)
                order by m.next_attempt_at, m.id
                limit 1) f
         where want.topic not in (select t.topic
                                    from "windlass".windlass_topic t
                                   where t.queue = 'outbox' and t.paused_at is not null));
    if exists (select from "windlass"."outbox_key_freed") then
        return least(v_due, 250);
    end if;
    return v_due;
end
$sql$;

-- What there is to do in this queue, for whoever has nothing to do and would rather not ask one question after the other. It changes
-- nothing and waits for nobody, not even for one who rewrites the table, so that one statement can ask it of all queues. Without
-- p_topics it does not look for due messages; with p_others it also names the topics besides these that have ready ones.
create or replace function "windlass"."outbox_look"(p_topics text[] default null, p_others boolean default false)
    returns "windlass".windlass_look
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '100ms'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_look "windlass".windlass_look;
begin
    if p_topics is not null then
        v_look.due_in := "windlass"."outbox_next_due"(
            p_topics, array_fill('-infinity'::timestamptz, array[cardinality(p_topics) * cardinality(array[4])]),
            array_fill('00000000-0000-0000-0000-000000000000'::uuid, array[cardinality(p_topics) * cardinality(array[4])]));
    end if;
    v_look.expires_in := (select ceil(extract(epoch from least(m.expires_at, v_now + interval '1 day') - v_now) * 1000)
                            from "windlass"."outbox" m
                           where m.status in (0, 4) and m.expires_at is not null
                           order by m.expires_at
                           limit 1);
    v_look.leased := exists (select from "windlass"."outbox" m where m.status = 1 and m.locked_until is not null);
    if p_others and p_topics is not null then
        v_look.others := array(select t.topic from "windlass"."outbox_ready_topics"() as t (topic) except select unnest(p_topics));
    end if;
    return v_look;
end
$sql$;

-- Ends messages whose expiry has passed as failed, ready ones and such that wait for their turn. Returns how many.
create or replace function "windlass"."outbox_expire"(p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[];
begin
    v_ids := array(select r.id
                     from "windlass"."outbox" r
                    where r.status in (0, 4) and r.expires_at is not null and r.expires_at <= v_now
                    order by r.expires_at
                    limit p_limit
                      for update skip locked);
    return "windlass"."outbox_maintain"('expire', v_ids);
end
$sql$;

-- Deletes what has been done or cancelled for longer than p_keep. Returns how many.
create or replace function "windlass"."outbox_clean"(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
as $sql$
begin
    return (select c.deleted from "windlass"."outbox_clean_after"(p_keep, p_limit, '-infinity') c);
end
$sql$;

-- The same for those who delete many in a row: of what is done, it looks only at what ended at p_after or later, and tells how far it has
-- come. Under an open snapshot the entries of what has been deleted stay in the index, and whoever begins at the start steps over
-- them. What was locked, or was committed very late, is left behind: begin at the start now and then.
create or replace function "windlass"."outbox_clean_after"(
    p_keep  interval,
    p_limit integer,
    p_after timestamptz,
    out deleted integer,
    out reached timestamptz
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_ids    uuid[];
begin
    select coalesce(array_agg(l.id), '{}'), max(l.ended_at)
      into v_ids, reached
      from (select r.id, r.ended_at
              from "windlass"."outbox" r
             where r.status = 2 and r.id is not null and r.ended_at >= p_after and r.ended_at < v_before
             order by r.ended_at
             limit p_limit
               for update skip locked) l;
    v_ids := v_ids || array(select r.id
                              from "windlass"."outbox" r
                             where r.status = 5 and r.id is not null and r.ended_at < v_before
                             order by r.ended_at
                             limit p_limit - cardinality(v_ids)
                               for update skip locked);
    deleted := "windlass"."outbox_maintain"('clean', v_ids);
end
$sql$;

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
create or replace function "windlass"."outbox_ack"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text default null,
    p_keep         boolean default true,
    p_notify       boolean default true,
    p_again        boolean default true
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."outbox_change_held"(case when p_keep then 'ack' else 'delete' end, p_ids, p_owners,
                                        p_processed_by => p_processed_by, p_notify => p_notify, p_again => p_again);
end
$sql$;

-- Returns messages to ready after a failed attempt, which is counted and kept in the history unless p_counted says otherwise. A
-- null delay means min(2^retry_count s, 60 s).
create or replace function "windlass"."outbox_abandon"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_delays       interval[] default null,
    p_errors       text[] default null,
    p_processed_by text default null,
    p_counted      boolean[] default null
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_delays), cardinality(p_errors), cardinality(p_counted));
    return "windlass"."outbox_change_held"('abandon', p_ids, p_owners, p_processed_by => p_processed_by, p_delays => p_delays,
                                        p_errors => p_errors, p_flags => p_counted);
end
$sql$;

-- Returns messages to ready without counting an attempt: the owner is shutting down or cannot handle them. Other nodes are
-- told.
create or replace function "windlass"."outbox_release"(
    p_ids    uuid[],
    p_owners uuid[],
    p_delay  interval default '0 s'
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."outbox_change_held"('release', p_ids, p_owners, p_delays => array[p_delay]);
end
$sql$;

-- Ends messages as failed; they are not claimed again. Under an ordering key, the others wait until it is requeued, purged or
-- passed over, unless p_block says otherwise.
create or replace function "windlass"."outbox_fail"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_errors       text[] default null,
    p_processed_by text default null,
    p_block        boolean[] default null,
    p_notify       boolean default true
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_errors), cardinality(p_block));
    return "windlass"."outbox_change_held"('fail', p_ids, p_owners, p_processed_by => p_processed_by, p_errors => p_errors,
                                        p_flags => p_block, p_notify => p_notify);
end
$sql$;

-- Renews the leases that have not run out.
create or replace function "windlass"."outbox_heartbeat"(
    p_ids    uuid[],
    p_owners uuid[],
    p_lease  interval
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lease(p_lease);
    return "windlass"."outbox_change_held"('heartbeat', p_ids, p_owners, p_delays => array[p_lease], p_leave => true);
end
$sql$;

-- Writes down that the handlers of these messages start now. If their lease runs out after that, it is held against them.
create or replace function "windlass"."outbox_start"(
    p_ids    uuid[],
    p_owners uuid[]
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."outbox_change_held"('start', p_ids, p_owners, p_leave => true);
end
$sql$;

-- Gives back all that a claim took whose answer was lost or could not be read: to ready, without counting an attempt, or, with
-- a reason why it cannot be read, as failed. Tells how many, and how many are left because somebody has them locked, or because
-- they are refused: ask for them again. None at all may mean that the claim is not committed yet.
create or replace function "windlass"."outbox_give_back"(
    p_owner uuid,
    p_error text default null,
    out given       integer,
    out left_locked integer
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_ids uuid[] := array(select m.id
                            from "windlass"."outbox" m
                           where m.status = 1 and m.locked_until > clock_timestamp() and m.owner_token = p_owner);
begin
    given := 0;
    left_locked := 0;
    if cardinality(v_ids) > 0 then
        select s.changed, cardinality(s.locked)
          into given, left_locked
          from "windlass"."outbox_change_held"(case when p_error is null then 'release' else 'fail' end, v_ids, array[p_owner],
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
create or replace function "windlass"."outbox_change_held"(
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
) returns "windlass".windlass_answer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
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
    v_answer  "windlass".windlass_answer;
begin
    if cardinality(p_ids) <> cardinality(v_owners) then
        raise exception 'expected one owner, or one for each of % messages, got %', cardinality(p_ids), cardinality(p_owners)
            using errcode = 'invalid_parameter_value', hint = 'Give the owner tokens in the order of the ids.';
    end if;
    if p_leave then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    end if;
    begin
        v_done := "windlass"."outbox_change_all"(p_verb, p_ids, p_ids, v_owners, p_processed_by, p_delays, p_errors, p_flags, p_notify,
                                          p_pass_on);
    exception
        when others or assert_failure then
            if sqlstate <> '55P03' and not p_leave then
                raise;
            end if;
            v_done := '{}';
            v_free := array(select m.id from "windlass"."outbox" m where m.id = any (p_ids) order by m.id for update skip locked);
            foreach v_awaited in array array[false, true] loop
                v_part := array(select m.id from "windlass"."outbox" m where m.id = any (v_free) and m.awaited = v_awaited);
                begin
                    v_done := v_done || "windlass"."outbox_change_all"(p_verb, v_part, p_ids, v_owners, p_processed_by, p_delays,
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
                    v_done := v_done || "windlass"."outbox_change_all"(p_verb, array[v_id], p_ids, v_owners, p_processed_by, p_delays,
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
                v_done := "windlass"."outbox_change_all"(p_verb, array[v_refused], p_ids, v_owners, p_processed_by, p_delays, p_errors,
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
                  left join "windlass"."outbox" m on m.id = c.id and m.id = any (p_ids)) e;
    else
        v_answer := (cardinality(v_done), '{}', '{}');
    end if;
    return v_answer;
end
$sql$;

-- Changes those of p_only that their owners hold; what is said of each stands in the order of p_ids. Fails if somebody holds a
-- row for longer than a moment, or, where p_patient says that the caller has locked them, than a second. Returns the ids that it changed.
create or replace function "windlass"."outbox_change_all"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
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
                update "windlass"."outbox" m
                   set status = 2, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited)
            select coalesce(array_agg(done.id), '{}'), array_agg(done.id) filter (where done.awaited)
              into v_ids, v_awaited from done;
            if v_awaited is not null then
                perform "windlass"."outbox_ended"(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
            end if;
        when 'delete' then
            v_ids := '{}';
            if p_pass_on then -- else all of them are awaited, as a rule
                with done as (
                    delete from "windlass"."outbox" m
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
                          join "windlass"."outbox" m on m.id = c.id
                         where m.id = any (p_only) and m.owner_token = c.owner_token and m.locked_until is not null
                           for update of m) l;
                if v_awaited is not null then
                    perform "windlass"."outbox_ended"(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
                    delete from "windlass"."outbox" m where m.id = any (v_awaited);
                    v_ids := v_ids || v_awaited;
                end if;
            end if;
            if v_tried is not null then
                delete from "windlass"."outbox_failure" h where h.message_id = any (v_tried);
            end if;
            perform "windlass".windlass_join_note_done(v_ids);
        when 'abandon' then
            perform pg_current_xact_id();
            with failed as (
                update "windlass"."outbox" m
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
                insert into "windlass"."outbox_failure" (message_id, failed_at, attempt, node, error)
                select failed.id, clock_timestamp(), failed.attempt, left(p_processed_by, 100), left(failed.error, 2048)
                  from failed
                 where failed.counted)
            select coalesce(array_agg(failed.id), '{}') into v_ids from failed;
        when 'release' then
            perform pg_current_xact_id();
            with released as (
                update "windlass"."outbox" m
                   set status = 0, owner_token = null, locked_until = null,
                       next_attempt_at = greatest(
                           clock_timestamp() + coalesce(p_delays[1], interval '0'),
                           case when m.next_attempt_at > m.claimed_at then m.next_attempt_at end) -- put off by a trigger of the user's
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id)
            select coalesce(array_agg(released.id), '{}') into v_ids from released;
            if cardinality(v_ids) > 0 then
                perform pg_notify('windlass.windlass.outbox', 'ready');
            end if;
        when 'fail' then
            with ended as (
                update "windlass"."outbox" m
                   set status = 3, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by,
                       last_error = coalesce(left(c.error, 2048), m.last_error)
                  from (select * from unnest(p_ids, p_owners, p_errors) as u (id, owner_token, error) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited, m.ended_at, m.retry_count, c.error),
            recorded as (
                insert into "windlass"."outbox_failure" (message_id, failed_at, attempt, node, error)
                select ended.id, ended.ended_at, ended.retry_count + 1, left(p_processed_by, 100), left(ended.error, 2048)
                  from ended)
            select coalesce(array_agg(ended.id), '{}'), array_agg(ended.id) filter (where ended.awaited)
              into v_ids, v_awaited from ended;
            if v_awaited is not null then
                perform "windlass"."outbox_ended"(
                    v_awaited, 3::smallint,
                    array(select u.id from unnest(p_ids, p_flags) as u (id, block) where u.block is not false),
                    p_pass_on, p_notify);
            end if;
        when 'heartbeat' then
            with kept as (
                update "windlass"."outbox" m
                   set locked_until = clock_timestamp() + p_delays[1]
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token
                   and m.locked_until > clock_timestamp()
                returning m.id)
            select coalesce(array_agg(kept.id), '{}') into v_ids from kept;
        when 'start' then
            with begun as (
                update "windlass"."outbox" m
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
create or replace function "windlass"."outbox_reap"(
    p_quiet   interval,
    p_limit   integer default 1000,
    p_watched boolean default false
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer;
begin
    if v_now < pg_postmaster_start_time() + p_quiet
       or p_watched and not "windlass"."outbox_is_calm"(p_quiet) then
        return 0;
    end if;
    v_count := "windlass"."outbox_maintain"('reap', array(
        select r.id
          from "windlass"."outbox" r
         where r.status = 1 and r.id is not null and r.locked_until <= v_now
         order by r.locked_until
         limit p_limit
           for update skip locked));
    if v_count > 0 then
        perform pg_notify('windlass.windlass.outbox', 'ready');
    end if;
    return v_count;
end
$sql$;

-- What has to be done to messages that the caller has locked: reap, expire or clean; see windlass_each. Returns how many.
create or replace function "windlass"."outbox_maintain"(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
as $sql$
begin
    return "windlass".windlass_each(
        'select ' || $name$"windlass"."outbox_maintain_all"$name$ || '(' || quote_literal(p_verb) || ', $1::uuid[])', p_ids::text[]);
end
$sql$;

create or replace function "windlass"."outbox_maintain_all"(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids   uuid[];
    v_count integer;
begin
    case p_verb
        when 'reap' then
            with reaped as (
                update "windlass"."outbox" m
                   set status = 0, owner_token = null, locked_until = null, lease_expiries = m.lease_expiries + 1,
                       crashes = least(m.crashes + m.started::integer, 32767), next_attempt_at = clock_timestamp()
                 where m.id = any (p_ids)
                returning m.id, m.next_attempt_at, m.retry_count),
            recorded as (
                insert into "windlass"."outbox_failure" (message_id, failed_at, attempt, error)
                select reaped.id, reaped.next_attempt_at, reaped.retry_count + 1, 'its lease ran out' from reaped)
            select coalesce(array_agg(reaped.id), '{}') into v_ids from reaped;
            v_count := cardinality(v_ids);
        when 'expire' then
            v_count := "windlass"."outbox_end_unclaimed"(p_ids, 3::smallint, 'expired before it was handled');
        when 'clean' then
            v_count := "windlass"."outbox_remove"(p_ids);
    end case;
    return v_count;
end
$sql$;

-- Deletes messages that the caller has locked, with their history. Returns how many.
create or replace function "windlass"."outbox_remove"(p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_count integer;
    v_tried uuid[];
begin
    perform "windlass"."outbox_note_gone"(p_ids);
    perform "windlass"."outbox_pass_on"(array(
        select m.ordering_key from "windlass"."outbox" m where m.id = any (p_ids) and m.blocks_key), true);
    with removed as (
        delete from "windlass"."outbox" m
         where m.id = any (p_ids)
        returning m.id, m.status = 3 or m.retry_count + m.lease_expiries + m.requeues > 0 as tried)
    select count(*), array_agg(removed.id) filter (where removed.tried) into v_count, v_tried from removed;
    if v_tried is not null then
        delete from "windlass"."outbox_failure" h where h.message_id = any (v_tried);
    end if;
    return v_count;
end
$sql$;

-- Does what has to be done when messages end for which something has to be done (awaited), in the same transaction. Called after
-- their rows have been changed, or locked and not deleted yet.
create or replace function "windlass"."outbox_ended"(
    p_ids      uuid[],
    p_status   smallint,
    p_blocking uuid[],
    p_pass_on  boolean,
    p_notify   boolean
) returns void
    language plpgsql
as $sql$
begin
    perform "windlass"."outbox_message_ended"(p_ids, p_status, p_blocking, p_pass_on, p_notify);
end
$sql$;

-- Ends messages that nobody has claimed; the caller has locked them. Returns how many.
create or replace function "windlass"."outbox_end_unclaimed"(p_ids uuid[], p_status smallint, p_reason text) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_waiting uuid[] := array(select m.id from "windlass"."outbox" m where m.id = any (p_ids) and m.status + 0 = 4);
    v_count   integer;
    v_awaited uuid[];
begin
    with ended as (
        update "windlass"."outbox" m
           set status = p_status, ended_at = clock_timestamp(), last_error = coalesce(p_reason, m.last_error)
         where m.id = any (p_ids)
        returning m.id, m.awaited)
    select count(*), array_agg(ended.id) filter (where ended.awaited) into v_count, v_awaited from ended;
    if v_awaited is not null then
        perform "windlass"."outbox_ended"(array(select unnest(v_awaited) except select unnest(v_waiting)), p_status, '{}', true, true);
        perform "windlass"."outbox_ended"(array(select unnest(v_awaited) intersect select unnest(v_waiting)), p_status, '{}', false,
                                       true);
    end if;
    return v_count;
end
$sql$;

-- Whether living owners have had the time to renew: somebody has been here again and again, and the last interruption lies
-- p_quiet back. Owners renew every third of a lease; so after two thirds without anybody, leases may have run out for no fault
-- of theirs. A server that was away, or has just become the primary, was not here. A clock that was set back is an interruption,
-- too; what was noted by the clock before does not count.
create or replace function "windlass"."outbox_is_calm"(p_quiet interval) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_watch "windlass".windlass_watch;
begin
    select w.* into v_watch from "windlass".windlass_watch w where w.queue = 'outbox';
    if v_watch.seen_at between v_now - p_quiet / 10 and v_now + p_quiet then
        return v_watch.quiet_until <= v_now;
    end if;
    perform 1 from "windlass".windlass_watch w where w.queue = 'outbox' for update skip locked;
    if found then -- else whoever has it locked is here, too
        update "windlass".windlass_watch w
           set seen_at = v_now,
               quiet_until = case when w.seen_at between v_now - p_quiet * 2 / 3 and v_now + p_quiet then w.quiet_until
                                  else v_now + p_quiet end
         where w.queue = 'outbox'
        returning w.* into v_watch;
    end if;
    return v_watch.quiet_until <= v_now;
end
$sql$;

-- Locks those of the ids that are in one of these states. Whoever has one locked is waited for, in the order of the ids and with none
-- locked that is not in these states, so that two who want the same cannot deadlock; and a message that has left them meanwhile is
-- not kept locked, as PostgreSQL would: its owner could not renew it.
create or replace function "windlass"."outbox_lock"(p_ids uuid[], p_states integer[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
    v_id  uuid;
begin
    begin
        v_ids := array(select m.id
                         from "windlass"."outbox" m
                        where m.id = any (p_ids) and m.status + 0 = any (p_states)
                        order by m.id
                          for update skip locked);
        if not exists (select
                         from "windlass"."outbox" m
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
                select m.id from "windlass"."outbox" m where m.id = any (p_ids) and m.status + 0 = any (p_states) order by m.id
            loop
                perform 1 from "windlass"."outbox" m where m.id = v_id and m.status + 0 = any (p_states) for update;
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

insert into "windlass".windlass_watch (queue, seen_at, quiet_until)
values ('outbox', clock_timestamp(), '-infinity')
on conflict do nothing;

-- What programs and operators do to messages of a queue that nobody is handling. What an operator does is recorded in the same
-- transaction: who, when, what, and to how many messages.

-- One message, in whatever state.
create or replace function "windlass"."outbox_find"(p_id uuid) returns setof "windlass"."outbox"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query select m.* from "windlass"."outbox" m where m.id = p_id;
end
$sql$;

-- The attempts of a message that failed, the oldest first.
create or replace function "windlass"."outbox_failures"(p_id uuid) returns setof "windlass"."outbox_failure"
    language plpgsql
    stable
as $sql$
begin
    return query select h.* from "windlass"."outbox_failure" h where h.message_id = p_id order by h.failed_at;
end
$sql$;

-- Ends messages that nobody has claimed as cancelled; they are gone at once unless p_keep says otherwise. Returns how many;
-- others, claimed or ended, stay as they are.
create or replace function "windlass"."outbox_cancel"(p_ids uuid[], p_keep boolean default true) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."outbox_lock"(p_ids, array[0, 4]);
    if p_keep or exists (select from "windlass"."outbox" m where m.id = any (v_ids) and m.awaited) then
        perform "windlass"."outbox_end_unclaimed"(v_ids, 5::smallint, null);
    end if;
    if not p_keep and "windlass"."outbox_remove"(v_ids) < cardinality(v_ids) then -- what cannot be deleted now is cancelled all the same
        perform "windlass"."outbox_end_unclaimed"(
            array(select m.id from "windlass"."outbox" m where m.id = any (v_ids) and m.status + 0 in (0, 4)), 5::smallint, null);
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Moves the due time of messages that nobody has claimed: to p_due_at, or p_delay from now, or now. Returns how many.
create or replace function "windlass"."outbox_reschedule"(
    p_ids    uuid[],
    p_due_at timestamptz default null,
    p_delay  interval default null,
    p_notify boolean default true
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
    v_now timestamptz;
    v_due timestamptz;
begin
    perform "windlass".windlass_check_ids(p_ids);
    perform "windlass".windlass_check_times(p_due_at, p_delay);
    v_ids := "windlass"."outbox_lock"(p_ids, array[0, 4]);
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    v_due := coalesce(p_due_at, v_now + p_delay, v_now);
    update "windlass"."outbox" m
       set due_at = v_due, next_attempt_at = greatest(v_now, v_due)
     where m.id = any (v_ids);
    if p_notify and cardinality(v_ids) > 0 then
        perform pg_notify('windlass.windlass.outbox', 'ready');
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
create or replace function "windlass"."outbox_list"(
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
) returns setof "windlass"."outbox_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
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
    if p_status = 4 then
        return query
        select m.*
          from "windlass"."outbox_listed" m
         where m.status = 4
           and m.created_at >= v_from and m.created_at < v_until
           and (m.ordering_key, m.ordering_sequence) > (coalesce(p_after_key, ''), coalesce(p_after_number, 0))
           and (p_topic is null or m.topic = p_topic)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ordering_key, m.ordering_sequence
         limit p_limit;
        return;
    end if;
    if p_status is null then
        return query
        select m.*
          from "windlass"."outbox_listed" m
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
          from unnest(case when p_topic is null then array(select distinct "windlass"."outbox_ready_topics"()) else array[p_topic] end) t (topic)
         cross join unnest(array[4]) level (priority)
         cross join lateral (
               select m.*
                 from "windlass"."outbox_listed" m
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
          from "windlass"."outbox_listed" m
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
          from "windlass"."outbox_listed" m
         where m.status = 3 and m.topic = p_topic
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    else
        return query
        select m.*
          from "windlass"."outbox_listed" m
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
create or replace function "windlass"."outbox_pick_failed"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := "windlass".windlass_action_until(p_action, p_until);
    v_ids   uuid[];
begin
    perform "windlass".windlass_check_choice(p_by, p_ids, coalesce(p_topic, p_source, p_from::text, p_until::text, p_error) is not null,
                                           p_limit, p_all);
    if p_ids is not null then
        v_ids := "windlass"."outbox_lock"(p_ids, array[3]);
        return array(select m.id from "windlass"."outbox" m where m.id = any (v_ids) and (m.erased_at is null or not p_whole));
    elsif p_topic is not null then
        return array(select m.id
                       from "windlass"."outbox" m
                      where m.status = 3 and m.topic = p_topic and m.ended_at >= v_from and m.ended_at < v_until
                        and (p_source is null or m.source = p_source)
                        and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                        and (m.erased_at is null or not p_whole)
                      order by m.ended_at, m.id
                      limit p_limit
                        for update skip locked);
    end if;
    return array(select m.id
                   from "windlass"."outbox" m
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
create or replace function "windlass"."outbox_requeue"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now     timestamptz;
    v_ids     uuid[];
    v_waiting uuid[] := '{}';
begin
    v_ids := "windlass"."outbox_pick_failed"(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, true);
    messages := cardinality(v_ids);
    reached := (select max(m.ended_at) from "windlass"."outbox" m where m.id = any (v_ids));
    perform pg_current_xact_id();
    perform "windlass"."outbox_joined_reopened"(v_ids);
    v_waiting := "windlass"."outbox_enter_keys"(v_ids);
    if exists (select from "windlass"."outbox" m where m.id = any (v_ids) and m.source = 'job') then
        perform "windlass"."outbox_job_runs_reopened"(array(
            select m.id from "windlass"."outbox" m where m.id = any (v_ids) and m.source = 'job'));
    end if;
    v_now := clock_timestamp();
    update "windlass"."outbox" m
       set status = case when m.id = any (v_waiting) then 4 else 0 end, owner_token = null,
           next_attempt_at = greatest(v_now, m.due_at), ended_at = null, processed_by = null, lease_expiries = 0, crashes = 0,
           retry_count = case when p_reset then 0 else m.retry_count end,
           requeues = least(m.requeues + 1, 32767),
           expires_at = case when m.expires_at > v_now then m.expires_at end
     where m.id = any (v_ids);
    if messages > 0 then
        perform pg_notify('windlass.windlass.outbox', 'ready');
    end if;
    action := "windlass".windlass_record('outbox', p_action, p_by, 'requeue', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error,
                                     'reset', p_reset));
    return next;
end
$sql$;

-- Deletes failed messages and their history. Otherwise as requeue.
create or replace function "windlass"."outbox_purge"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    v_ids := "windlass"."outbox_pick_failed"(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, false);
    reached := (select max(m.ended_at) from "windlass"."outbox" m where m.id = any (v_ids));
    messages := "windlass"."outbox_remove"(v_ids);
    action := "windlass".windlass_record('outbox', p_action, p_by, 'purge', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error));
    return next;
end
$sql$;

-- Removes payload and headers of messages that have ended; everything else stays. Returns how many.
create or replace function "windlass"."outbox_erase"(p_by text, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    perform "windlass".windlass_check_by(p_by);
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."outbox_lock"(p_ids, array[2, 3, 5]);
    v_ids := array(select m.id from "windlass"."outbox" m where m.id = any (v_ids) and m.erased_at is null);
    update "windlass"."outbox" m set payload = '', headers = null, erased_at = clock_timestamp() where m.id = any (v_ids);
    perform "windlass".windlass_record('outbox', null, p_by, 'erase', cardinality(v_ids), p_ids, '{}');
    return cardinality(v_ids);
end
$sql$;

-- Stops claims of a topic, everywhere; handlers that are at work finish. Returns whether it was not paused before.
create or replace function "windlass"."outbox_pause_topic"(p_by text, p_topic text, p_reason text default null) returns boolean
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    if p_topic is null or btrim(p_topic) = '' then
        perform "windlass".windlass_refuse('a topic', case when p_topic is null then 'null' else 'blank text' end,
                                         'Topics are paused one by one.');
    end if;
    insert into "windlass".windlass_topic as t (queue, topic, paused_at, paused_by, reason)
    values ('outbox', p_topic, clock_timestamp(), p_by, nullif(left(p_reason, 2048), ''))
    on conflict (queue, topic) do update
       set paused_at = excluded.paused_at, paused_by = excluded.paused_by, reason = excluded.reason
     where t.paused_at is null;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('outbox', null, p_by, 'pause', 0, null, jsonb_build_object('topic', p_topic, 'reason', p_reason));
    perform pg_notify('windlass.windlass.outbox', 'topics');
    return true;
end
$sql$;

-- Lets a topic be claimed again. Returns whether it was paused.
create or replace function "windlass"."outbox_resume_topic"(p_by text, p_topic text) returns boolean
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    delete from "windlass".windlass_topic t
     where t.queue = 'outbox' and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) = 0;
    if not found then
        update "windlass".windlass_topic t
           set paused_at = null, paused_by = null, reason = null
         where t.queue = 'outbox' and t.topic = p_topic and t.paused_at is not null;
    end if;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('outbox', null, p_by, 'resume', 0, null, jsonb_build_object('topic', p_topic));
    perform pg_notify('windlass.windlass.outbox', 'topics');
    return true;
end
$sql$;

-- Limits a topic over all nodes: how many are in progress at once, how many of each key, and how many begin within any time of this
-- length. What is left out is not limited. Whatever is in progress goes on. Returns whether that is a change.
create or replace function "windlass"."outbox_limit_topic"(
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
    perform "windlass".windlass_check_by(p_by);
    perform "windlass".windlass_check_limit(p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period);
    if p_max_per_key is not null and not false then
        perform "windlass".windlass_refuse('a limit without p_max_per_key, since messages of ' || 'outbox' || ' have no keys',
                                         p_max_per_key::text, 'Leave p_max_per_key out.');
    end if;
    if num_nonnulls(p_max_running, p_max_per_key, p_rate) > 0 then
        insert into "windlass".windlass_topic as t (queue, topic, max_running, max_per_key, rate, rate_period)
        values ('outbox', p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period)
        on conflict (queue, topic) do update
           set max_running = excluded.max_running, max_per_key = excluded.max_per_key, rate = excluded.rate,
               rate_period = excluded.rate_period
         where (t.max_running, t.max_per_key, t.rate, t.rate_period)
               is distinct from (excluded.max_running, excluded.max_per_key, excluded.rate, excluded.rate_period);
    else
        delete from "windlass".windlass_topic t where t.queue = 'outbox' and t.topic = p_topic and t.paused_at is null;
        if not found then
            update "windlass".windlass_topic t
               set max_running = null, max_per_key = null, rate = null, rate_period = null
             where t.queue = 'outbox' and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0;
        end if;
    end if;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('outbox', null, p_by, 'limit', 0, null,
                jsonb_build_object('topic', p_topic, 'running', p_max_running, 'perKey', p_max_per_key, 'rate', p_rate,
                                   'period', p_rate_period));
    perform pg_notify('windlass.windlass.outbox', 'topics');
    return true;
end
$sql$;

-- The topics that are paused or limited.
create or replace function "windlass"."outbox_decided_topics"() returns table (
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
      from "windlass".windlass_topic t
     where t.queue = 'outbox'
     order by t.topic;
end
$sql$;

-- What operators did, the latest first. The next page begins before the last one's number.
create or replace function "windlass"."outbox_actions"(p_limit integer, p_before bigint default null)
    returns setof "windlass".windlass_action
    language plpgsql
    stable
as $sql$
begin
    return query
    select a.*
      from "windlass".windlass_action a
     where a.queue = 'outbox' and (p_before is null or a.id < p_before)
     order by a.id desc
     limit p_limit;
end
$sql$;

-- What can be seen of a queue from outside, by whoever may read it. Nothing is claimed, locked or changed here. Each number is counted along
-- an index and up to a limit, so that it costs on a table of ten million messages what it costs on a small one.

-- How much there is of each state. No count goes beyond p_most, which then means that many or more.
--
--   ready            due now, paused or not           overdue         of these, due for more than five minutes
--   delayed          ready, and due later             oldest_ready_ms since when the oldest of these has been due
--   in_progress      leased, whether or not in time   stuck           of these, see windlass_is_stuck
--
-- With tens of thousands of topics, or with as many dead entries, not everything is looked at. Then "more_topics" is true, and there may be more
-- of what is ready, overdue and delayed, and an older one.
--
-- While a snapshot is open anywhere, the entries of what was claimed and ended stay in the indexes, and whoever begins at the oldest
-- steps over all of them. So everything here looks near to now first, in spans that grow, and ends when it has met some thousand entries
-- more than it has found: what is further away is not found then, until the snapshot is closed.
create or replace function "windlass"."outbox_measure"(
    p_most integer,
    out ready           bigint,
    out delayed         bigint,
    out waiting         bigint,
    out in_progress     bigint,
    out failed          bigint,
    out overdue         bigint,
    out stuck           bigint,
    out oldest_ready_ms bigint,
    out more_topics     boolean
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    select least(coalesce(sum(p.due), 0), p_most), least(coalesce(sum(p.overdue), 0), p_most), least(coalesce(sum(p.later), 0), p_most),
           floor(extract(epoch from v_now - min(p.oldest)) * 1000), coalesce(bool_or(p.more), false)
      into ready, overdue, delayed, oldest_ready_ms, more_topics
      from "windlass"."outbox_pending"(p_most, null, v_now) p;
    select least(count(*), p_most),
           least(count(*) filter (where "windlass".windlass_is_stuck(v_now, l.claimed_at, l.locked_until, null)), p_most)
      into in_progress, stuck
      from "windlass"."outbox_leased_near"(p_most, v_now) l;
    failed := (select count(*)
                 from (select from "windlass"."outbox" m where m.status = 3 and m.ended_at is not null limit p_most) c);
    waiting := 0;
    waiting := (select count(*) from (select from "windlass"."outbox" m where m.status = 4 limit p_most) c);
end
$sql$;

-- Messages in progress whose lease ends after p_since and up to p_until, those first whose lease ends or has ended near to p_now: up to p_most
-- whose lease goes on, and of others up to p_most of each span, so that many that have just run out hide none that did so long ago.
create or replace function "windlass"."outbox_leased_near"(
    p_most  integer,
    p_now   timestamptz,
    p_since timestamptz default '-infinity',
    p_until timestamptz default 'infinity'
)
    returns table (id uuid, topic varchar, retry_count integer, lease_expiries integer, claimed_at timestamptz, locked_until timestamptz)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_span record;
    v_end  bigint;
    v_left integer;
    v_rows integer;
begin
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.since >= p_since and s.until <= p_until loop
        if v_end is null or v_span.until = p_now then -- so much for what is to come, and for what is past
            v_end := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_leased"$name$::regclass) + 5000 + 2 * p_most::bigint;
        end if;
        if v_left is null or v_span.until <= p_now then
            v_left := p_most;
        end if;
        continue when v_left = 0
            or pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_leased"$name$::regclass) > v_end;
        return query
        select m.id, m.topic::varchar, m.retry_count::integer, m.lease_expiries::integer, m.claimed_at::timestamptz,
               m.locked_until::timestamptz
          from "windlass"."outbox" m
         where m.status = 1 and m.locked_until > v_span.since and m.locked_until <= v_span.until
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many ready messages there are: due, of these due for more than five minutes, due later; and since when the oldest is due. With p_topics a
-- row for each of so many topics, with up to p_most of each; else some rows for all topics, with about p_most in all. A last row says
-- with "more" that topics were left out: there are more, or a look at them would cost too much.
--
-- Topics that are much worked on have entries in the index of which nothing is left; they are counted near to now first, see due. The others
-- are taken as they come in the index, many at once: ten thousand topics of one message cost what one of ten thousand does. Where one
-- has many, it is counted alone and stepped over. What lies between topics that were lately worked on comes first: it has few entries
-- of which nothing is left. If the look ends before it has seen all, some of the rest are looked at one by one, see pending_rest.
create or replace function "windlass"."outbox_pending"(p_most integer, p_topics integer, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, more boolean)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_entries bigint  := coalesce(200 * p_topics::bigint, 20000 + p_most::bigint);
    v_topics  integer := coalesce(p_topics, 2147483647);
    v_busy    text[]  := array(select l.topic from "windlass"."outbox_lately"(p_now) l where l.is_busy);
    v_sums    bigint[] := array[0, 0, 0];
    v_from    text    := '';
    v_cut     text;
    v_size    integer;
    v_small   bigint;
    v_met     bigint;
    v_gap     record;
begin
    more := false;
    for topic, due, overdue, later, oldest in
        select case when p_topics is not null then b.topics[1] end, d.*
          from (select v_busy as topics where p_topics is null
                union all
                select array[u.topic] from unnest(v_busy) as u (topic) where p_topics is not null) b
         cross join lateral "windlass"."outbox_pending_busy"(b.topics, p_most, p_now) d loop
        v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
        v_topics := v_topics - 1;
        return next;
    end loop;
    for v_gap in select g.* from "windlass"."outbox_pending_gaps"(p_now) g loop
        v_from := v_gap.since;
        v_size := 100;
        loop
            if v_entries <= 0 or v_topics <= 0 then
                select null, 0, 0, 0, null, true into topic, due, overdue, later, oldest, more;
                if p_topics is null then
                    select r.due, r.overdue, r.later, r.oldest into due, overdue, later, oldest
                      from "windlass"."outbox_pending_rest"(v_gap.turn, v_from, p_now) r;
                end if;
                return next;
                return;
            end if;
            v_met := "windlass"."outbox_pending_met"();
            v_small := 0;
            for topic, due, overdue, later, oldest, v_cut in
                select p.* from "windlass"."outbox_pending_part"(v_from, v_gap.until, v_size, p_topics is not null, p_now) p loop
                if due + later > 0 then
                    v_small := v_small + due + later;
                    v_topics := v_topics - 1;
                    return next;
                end if;
            end loop;
            v_entries := v_entries + v_met - "windlass"."outbox_pending_met"();
            exit when v_cut is null;
            select d.* into due, overdue, later, oldest
              from "windlass"."outbox_pending_of"(v_cut, p_most, case when p_topics is null then v_sums else '{0,0,0}' end, p_now) d;
            topic := case when p_topics is not null then v_cut end;
            v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
            v_topics := v_topics - 1;
            return next;
            v_from := v_cut || E'\x01'; -- comes next
            v_size := case when v_small >= v_size / 2 then least(2 * v_size, 10000, greatest(v_topics, 100)) else 100 end;
        end loop;
    end loop;
end
$sql$;

-- The pieces in which the topics are taken that are not much worked on: from which one on, and before which one. First what lies between those
-- that were lately worked on, then these.
create or replace function "windlass"."outbox_pending_gaps"(p_now timestamptz) returns table (since text, until text, turn integer)
    language plpgsql
    stable
as $sql$
begin
    return query
    with lately as materialized (
        select l.topic collate "C" as topic, l.is_busy from "windlass"."outbox_lately"(p_now) l),
    gap as (
        select '' as since, coalesce(min(l.topic), repeat(E'\U0010ffff', 256)) as until, 1 as turn -- comes after every topic
          from lately l
         union all
        select l.topic || E'\x01', lead(l.topic, 1, repeat(E'\U0010ffff', 256)) over (order by l.topic), 1 from lately l
         union all
        select l.topic, l.topic || E'\x01', 2 from lately l where not l.is_busy)
    select g.since, g.until, g.turn from gap g order by g.turn, g.since collate "C";
end
$sql$;

-- What there is of those topics that pending has not come to, in this turn from topic p_from on: at least so much. A thousand messages are counted of
-- each of those that the statistics of the table name, the most frequent first, then of those that were lately worked on, each near to
-- now first; until 20,000 entries were met.
create or replace function "windlass"."outbox_pending_rest"(
    p_turn integer,
    p_from text,
    p_now  timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end   bigint := "windlass"."outbox_pending_met"() + 20000;
    v_topic text;
    v_found record;
begin
    due := 0;
    overdue := 0;
    later := 0;
    for v_topic in
        with lately as materialized (
            select l.topic, l.is_busy from "windlass"."outbox_lately"(p_now) l)
        select r.topic
          from (select k.topic, 1 as turn, k.place
                  from pg_class c
                  join pg_namespace n on n.oid = c.relnamespace
                  join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'topic'
                 cross join unnest(s.most_common_vals::text::text[] || s.histogram_bounds::text::text[])
                            with ordinality as k (topic, place)
                 where c.oid = $name$"windlass"."outbox"$name$::regclass
                   and k.topic not in (select l.topic from lately l)
                 union all
                select l.topic, 2, 0 from lately l where not l.is_busy) r
         where r.turn > p_turn or (r.turn = p_turn and r.topic collate "C" >= p_from)
         order by r.turn, r.place, r.topic collate "C" loop
        exit when "windlass"."outbox_pending_met"() >= v_end;
        select d.* into v_found from "windlass"."outbox_pending_busy"(array[v_topic], 1000, p_now) d;
        due := due + v_found.due;
        overdue := overdue + v_found.overdue;
        later := later + v_found.later;
        oldest := least(oldest, v_found.oldest);
    end loop;
end
$sql$;

-- Topics that were lately worked on, in their order, and which of them are those that it was most often.
create or replace function "windlass"."outbox_lately"(p_now timestamptz) returns table (topic text, is_busy boolean)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query
    select w.topic::text, row_number() over (order by count(*) desc, w.topic) <= 20
      from ((select m.topic from "windlass"."outbox" m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit 60)
            union all
            (select m.topic from "windlass"."outbox" m where m.status = 3 and m.ended_at is not null order by m.ended_at desc limit 20)
            union all
            (select l.topic from "windlass"."outbox_leased_near"(20, p_now) l limit 20)) w
     group by w.topic
     order by w.topic collate "C";
end
$sql$;

-- How many entries this transaction has met in the indexes of ready messages, with those of which nothing is left.
create or replace function "windlass"."outbox_pending_met"() returns bigint
    language plpgsql
    stable
as $sql$
declare
    v_met bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_ready"$name$::regclass);
begin
    return v_met;
end
$sql$;

-- The p_size ready messages from topic p_from on and before p_until that come first in the index, as in pending. Those of the last of these topics
-- are left out if there may be more: it is the "cut", of which every row tells. A row may be of no message. With p_each a row for each topic.
create or replace function "windlass"."outbox_pending_part"(p_from text, p_until text, p_size integer, p_each boolean, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, cut text)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with part as materialized (
        select m.topic, m.next_attempt_at
          from "windlass"."outbox" m
         where m.status = 0 and not m.keyed and m.topic >= p_from and m.topic < p_until
         order by m.topic, m.priority, m.next_attempt_at, m.id
         limit p_size)
    select case when p_each then m.topic::text end,
           count(*) filter (where m.next_attempt_at <= p_now),
           count(*) filter (where m.next_attempt_at <= p_now - interval '5 minutes'),
           count(*) filter (where m.next_attempt_at > p_now),
           min(m.next_attempt_at) filter (where m.next_attempt_at <= p_now),
           c.topic::text
      from (select case when count(*) = p_size then max(p.topic) end as topic from part p) c
      left join part m on m.topic < c.topic or c.topic is null
     group by 1, 6;
end
$sql$;

-- Ready messages of one topic, as in pending, up to p_most of each with those that were counted already.
create or replace function "windlass"."outbox_pending_of"(
    p_topic   text,
    p_most    integer,
    p_counted bigint[],
    p_now     timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_since timestamptz := p_now - interval '5 minutes';
    v_young timestamptz;
begin
    select d.messages, d.oldest into overdue, oldest
      from "windlass"."outbox_due_between"(array[p_topic], '-infinity', v_since, greatest(p_most - p_counted[2], 0)::integer) d;
    select d.messages + overdue, d.oldest into due, v_young
      from "windlass"."outbox_due_between"(array[p_topic], v_since, p_now, greatest(p_most - p_counted[1] - overdue, 0)::integer) d;
    oldest := least(oldest, v_young);
    later := (select d.messages
                from "windlass"."outbox_due_between"(array[p_topic], p_now, 'infinity', greatest(p_most - p_counted[3], 0)::integer) d);
end
$sql$;

-- The same of topics together that are much worked on.
create or replace function "windlass"."outbox_pending_busy"(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
as $sql$
begin
    select d.ready, d.overdue, d.oldest into due, overdue, oldest from "windlass"."outbox_due"(p_topics, p_most, p_now) d;
    later := (select d.messages from "windlass"."outbox_due_between"(p_topics, p_now, 'infinity', p_most) d);
end
$sql$;

-- How many ready messages of these topics are due, and how many for more than five minutes, at most p_most; and since when the oldest is.
create or replace function "windlass"."outbox_due"(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz default clock_timestamp(),
    out ready   bigint,
    out overdue bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_ready"$name$::regclass) + 5000 + 2 * p_most::bigint
                     + 12 * cardinality(p_topics) * cardinality(array[4]);
    v_old  boolean;
    v_span record;
    v_due  record;
begin
    ready := 0;
    overdue := 0;
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.until <= p_now loop
        v_old := v_span.until <= p_now - interval '5 minutes';
        select d.* into v_due
          from "windlass"."outbox_due_between"(p_topics, v_span.since, v_span.until,
                                            p_most - case when v_old then overdue else ready end::integer) d;
        ready := least(ready + v_due.messages, p_most);
        overdue := overdue + case when v_old then v_due.messages else 0 end;
        oldest := least(oldest, v_due.oldest);
        exit when pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_ready"$name$::regclass) > v_end;
    end loop;
end
$sql$;

-- How many ready messages of these topics became or become due after p_since and up to p_until, at most p_most, which may be none, and when
-- the first of them does.
create or replace function "windlass"."outbox_due_between"(
    p_topics text[],
    p_since  timestamptz,
    p_until  timestamptz,
    p_most   integer,
    out messages bigint,
    out oldest   timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    messages := (select count(*)
                   from (select
                           from unnest(p_topics) as t (topic)
                          cross join unnest(array[4]) as level (priority)
                          cross join lateral (
                                select
                                  from "windlass"."outbox" m
                                 where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                                   and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                                 limit p_most) f
                          limit p_most) c);
    if messages > 0 or p_most = 0 then -- else the same entries would be gone over again, to find nothing
        oldest := (select min(f.next_attempt_at)
                     from unnest(p_topics) as t (topic)
                    cross join unnest(array[4]) as level (priority)
                    cross join lateral (
                          select m.next_attempt_at
                            from "windlass"."outbox" m
                           where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                             and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                           order by m.next_attempt_at, m.id
                           limit 1) f);
    end if;
end
$sql$;

-- Messages in progress that nobody seems to look after, the oldest first, without their content: see windlass_is_stuck. With p_older
-- also those whose lease has just run out, and those whose attempt began that long ago.
create or replace function "windlass"."outbox_stuck"(p_limit integer default 1000, p_older interval default null)
    returns setof "windlass"."outbox_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[] := array(select l.id
                            from "windlass"."outbox_leased_near"(p_limit, v_now, '-infinity',
                                                              case when p_older is null then v_now else 'infinity' end) l
                           where "windlass".windlass_is_stuck(v_now, l.claimed_at, l.locked_until, p_older)
                           order by l.claimed_at, l.id
                           limit p_limit);
begin
    return query
    select m.* from "windlass"."outbox_listed" m where m.id = any (v_ids) order by m.claimed_at, m.id;
end
$sql$;

-- Messages whose leases have run out p_least times or more, the most often first: among p_most in progress, p_most of each topic that are due,
-- but for those with keys, and the p_most that failed last. With more than a thousand topics, those that are due are looked at in some only,
-- and a notice says so.
create or replace function "windlass"."outbox_lapsed"(p_least integer default 2, p_most integer default 1000)
    returns setof "windlass"."outbox_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[];
    v_since  timestamptz[];
    v_more   boolean;
    v_ids    uuid[];
begin
    perform "windlass".windlass_check_most(p_most);
    select coalesce(array_agg(p.topic) filter (where p.oldest is not null), '{}'),
           coalesce(array_agg(p.oldest) filter (where p.oldest is not null), '{}'), bool_or(p.more)
      into v_topics, v_since, v_more
      from "windlass"."outbox_pending"(1, 1000, v_now) p;
    if v_more then
        raise notice 'there are more topics than were looked at';
    end if;
    v_ids := array(
        select l.id
          from (select n.id, n.lease_expiries from "windlass"."outbox_leased_near"(p_most, v_now) n
                union all
                select d.id, d.lease_expiries
                  from "windlass"."outbox_lately"(v_now) b
                 cross join lateral "windlass"."outbox_due_near"(b.topic, p_most, v_now) d
                 where b.is_busy
                union all
                select m.id, m.lease_expiries
                  from (select * from unnest(v_topics, v_since) as u (topic, since)
                         where u.topic not in (select b.topic from "windlass"."outbox_lately"(v_now) b where b.is_busy)) t
                 cross join unnest(array[4]) as level (priority)
                 cross join lateral (
                       select d.id, d.lease_expiries::integer
                         from "windlass"."outbox" d
                        where d.status = 0 and not d.keyed -- as rows: the index of the times alone would be the wrong one
                          and (d.topic, d.priority, d.next_attempt_at) >= (t.topic, level.priority, t.since)
                          and (d.topic, d.priority, d.next_attempt_at) <= (t.topic, level.priority, v_now)
                        limit p_most) m
                union all
                (select m.id, m.lease_expiries::integer
                   from "windlass"."outbox" m
                  where m.status = 3 and m.ended_at is not null
                  order by m.ended_at desc
                  limit p_most)) l
         where l.lease_expiries >= p_least
         order by l.lease_expiries desc, l.id
         limit p_most);
    return query
    select m.* from "windlass"."outbox_listed" m where m.id = any (v_ids) order by m.lease_expiries desc, m.id;
end
$sql$;

-- Up to p_most messages of a topic that are due, those first that became it last.
create or replace function "windlass"."outbox_due_near"(p_topic text, p_most integer, p_now timestamptz)
    returns table (id uuid, lease_expiries integer)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_ready"$name$::regclass) + 5000 + 2 * p_most::bigint;
    v_left integer := p_most;
    v_rows integer;
    v_span record;
begin
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.until <= p_now loop
        exit when v_left = 0 or pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_ready"$name$::regclass) > v_end;
        return query
        select f.id, f.lease_expiries::integer
          from unnest(array[4]) as level (priority)
         cross join lateral (
               select m.id, m.lease_expiries
                 from "windlass"."outbox" m
                where m.status = 0 and not m.keyed and m.topic = p_topic and m.priority = level.priority
                  and m.next_attempt_at > v_span.since and m.next_attempt_at <= v_span.until
                limit v_left) f
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many messages of each topic are in which state, how many of the ready ones are due and since when, and how often messages were tried
-- again on average.
--
-- Of each topic, ready and failed ones are counted up to p_most. Those in progress, those that wait and those that are done are in no order
-- of their topics: of all topics together up to p_most are counted that are in progress, that wait, that were done last. The average is that
-- of all these but the ready ones; it is null where there are none.
create or replace function "windlass"."outbox_totals"(p_most integer default 1000) returns table (
    topic           varchar,
    ready           bigint,
    waiting         bigint,
    in_progress     bigint,
    done            bigint,
    failed          bigint,
    average_retries numeric,
    due             bigint,
    oldest_due_ms   bigint,
    more_topics     boolean
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    return query
    with recursive step (topic, number) as (
        (select m.topic::varchar, 1 from "windlass"."outbox" m where m.status = 3 order by m.topic limit 1)
        union all
        select (select m.topic::varchar from "windlass"."outbox" m where m.status = 3 and m.topic > step.topic order by m.topic limit 1),
               step.number + 1
          from step
         where step.topic is not null and step.number <= 1000),
    looked as materialized (
        select p.* from "windlass"."outbox_pending"(p_most, 1000, v_now) p),
    pending as (
        select p.topic::varchar, least(sum(p.due + p.later), p_most)::bigint as messages, least(sum(p.due), p_most)::bigint as due,
               min(p.oldest) as oldest
          from looked p
         where p.due + p.later > 0
         group by p.topic),
    seen as (
        (select l.topic, 1 as status, l.retry_count from "windlass"."outbox_leased_near"(p_most, v_now) l limit p_most)
        union all
        (select m.topic::varchar, m.status::integer, m.retry_count::integer
           from "windlass"."outbox" m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit p_most)
        union all
        select f.topic, f.status, f.retry_count
          from step
         cross join lateral (
               select m.topic, m.status, m.retry_count
                 from "windlass"."outbox" m
                where m.status = 3 and m.topic = step.topic
                order by m.ended_at desc, m.id desc
                limit p_most) f
        union all
        select w.topic, w.status, w.retry_count from "windlass"."outbox_waiting_sample"(p_most) w),
    counted as (
        select s.topic,
               count(*) filter (where s.status = 4) as waiting,
               count(*) filter (where s.status = 1) as in_progress,
               count(*) filter (where s.status = 2) as done,
               count(*) filter (where s.status = 3) as failed,
               round(avg(s.retry_count), 2) as average_retries
          from seen s
         group by s.topic)
    select coalesce(pending.topic, counted.topic), coalesce(pending.messages, 0), coalesce(counted.waiting, 0),
           coalesce(counted.in_progress, 0), coalesce(counted.done, 0), coalesce(counted.failed, 0), counted.average_retries,
           coalesce(pending.due, 0), floor(extract(epoch from v_now - pending.oldest) * 1000)::bigint,
           exists (select from looked p where p.more) or exists (select from step where step.topic is not null and step.number > 1000)
      from pending
      full join counted on counted.topic = pending.topic
     order by 1;
end
$sql$;

-- Up to p_most messages that wait for their turn: a queue whose messages do has an index of them.
create or replace function "windlass"."outbox_waiting_sample"(p_most integer)
    returns table (topic varchar, status integer, retry_count integer)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query
    select m.topic::varchar, m.status::integer, m.retry_count::integer from "windlass"."outbox" m where m.status = 4 limit p_most;
end
$sql$;

-- The leases that have not run out: how many, at most p_most, when the first and the last of them do, and for how long they have been held on
-- average.
create or replace function "windlass"."outbox_leases"(
    p_most integer default 1000,
    out active          bigint,
    out earliest_expiry timestamptz,
    out latest_expiry   timestamptz,
    out average_age_ms  bigint
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_span record;
    v_end  bigint;
    v_last timestamptz;
begin
    perform "windlass".windlass_check_most(p_most);
    select count(*), min(l.locked_until), max(l.locked_until), (extract(epoch from avg(v_now - l.claimed_at)) * 1000)::bigint
      into active, earliest_expiry, latest_expiry, average_age_ms
      from "windlass"."outbox_leased_near"(p_most, v_now, v_now) l;
    v_end := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_leased"$name$::regclass) + 5000;
    for v_span in select s.* from "windlass".windlass_spans(v_now) s where s.until > latest_expiry
                   order by s.since desc loop
        exit when v_last is not null
            or pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_leased"$name$::regclass) > v_end;
        v_last := (select m.locked_until
                     from "windlass"."outbox" m
                    where m.status = 1 and m.locked_until > greatest(v_span.since, latest_expiry) and m.locked_until <= v_span.until
                    order by m.locked_until desc
                    limit 1);
    end loop;
    latest_expiry := greatest(latest_expiry, v_last);
end
$sql$;

-- The outbox: writing messages, and what has to be done when one ends. Its verbs are those of a queue.

-- Writes one message. Returns its id; under a deduplication key that is taken, the id of the message that took it.
--
-- Messages of one ordering key are handled one after another, in the order of their sequence, over all topics. The key's row
-- is held until the commit: whoever writes to the same key waits until then, so that a message committed later never has the
-- smaller number.
--
-- A node that would handle it at once gives an owner's token and a lease: then the message is in progress from its commit on, as if the
-- node had claimed it, which saves a version of its row and a commit. Not if it has to wait for something, or if an operator has
-- decided something about its topic: then it is written, and told, as any other. "outbox_kept" says which it was.
create or replace function "windlass"."outbox_enqueue"(
    p_topic          text,
    p_payload        text,
    p_correlation_id text default null,
    p_headers        jsonb default null,
    p_due_at         timestamptz default null,
    p_delay          interval default null,
    p_expires_at     timestamptz default null,
    p_id             uuid default null,
    p_notify         boolean default true,
    p_ordering_key   text default null,
    p_dedup_key      text default null,
    p_dedup_window   interval default null,
    p_join_id        uuid default null,
    p_owner          uuid default null,
    p_lease          interval default null
) returns uuid
    language plpgsql
as $sql$
declare
    v_now      timestamptz;
    v_id       uuid := coalesce(p_id, "windlass".windlass_new_id());
    v_original uuid;
    v_sequence bigint;
    v_head     boolean;
    v_owner    uuid;
begin
    if p_due_at is not null and p_delay is not null or p_expires_at is not null then
        perform "windlass".windlass_check_times(p_due_at, p_delay, p_expires_at);
    end if;
    perform pg_current_xact_id();
    if p_dedup_key is not null then
        v_original := "windlass"."outbox_take_dedup_key"(p_topic, p_dedup_key, v_id, p_dedup_window);
        if v_original is not null then
            if p_join_id is not null then
                perform "windlass"."outbox_attach"(p_join_id, array[v_original]);
            end if;
            return v_original;
        end if;
    elsif p_dedup_window is not null then
        perform "windlass"."outbox_check_dedup"(p_dedup_key, p_dedup_window);
    end if;
    if p_ordering_key is not null then
        if btrim(p_ordering_key) = '' or v_id = '00000000-0000-0000-0000-000000000000' then
            perform "windlass"."outbox_check_key"(p_ordering_key, v_id);
        end if;
        insert into "windlass"."outbox_key" as k (ordering_key, last_sequence, taken_by)
        values (p_ordering_key, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint, v_id)
        on conflict (ordering_key) do update
           set last_sequence = k.last_sequence + 1, taken_by = '00000000-0000-0000-0000-000000000000'
        returning k.last_sequence, k.taken_by = v_id into v_sequence, v_head;
        if v_head then -- the insert may have waited for another of the key, which has come and gone: its time is too early then
            update "windlass"."outbox_key" k
               set last_sequence = greatest(k.last_sequence, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint)
             where k.ordering_key = p_ordering_key
            returning k.last_sequence into v_sequence;
        end if;
    end if;
    if p_owner is not null then
        if (p_lease > interval '0') is not true then
            perform "windlass".windlass_check_lease(p_lease);
        end if;
        if p_ordering_key is null and coalesce(p_due_at::text, p_delay::text, p_expires_at::text) is null
           and not exists (select from "windlass".windlass_topic t where t.queue = 'outbox' and t.topic = p_topic) then
            v_owner := p_owner;
        end if;
    end if;
    v_now := clock_timestamp();
    insert into "windlass"."outbox"
        (id, created_at, next_attempt_at, due_at, expires_at, status, topic, correlation_id, headers, payload,
         ordering_key, ordering_sequence, awaited, joined, owner_token, claimed_at, locked_until)
    values (v_id, v_now, greatest(v_now, coalesce(p_due_at, v_now + p_delay)), coalesce(p_due_at, v_now + p_delay),
            p_expires_at, case when v_head is false then 4 when v_owner is not null then 1 else 0 end, p_topic,
            nullif(p_correlation_id, ''), p_headers, p_payload,
            p_ordering_key, v_sequence, coalesce(p_ordering_key, p_join_id::text) is not null, p_join_id is not null,
            v_owner, case when v_owner is not null then v_now end, case when v_owner is not null then v_now + p_lease end);
    if p_join_id is not null then
        perform "windlass"."outbox_enter_joins"(array[v_id], array[p_join_id], null);
    end if;
    if (p_notify or p_owner is not null) and v_owner is null then
        perform pg_notify('windlass.windlass.outbox', 'ready ' || p_topic);
    end if;
    return v_id;
end
$sql$;

-- Those of these messages that this owner holds and may start, as its claim would have returned them: not if an operator has decided
-- something about their topic since they were written, or if a trigger of the user's has made them wait for something.
create or replace function "windlass"."outbox_kept"(p_ids uuid[], p_owner uuid) returns setof "windlass"."outbox"
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query
    select m.*
      from "windlass"."outbox" m
     where m.id = any (p_ids)
       and m.owner_token = p_owner
       and m.status + 0 = 1
       and m.next_attempt_at <= m.claimed_at
       and m.ordering_key is null
       and (m.expires_at is null or m.expires_at > clock_timestamp())
       and not exists (select from "windlass".windlass_topic t where t.queue = 'outbox' and t.topic = m.topic);
end
$sql$;

-- Writes many messages in one round trip, in the order of the arrays. An array of optional values may be null as a whole. A
-- message that is given a join is a member of it.
-- Returns the ids, in the same order; under deduplication keys that are taken, the ids of the messages that took them.
create or replace function "windlass"."outbox_enqueue_all"(
    p_ids             uuid[],
    p_topics          text[],
    p_payloads        text[],
    p_correlation_ids text[] default null,
    p_headers         text[] default null,
    p_due_ats         timestamptz[] default null,
    p_delays          interval[] default null,
    p_expires_ats     timestamptz[] default null,
    p_notify          boolean default true,
    p_ordering_keys   text[] default null,
    p_dedup_keys      text[] default null,
    p_dedup_windows   interval[] default null,
    p_join_ids        uuid[] default null
) returns uuid[]
    language plpgsql
as $sql$
declare
    v_now       timestamptz;
    v_ids       uuid[] := coalesce(p_ids, array(select "windlass".windlass_new_id() from unnest(p_topics)));
    v_originals uuid[];
    v_heads     boolean[];
    v_sequences bigint[];
begin
    perform "windlass".windlass_check_lengths(
        cardinality(p_topics), coalesce(cardinality(p_payloads), -1), cardinality(p_ids), cardinality(p_correlation_ids),
        cardinality(p_headers), cardinality(p_due_ats), cardinality(p_delays), cardinality(p_expires_ats),
        cardinality(p_ordering_keys), cardinality(p_dedup_keys), nullif(cardinality(p_dedup_windows), 1), -- one for all
        cardinality(p_join_ids));
    if p_due_ats is not null and p_delays is not null or p_expires_ats is not null then
        perform "windlass".windlass_check_times(e.due_at, e.delay, e.expires_at)
           from unnest(p_due_ats, p_delays, p_expires_ats) as e (due_at, delay, expires_at);
    end if;
    perform pg_current_xact_id();
    if p_dedup_keys is not null then
        v_originals := "windlass"."outbox_take_dedup_keys"(p_topics, p_dedup_keys, v_ids, p_dedup_windows);
    elsif p_dedup_windows is not null then
        perform "windlass"."outbox_check_dedup"(null, w) from unnest(p_dedup_windows) w where w is not null;
    end if;
    if p_ordering_keys is not null then
        perform "windlass"."outbox_check_key"(e.ordering_key, e.id)
           from unnest(v_ids, p_ordering_keys) as e (id, ordering_key)
          where btrim(e.ordering_key) = '' or e.id = '00000000-0000-0000-0000-000000000000';
        select h.heads, h.sequences into v_heads, v_sequences
          from "windlass"."outbox_hold_keys"(v_ids, p_ordering_keys, v_originals) h;
    end if;
    v_now := clock_timestamp();
    insert into "windlass"."outbox"
        (id, created_at, next_attempt_at, due_at, expires_at, status, topic, correlation_id, headers, payload,
         ordering_key, ordering_sequence, awaited, joined)
    select e.id, v_now, greatest(v_now, coalesce(e.due_at, v_now + e.delay)), coalesce(e.due_at, v_now + e.delay),
           e.expires_at, case when e.head is false then 4 else 0 end, e.topic, nullif(e.correlation_id, ''),
           e.headers::jsonb, e.payload, e.ordering_key, e.sequence,
           e.ordering_key is not null or e.join_id is not null, e.join_id is not null
      from unnest(v_ids, p_topics, p_payloads, p_correlation_ids, p_headers, p_due_ats, p_delays, p_expires_ats,
                  p_ordering_keys, v_sequences, v_heads, v_originals, p_join_ids)
           as e (id, topic, payload, correlation_id, headers, due_at, delay, expires_at, ordering_key, sequence, head, original,
                 join_id)
     where e.original is null;
    if p_join_ids is not null then
        perform "windlass"."outbox_enter_joins"(v_ids, p_join_ids, v_originals);
    end if;
    if p_notify then
        perform pg_notify('windlass.windlass.outbox', 'ready ' || t.topic) from (select distinct unnest(p_topics) as topic) t;
    end if;
    if v_originals is null then
        return v_ids;
    end if;
    return array(select coalesce(e.original, e.id) from unnest(v_ids, v_originals) with ordinality as e (id, original, place)
                  order by e.place);
end
$sql$;

-- Starts a join and writes its steps, all or none: what is said of the join as in windlass_join_start, what is said of the messages as
-- in enqueue_all. A repeated call with the id of the first, because the answer was lost, changes nothing.
-- Returns the id of the join, and the ids of the messages as enqueue_all does; null if they had been written before.
create or replace function "windlass"."outbox_fan_out"(
    p_expected_steps   integer,
    p_grouping_key     text default null,
    p_metadata         text default null,
    p_fail_if_any      boolean default true,
    p_join_id          uuid default null,
    p_complete_topic   text default null,
    p_complete_payload text default null,
    p_fail_topic       text default null,
    p_fail_payload     text default null,
    p_outer_join_id    uuid default null,
    p_follow_up_id     uuid default null,
    p_ids              uuid[] default null,
    p_topics           text[] default null,
    p_payloads         text[] default null,
    p_correlation_ids  text[] default null,
    p_headers          text[] default null,
    p_due_ats          timestamptz[] default null,
    p_delays           interval[] default null,
    p_expires_ats      timestamptz[] default null,
    p_notify           boolean default true,
    p_ordering_keys    text[] default null,
    p_dedup_keys       text[] default null,
    p_dedup_windows    interval[] default null,
    out join_id        uuid,
    out message_ids    uuid[]
)
    language plpgsql
as $sql$
begin
    join_id := coalesce(p_join_id, "windlass".windlass_new_id());
    if exists (select from "windlass".windlass_join j where j.id = join_id) then
        return;
    end if;
    perform "windlass".windlass_join_start(p_expected_steps, p_grouping_key, p_metadata, p_fail_if_any, join_id, p_complete_topic,
                                         p_complete_payload, p_fail_topic, p_fail_payload, p_outer_join_id, p_follow_up_id,
                                         'outbox');
    message_ids := "windlass"."outbox_enqueue_all"(p_ids, p_topics, p_payloads, p_correlation_ids, p_headers, p_due_ats, p_delays,
                                                 p_expires_ats, p_notify, p_ordering_keys, p_dedup_keys, p_dedup_windows,
                                                 array_fill(join_id, array[coalesce(cardinality(p_topics), 0)]));
end
$sql$;

-- What has to be done when messages end, in the same transaction: their joins and runs learn of it, and the keys they
-- held are passed on, unless p_pass_on says that the caller does that. Those of p_blocking go on to hold theirs.
create or replace function "windlass"."outbox_message_ended"(
    p_ids      uuid[],
    p_status   smallint,
    p_blocking uuid[],
    p_pass_on  boolean,
    p_notify   boolean
) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_joined uuid[];
    v_runs   uuid[];
    v_keys   text[];
    v_after  bigint[];
    v_blocks uuid[];
begin
    select array_agg(m.id) filter (where m.joined), array_agg(m.id) filter (where m.source = 'job'),
           array_agg(m.ordering_key) filter (where m.ordering_key is not null and m.id <> all (p_blocking)),
           array_agg(m.ordering_sequence) filter (where m.ordering_key is not null and m.id <> all (p_blocking)),
           array_agg(m.id) filter (where m.ordering_key is not null and m.id = any (p_blocking))
      into v_joined, v_runs, v_keys, v_after, v_blocks
      from "windlass"."outbox" m
     where m.id = any (p_ids);
    if v_joined is not null then
        perform "windlass".windlass_join_count(v_joined, case p_status when 2 then 1 else 2 end);
    end if;
    if v_runs is not null then
        perform "windlass"."outbox_job_runs_ended"(v_runs, p_status);
    end if;
    if v_blocks is not null then
        update "windlass"."outbox" m set blocks_key = true where m.id = any (v_blocks);
    end if;
    if v_keys is not null and p_pass_on then
        perform "windlass"."outbox_pass_on"(v_keys, p_notify, v_after);
    end if;
end
$sql$;

-- Acks, and whoever has room takes the next message of each key with it, for p_lease, if it is due and of one of
-- p_topics: it goes from waiting to in progress without having been ready, which saves a version of its row and a claim. Only
-- for those who have found nothing else ready: the next of a key would otherwise overtake what has been ready for longer. Not of topics
-- that are paused or limited: of those, only claims take something.
--
-- Returns the messages that it took, each with the answer of the ack and the number of keys whose next message it did not
-- take; when it took none, one row with these alone.
create or replace function "windlass"."outbox_ack_next"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text,
    p_keep         boolean,
    p_notify       boolean,
    p_owner        uuid,
    p_lease        interval,
    p_topics       text[],
    p_bytes        bigint default null
) returns table (
    id              uuid,
    topic           varchar,
    payload         text,
    correlation_id  varchar,
    headers         jsonb,
    created_at      timestamptz,
    due_at          timestamptz,
    expires_at      timestamptz,
    next_attempt_at timestamptz,
    retry_count     integer,
    lease_expiries  integer,
    crashes         smallint,
    requeues        smallint,
    last_error      varchar,
    ordering_key    varchar,
    joined          boolean,
    changed         integer,
    locked          uuid[],
    lost            uuid[],
    left_keys       integer
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '5ms'
as $sql$
declare
    v_now    timestamptz;
    v_bytes  bigint := coalesce(p_bytes, 9223372036854775807);
    v_topics text[];
    v_held   uuid[];
    v_keys   text[];
    v_after  bigint[];
    v_ids    uuid[];
    v_taken  text[];
begin
    select array_agg(m.id), array_agg(m.ordering_key), array_agg(m.ordering_sequence) into v_held, v_keys, v_after
      from "windlass"."outbox" m
     where m.id = any (p_ids) and m.ordering_key is not null;
    select s.changed, s.locked, s.lost into changed, locked, lost
      from "windlass"."outbox_change_held"(case when p_keep then 'ack' else 'delete' end, p_ids, p_owners,
                                    p_processed_by => p_processed_by, p_again => false, p_pass_on => false) s;
    if cardinality(locked) + cardinality(lost) > 0 then
        select array_agg(k.ordering_key), array_agg(k.after) into v_keys, v_after
          from unnest(v_held, v_keys, v_after) as k (id, ordering_key, after)
         where k.id <> all (locked) and k.id <> all (lost);
    end if;
    if coalesce(cardinality(v_keys), 0) = 0 then
        left_keys := 0;
        return next;
        return;
    end if;
    v_topics := array(select unnest(p_topics) except select t.topic from "windlass".windlass_topic t where t.queue = 'outbox');
    v_ids := "windlass"."outbox_first_waiting"(v_keys, v_after);
    v_now := clock_timestamp();
    select array_agg(s.id), coalesce(array_agg(s.ordering_key), '{}') into v_ids, v_taken
      from (select f.id, f.ordering_key, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
              from (select l.id, l.ordering_key, octet_length(l.payload) as size
                      from "windlass"."outbox" l
                     where l.id = any (v_ids)
                       and l.status + 0 = 4 -- naming status = 4 would invite the index of all that wait
                       and l.topic = any (v_topics)
                       and l.next_attempt_at <= v_now
                       and (l.expires_at is null or l.expires_at > v_now)
                       and l.retry_count + l.lease_expiries + l.requeues = 0 -- others have to be looked at before they start
                       for update skip locked) f) s
     where coalesce(s.before, 0) < v_bytes;
    left_keys := cardinality(v_keys) - cardinality(v_taken);
    if left_keys > 0 then
        select array_agg(k.ordering_key), array_agg(k.after) into v_keys, v_after
          from unnest(v_keys, v_after) as k (ordering_key, after)
         where k.ordering_key <> all (v_taken);
        perform "windlass"."outbox_pass_on"(v_keys, p_notify, v_after);
    end if;
    perform set_config('lock_timeout', '1s', true); -- these rows are locked; what is waited for now is the disk, at most
    return query
    update "windlass"."outbox" m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
           next_attempt_at = v_now
     where m.id = any (v_ids)
    returning m.id, m.topic::varchar, m.payload, m.correlation_id, m.headers::jsonb, m.created_at, m.due_at, m.expires_at,
              m.next_attempt_at, m.retry_count::integer, m.lease_expiries::integer, m.crashes::smallint, m.requeues::smallint,
              m.last_error, m.ordering_key, m.joined, changed, locked, lost, left_keys;
    if not found then
        return next;
    end if;
end
$sql$;

-- Order inside a key. A key is held by one message at most: the one that is ready or in progress, or that failed and keeps its
-- successors waiting. Whatever ends it passes the key on in the same transaction.

-- Takes the rows of these ordering keys until the end of the transaction, in the order of the keys. Returns, in the order of the
-- arrays, whether a message found its key free, and its number in the sequence; nulls for those without a key, and for those
-- that are not first under their deduplication key.
create or replace function "windlass"."outbox_hold_keys"(
    p_ids       uuid[],
    p_keys      text[],
    p_originals uuid[],
    out heads     boolean[],
    out sequences bigint[]
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_base    bigint := floor(extract(epoch from clock_timestamp()) * 1000000)::bigint;
    v_keys    text[];
    v_lasts   bigint[];
    v_takers  uuid[];
    v_late    bigint;
begin
    with held as (
        insert into "windlass"."outbox_key" as k (ordering_key, last_sequence, taken_by)
        select e.ordering_key, v_base + count(*), (array_agg(e.id order by e.place))[1]
          from unnest(p_ids, p_keys, p_originals) with ordinality as e (id, ordering_key, original, place)
         where e.ordering_key is not null and e.original is null
         group by e.ordering_key
         order by e.ordering_key collate "C" -- as requeue does, so that the two cannot deadlock
        on conflict (ordering_key) do update
           set last_sequence = k.last_sequence + (excluded.last_sequence - v_base),
               taken_by = '00000000-0000-0000-0000-000000000000'
        returning k.ordering_key, k.last_sequence, k.taken_by)
    select array_agg(held.ordering_key), array_agg(held.last_sequence), array_agg(held.taken_by)
      into v_keys, v_lasts, v_takers from held;
    -- The insert may have waited for others of these keys, which have come and gone: the base is too early then.
    v_late := greatest(0, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint - v_base);
    update "windlass"."outbox_key" k
       set last_sequence = k.last_sequence + v_late
     where k.ordering_key = any (v_keys) and k.taken_by = any (v_takers)
       and k.taken_by <> '00000000-0000-0000-0000-000000000000';
    select array_agg(numbered.id = k.taken_by order by numbered.place),
           array_agg(k.last_sequence - numbered.behind
                     + case k.taken_by when '00000000-0000-0000-0000-000000000000' then 0 else v_late end order by numbered.place)
      into heads, sequences
      from (select e.id, e.place, case when e.original is null then e.ordering_key end as ordering_key,
                   row_number() over (partition by e.ordering_key, e.original is null order by e.place desc) - 1 as behind
              from unnest(p_ids, p_keys, p_originals) with ordinality as e (id, ordering_key, original, place)) numbered
      left join unnest(v_keys, v_lasts, v_takers) as k (ordering_key, last_sequence, taken_by)
        on k.ordering_key = numbered.ordering_key;
end
$sql$;

-- Refuses a blank ordering key, and the nil id, which stands for nobody in the table of keys.
create or replace function "windlass"."outbox_check_key"(p_key text, p_id uuid) returns void
    language plpgsql
as $sql$
begin
    if p_id = '00000000-0000-0000-0000-000000000000' then
        raise exception 'expected the id of a message, got the nil UUID'
            using errcode = 'invalid_parameter_value', hint = 'Leave p_id out to get a new one.';
    end if;
    if btrim(p_key) = '' then
        raise exception 'expected an ordering key, got blank text'
            using errcode = 'invalid_parameter_value', hint = 'Null means that order does not matter.';
    end if;
end
$sql$;

-- Whoever held these keys has ended: the next in line takes its place, and a key that nobody waits for is forgotten. Who
-- writes to a key just now cannot be waited for, and what he writes cannot be seen yet: such keys are noted, and the
-- claims that follow look after them. With p_after, the numbers of those that have ended, it does not look at what came before them.
create or replace function "windlass"."outbox_pass_on"(p_keys text[], p_notify boolean, p_after bigint[] default null) returns void
    language plpgsql
as $sql$
declare
    v_left text[];
begin
    if cardinality(p_keys) = 0 then
        return;
    end if;
    begin
        v_left := "windlass"."outbox_pass_on_now"(p_keys, p_notify, p_after);
    exception
        when others or assert_failure then -- the next of one is refused, by a trigger of the user's perhaps: that must not undo the end of this one
            v_left := p_keys;
    end;
    if cardinality(v_left) > 0 then
        insert into "windlass"."outbox_key_freed" (ordering_key) select unnest(v_left) on conflict do nothing;
        perform pg_notify('windlass.windlass.outbox', 'ready');
    end if;
end
$sql$;

-- Passes on or forgets keys that nobody holds, without waiting for anybody. Returns those that somebody is writing to, or
-- whose next message somebody has locked.
--
-- Who writes to a key holds its row. So what is seen to wait can be promoted without the row, which under a key that is
-- always being written to is never free; but that nothing waits is known only to who has locked it.
create or replace function "windlass"."outbox_pass_on_now"(p_keys text[], p_notify boolean, p_after bigint[] default null)
    returns text[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_left      text[] := "windlass"."outbox_promote"(p_keys, p_notify, p_after);
    v_mine      text[];
    v_locked    text[];
    v_forgotten text[];
begin
    if cardinality(v_left) = 0 then
        return v_left;
    end if;
    v_mine := array(select k.ordering_key
                      from "windlass"."outbox_key" k
                     where k.ordering_key = any (v_left)
                     order by k.ordering_key
                       for update skip locked);
    v_locked := "windlass"."outbox_promote"(v_mine, p_notify);
    with forgotten as (
        delete from "windlass"."outbox_key" k
         where k.ordering_key = any (v_locked)
           and (select w.id
                  from "windlass"."outbox" w
                 where w.status = 4 and w.ordering_key = k.ordering_key
                 order by w.ordering_sequence
                 limit 1) is null -- "not exists" becomes a join that reads all that wait, under whatever key
        returning k.ordering_key)
    select coalesce(array_agg(forgotten.ordering_key), '{}') into v_forgotten from forgotten;
    return array(select l.ordering_key
                   from unnest(v_left) as l (ordering_key)
                  where l.ordering_key <> all (v_forgotten)
                    and (l.ordering_key <> all (v_mine) or l.ordering_key = any (v_locked)));
end
$sql$;

-- Makes the first that waits for each of these keys ready; nobody holds them. Tells the nodes if p_notify says so.
-- Returns the keys where it could not: nobody is seen to wait, or somebody has locked the first, to cancel it perhaps.
-- Whoever ends messages must not wait for him.
create or replace function "windlass"."outbox_promote"(p_keys text[], p_notify boolean, p_after bigint[] default null)
    returns text[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_keys   text[];
    v_topics text[];
    v_ids    uuid[];
begin
    perform pg_current_xact_id();
    v_ids := "windlass"."outbox_first_waiting"(p_keys, p_after);
    with next as (
        update "windlass"."outbox" m
           set status = 0, next_attempt_at = greatest(clock_timestamp(), m.next_attempt_at)
         where m.id = any (array(
                   select l.id
                     from "windlass"."outbox" l
                    where l.id = any (v_ids)
                      and l.status + 0 = 4 -- naming status = 4 would invite the index of all that wait
                      for update skip locked))
        returning m.ordering_key, m.topic)
    select coalesce(array_agg(next.ordering_key), '{}'), array_agg(distinct next.topic) into v_keys, v_topics from next;
    if p_notify then
        perform pg_notify('windlass.windlass.outbox', 'ready ' || t.topic) from unnest(v_topics) as t (topic);
    end if;
    if cardinality(v_keys) = cardinality(p_keys) then
        return '{}';
    end if;
    return array(select unnest(p_keys) except select unnest(v_keys));
end
$sql$;

-- The first that waits for each of these keys, where one is seen to.
--
-- Under an open snapshot the dead entries of all that has been handled stay in the index, and whoever begins at the start of a key
-- steps over them. So the number p_after of the one that has ended is where to begin: what waits came later, but for what was requeued.
-- That is rare, and one look for all keys tells whether there is any. One that is requeued just then, behind that look, is as one
-- that is requeued after it: the next one to end finds it.
create or replace function "windlass"."outbox_first_waiting"(p_keys text[], p_after bigint[] default null) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    if p_after is not null
       and not exists (select from "windlass"."outbox" w where w.status = 4 and w.requeues > 0 and w.ordering_key is not null) then
        return array(select f.id
                       from unnest(p_keys, p_after) as k (ordering_key, after)
                      cross join lateral (
                            select w.id
                              from "windlass"."outbox" w
                             where w.status = 4 and w.ordering_key = k.ordering_key and w.ordering_sequence > k.after
                             order by w.ordering_sequence
                             limit 1) f);
    end if;
    return array(select f.id
                   from unnest(p_keys) as k (ordering_key)
                  cross join lateral (
                        select w.id
                          from "windlass"."outbox" w
                         where w.status = 4 and w.ordering_key = k.ordering_key
                         order by w.ordering_sequence
                         limit 1) f);
end
$sql$;

-- Passes on the keys that pass_on() had to leave. Some of many, at random: those at the front may be the ones that cannot be
-- passed on yet.
create or replace function "windlass"."outbox_pass_on_freed"() returns void
    language plpgsql
as $sql$
declare
    v_keys text[] := array(select f.ordering_key
                             from "windlass"."outbox_key_freed" f
                            order by random()
                            limit 500
                              for update skip locked);
    v_left text[];
    v_key  text;
begin
    begin
        v_left := "windlass"."outbox_pass_on_now"(v_keys, true);
    exception
        when others or assert_failure then -- the next of one is refused: some one by one, the others are looked at later
            v_keys := v_keys[1:20];
            v_left := '{}';
            foreach v_key in array v_keys loop
                begin
                    v_left := v_left || "windlass"."outbox_pass_on_now"(array[v_key], true);
                exception
                    when others or assert_failure then
                        v_left := v_left || v_key;
                end;
            end loop;
    end;
    delete from "windlass"."outbox_key_freed" f
     where f.ordering_key = any (v_keys)
       and (f.ordering_key <> all (v_left)
            or not exists (select from "windlass"."outbox_key" k where k.ordering_key = f.ordering_key));
end
$sql$;

-- The place of failed messages under their ordering keys when they are made ready again: the first of each key takes it, if
-- nobody holds it. Returns those that have to wait; the caller has locked them.
create or replace function "windlass"."outbox_enter_keys"(p_ids uuid[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_token   uuid := gen_random_uuid();
    v_holders uuid[];
    v_waiting uuid[];
begin
    with entry as (
        select m.ordering_key, (array_agg(m.id order by m.ordering_sequence))[1] as head
          from "windlass"."outbox" m
         where m.id = any (p_ids) and m.ordering_key is not null and not m.blocks_key
         group by m.ordering_key
         order by m.ordering_key),
    held as (
        insert into "windlass"."outbox_key" as k (ordering_key, last_sequence, taken_by)
        select entry.ordering_key, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint, v_token from entry
        on conflict (ordering_key) do update set last_sequence = k.last_sequence
        returning k.ordering_key, k.taken_by = v_token as free)
    select coalesce(array_agg(entry.head), '{}') into v_holders
      from entry join held on held.ordering_key = entry.ordering_key
     where held.free;
    v_waiting := array(select m.id
                         from "windlass"."outbox" m
                        where m.id = any (p_ids) and m.ordering_key is not null and not m.blocks_key and m.id <> all (v_holders));
    update "windlass"."outbox" m set blocks_key = false where m.id = any (p_ids) and m.blocks_key;
    return v_waiting;
end
$sql$;

-- Lets the messages behind failed ones go on; those stay failed. Otherwise as requeue.
create or replace function "windlass"."outbox_skip"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := "windlass".windlass_action_until(p_action, p_until);
    v_ids   uuid[];
    v_keys  text[];
begin
    perform "windlass".windlass_check_choice(p_by, p_ids, coalesce(p_topic, p_source, p_from::text, p_until::text, p_error) is not null,
                                           p_limit, p_all);
    v_ids := case when p_ids is not null then "windlass"."outbox_lock"(p_ids, array[3])
                  else array(select m.id
                               from "windlass"."outbox" m
                              where m.status = 3 and m.ended_at >= v_from and m.ended_at < v_until and m.blocks_key
                                and (p_topic is null or m.topic = p_topic)
                                and (p_source is null or m.source = p_source)
                                and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                              order by m.ended_at, m.id
                              limit p_limit
                                for update skip locked) end;
    with passed as (
        update "windlass"."outbox" m
           set blocks_key = false
         where m.id = any (v_ids) and m.blocks_key
        returning m.ordering_key, m.ended_at)
    select coalesce(array_agg(passed.ordering_key), '{}'), max(passed.ended_at) into v_keys, reached from passed;
    perform "windlass"."outbox_pass_on"(v_keys, true);
    messages := cardinality(v_keys);
    action := "windlass".windlass_record('outbox', p_action, p_by, 'skip', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error));
    return next;
end
$sql$;

-- Deduplication: a message is written once under a key, for a time.

-- Refuses a deduplication key or a window that cannot be, in words that help. Called only where something is wrong.
create or replace function "windlass"."outbox_check_dedup"(p_key text, p_window interval) returns void
    language plpgsql
as $sql$
begin
    if p_key is null or btrim(p_key) = '' then
        raise exception 'expected a deduplication key, got %', case when p_key is null then 'a window without one' else 'blank text' end
            using errcode = 'invalid_parameter_value', hint = 'Null, for the key and the window, means no deduplication.';
    end if;
    if p_window is null then
        raise exception 'expected a window with the deduplication key, got null' -- errors name no key: they are logged
            using errcode = 'null_value_not_allowed', hint = 'Give p_dedup_window, for example interval ''1 day''.';
    elsif p_window <= '0' then
        raise exception 'expected a positive window with the deduplication key, got %', p_window
            using errcode = 'invalid_parameter_value',
                  hint = 'Say for how long the key is to be remembered, for example interval ''1 day''.';
    end if;
end
$sql$;

-- Takes a deduplication key for p_window. Returns null, or the id of the message that has it. Of several at once, one takes
-- it and the others wait for its commit.
create or replace function "windlass"."outbox_take_dedup_key"(
    p_topic  text,
    p_key    text,
    p_id     uuid,
    p_window interval
) returns uuid
    language plpgsql
as $sql$
declare
    v_now      timestamptz;
    v_original uuid;
begin
    if btrim(p_key) = '' or (p_window > '0') is not true then
        perform "windlass"."outbox_check_dedup"(p_key, p_window);
    end if;
    loop
        v_now := clock_timestamp();
        select d.message_id into v_original -- without a lock: who comes second need not wait for who comes third
          from "windlass"."outbox_dedup" d
         where d.topic = p_topic and d.dedup_key = p_key and d.expires_at > v_now;
        if found then
            return v_original;
        end if;
        insert into "windlass"."outbox_dedup" as d (topic, dedup_key, message_id, expires_at)
        values (p_topic, p_key, p_id, v_now + p_window)
        on conflict (topic, dedup_key) do update
           set message_id = excluded.message_id, expires_at = excluded.expires_at
         where d.expires_at <= v_now;
        if found then
            return null;
        end if; -- else somebody has just taken it
    end loop;
end
$sql$;

-- The same for many, in the order of the arrays; those without a key get null. Of several with one key, the first takes it.
-- There is a window for each, or one for all. Returns null when all are first.
--
-- Keys are new more often than not, and an INSERT that need not look out for conflicts costs two thirds of one that does: so
-- that is tried first.
create or replace function "windlass"."outbox_take_dedup_keys"(
    p_topics  text[],
    p_keys    text[],
    p_ids     uuid[],
    p_windows interval[]
) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_windows   interval[] := case when cardinality(p_windows) > 1 then p_windows end;
    v_window    interval := case when cardinality(p_windows) = 1 then p_windows[1] end;
    v_now       timestamptz;
    v_taken     uuid[] := '{}';
    v_originals uuid[];
    v_known     boolean;
begin
    perform "windlass"."outbox_check_dedup"(e.dedup_key, coalesce(e.dedup_window, v_window))
       from unnest(p_keys, v_windows) as e (dedup_key, dedup_window)
      where e.dedup_key is null and e.dedup_window is not null
         or btrim(e.dedup_key) = ''
         or e.dedup_key is not null and (coalesce(e.dedup_window, v_window) > '0') is not true;
    begin
        v_now := clock_timestamp();
        insert into "windlass"."outbox_dedup" (topic, dedup_key, message_id, expires_at)
        select e.topic, e.dedup_key, e.id, v_now + coalesce(e.dedup_window, v_window)
          from unnest(p_topics, p_keys, p_ids, v_windows) as e (topic, dedup_key, id, dedup_window)
         where e.dedup_key is not null
         order by e.topic collate "C", e.dedup_key collate "C";
        return null;
    exception when unique_violation then
        null;
    end;
    loop
        v_now := clock_timestamp();
        with taken as (
            insert into "windlass"."outbox_dedup" as d (topic, dedup_key, message_id, expires_at)
            select distinct on (e.topic collate "C", e.dedup_key collate "C")
                   e.topic, e.dedup_key, e.id, v_now + coalesce(e.dedup_window, v_window)
              from unnest(p_topics, p_keys, p_ids, v_windows) with ordinality
                   as e (topic, dedup_key, id, dedup_window, place)
              left join "windlass"."outbox_dedup" live
                     on live.topic = e.topic and live.dedup_key = e.dedup_key and live.expires_at > v_now
             where e.dedup_key is not null and live.topic is null
             order by e.topic collate "C", e.dedup_key collate "C", e.place
            on conflict (topic, dedup_key) do update
               set message_id = excluded.message_id, expires_at = excluded.expires_at
             where d.expires_at <= v_now
            returning d.message_id)
        select v_taken || coalesce(array_agg(taken.message_id), '{}') into v_taken from taken;
        select array_agg(case when d.message_id = e.id and d.message_id = any (v_taken) then null else d.message_id end
                         order by e.place),
               bool_and(d.message_id is not null or e.dedup_key is null)
          into v_originals, v_known
          from unnest(p_topics, p_keys, p_ids) with ordinality as e (topic, dedup_key, id, place)
          left join "windlass"."outbox_dedup" d on d.topic = e.topic and d.dedup_key = e.dedup_key;
        if v_known then
            return v_originals;
        end if; -- else one was cleaned away this moment
    end loop;
end
$sql$;

-- Deletes deduplication keys whose window is over. Returns how many.
create or replace function "windlass"."outbox_clean_dedup"(p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    return "windlass".windlass_delete($name$"windlass"."outbox_dedup"$name$, array(
        select o.ctid
          from "windlass"."outbox_dedup" o
         where o.expires_at <= v_now
         order by o.expires_at
         limit p_limit
           for update skip locked));
end
$sql$;

insert into "windlass".windlass_version (table_name, component, version, min_compatible) values ('outbox', 'outbox', 1, 1);

-- A queue. One state machine:
--
--   4 waiting --(its turn has come)--> 0 ready --claim--> 1 in progress --ack--> 2 done
--                                        ^  |                |   |
--                                        |  +---- expire ----|---+--fail--> 3 failed --requeue--> 0 ready
--                                        +--abandon, release, reap
--
--   0 ready, 4 waiting --cancel--> 5 cancelled          4 waiting --expire--> 3 failed
--
-- The check is the invariant: a message has a lease exactly while it is in progress, and an end exactly when it has ended. What concerns
-- one column is said by its domain: PostgreSQL reads every check of a table again for each statement, and a dozen of them took two
-- thirds of the time of an insert. The token of the last owner stays with a message that has ended: who repeats an ack whose answer was lost is
-- told that it holds.
create table "windlass"."outbox_timer" (
    id              uuid         not null,             -- time-ordered, so that the index grows at one end
    created_at      timestamptz  not null,
    next_attempt_at timestamptz  not null,             -- never earlier than the moment the message became ready
    due_at          timestamptz,                       -- as the user wrote it; retries move next_attempt_at only
    expires_at      timestamptz,
    claimed_at      "windlass".windlass_time,            -- when the attempt began that is going on, or was the last
    locked_until    "windlass".windlass_time,
    ended_at        "windlass".windlass_time,
    erased_at       timestamptz,
    owner_token     uuid,
    retry_count     "windlass".windlass_count not null default 0,
    lease_expiries  "windlass".windlass_count not null default 0, -- apart from retries: a neighbour may have killed the process
    crashes         "windlass".windlass_small_count not null default 0, -- leases that ran out after the start of the handler was written down
    requeues        "windlass".windlass_small_count not null default 0,
    status          "windlass".windlass_status not null default 0,
    priority        "windlass".windlass_priority not null default 4, -- 0 to 9: those with the higher one are claimed first
    started         boolean      not null default false, -- the start of its handler was written down, in this attempt
    awaited         boolean      not null default false, -- something has to be done when it ends; others pay nothing for it
    keyed           boolean      not null default false, -- it is claimed in the turn of its key
    topic           "windlass".windlass_name not null,
    source          varchar(255) collate "C",          -- where it came from
    correlation_id  varchar(255),
    processed_by    varchar(100),
    last_error      varchar(2048),
    headers         "windlass".windlass_headers,
    payload         text         not null,
    constraint "outbox_timer_pk" primary key (id),
    constraint "outbox_timer_state_check" check ((status = 1) = (locked_until is not null) and (status in (2, 3, 5)) = (ended_at is not null))
) with (
    -- Every message leaves two or three dead rows behind; the default (a fifth of the table) comes too late for a queue.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- Ready messages by topic and priority, then by time: a node looks only at topics it has a handler and room for, so a paused,
-- saturated or unknown topic with any backlog costs the others nothing.
create index "outbox_timer_ready" on "windlass"."outbox_timer" (topic, priority, next_attempt_at, id) where status = 0 and not keyed;
create index "outbox_timer_leased" on "windlass"."outbox_timer" (locked_until) where status = 1;
create index "outbox_timer_expiring" on "windlass"."outbox_timer" (expires_at) where status in (0, 4) and expires_at is not null;
create index "outbox_timer_ended_at" on "windlass"."outbox_timer" (status, ended_at) where ended_at is not null;
create index "outbox_timer_failed" on "windlass"."outbox_timer" (topic, ended_at, id) where status = 3;

-- Attempts that failed. Successes write nothing here. No foreign key: it would cost every deleted message a look.
create table "windlass"."outbox_timer_failure" (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),                           -- unknown when a lease ran out
    error      varchar(2048)
);
create index "outbox_timer_failure_of" on "windlass"."outbox_timer_failure" (message_id, failed_at);

-- A queue in which a unique key names one message of a topic at most that has not ended.
alter table "windlass"."outbox_timer"
    add column unique_key "windlass".windlass_name;

create unique index "outbox_timer_key" on "windlass"."outbox_timer" (topic, unique_key) where unique_key is not null and status < 2;

-- The message that has a unique key.
create or replace function "windlass"."outbox_timer_find_key"(p_topic text, p_unique_key text) returns setof "windlass"."outbox_timer"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query
    select m.* from "windlass"."outbox_timer" m where m.topic = p_topic and m.unique_key = p_unique_key and m.status < 2;
end
$sql$;

-- Cancels the message that has a unique key, unless somebody has claimed it. Returns whether it did: then it is never handled.
create or replace function "windlass"."outbox_timer_cancel_key"(p_topic text, p_unique_key text) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return "windlass"."outbox_timer_cancel"(array(select m.id from "windlass"."outbox_timer_find_key"(p_topic, p_unique_key) m)) = 1;
end
$sql$;

-- Gives failed messages, which the caller has locked, their unique keys back, and returns all but those whose key another has by now.
create or replace function "windlass"."outbox_timer_reopen_keys"(p_ids uuid[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[] := p_ids;
    v_id  uuid;
begin
    foreach v_id in array array(select m.id
                                  from "windlass"."outbox_timer" m
                                 where m.id = any (p_ids) and m.unique_key is not null
                                 order by m.id) loop
        begin
            update "windlass"."outbox_timer" m set status = 0, ended_at = null, owner_token = null where m.id = v_id;
        exception
            when unique_violation then
                v_ids := array_remove(v_ids, v_id);
        end;
    end loop;
    return v_ids;
end
$sql$;

-- A queue. One state machine:
--
--   4 waiting --(its turn has come)--> 0 ready --claim--> 1 in progress --ack--> 2 done
--                                        ^  |                |   |
--                                        |  +---- expire ----|---+--fail--> 3 failed --requeue--> 0 ready
--                                        +--abandon, release, reap
--
--   0 ready, 4 waiting --cancel--> 5 cancelled          4 waiting --expire--> 3 failed
--
-- The check is the invariant: a message has a lease exactly while it is in progress, and an end exactly when it has ended. What concerns
-- one column is said by its domain: PostgreSQL reads every check of a table again for each statement, and a dozen of them took two
-- thirds of the time of an insert. The token of the last owner stays with a message that has ended: who repeats an ack whose answer was lost is
-- told that it holds.
create table "windlass"."outbox_job_run" (
    id              uuid         not null,             -- time-ordered, so that the index grows at one end
    created_at      timestamptz  not null,
    next_attempt_at timestamptz  not null,             -- never earlier than the moment the message became ready
    due_at          timestamptz,                       -- as the user wrote it; retries move next_attempt_at only
    expires_at      timestamptz,
    claimed_at      "windlass".windlass_time,            -- when the attempt began that is going on, or was the last
    locked_until    "windlass".windlass_time,
    ended_at        "windlass".windlass_time,
    erased_at       timestamptz,
    owner_token     uuid,
    retry_count     "windlass".windlass_count not null default 0,
    lease_expiries  "windlass".windlass_count not null default 0, -- apart from retries: a neighbour may have killed the process
    crashes         "windlass".windlass_small_count not null default 0, -- leases that ran out after the start of the handler was written down
    requeues        "windlass".windlass_small_count not null default 0,
    status          "windlass".windlass_status not null default 0,
    priority        "windlass".windlass_priority not null default 4, -- 0 to 9: those with the higher one are claimed first
    started         boolean      not null default false, -- the start of its handler was written down, in this attempt
    awaited         boolean      not null default false, -- something has to be done when it ends; others pay nothing for it
    keyed           boolean      not null default false, -- it is claimed in the turn of its key
    topic           "windlass".windlass_name not null,
    source          varchar(255) collate "C",          -- where it came from
    correlation_id  varchar(255),
    processed_by    varchar(100),
    last_error      varchar(2048),
    headers         "windlass".windlass_headers,
    payload         text         not null,
    constraint "outbox_job_run_pk" primary key (id),
    constraint "outbox_job_run_state_check" check ((status = 1) = (locked_until is not null) and (status in (2, 3, 5)) = (ended_at is not null))
) with (
    -- Every message leaves two or three dead rows behind; the default (a fifth of the table) comes too late for a queue.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- Ready messages by topic and priority, then by time: a node looks only at topics it has a handler and room for, so a paused,
-- saturated or unknown topic with any backlog costs the others nothing.
create index "outbox_job_run_ready" on "windlass"."outbox_job_run" (topic, priority, next_attempt_at, id) where status = 0 and not keyed;
create index "outbox_job_run_leased" on "windlass"."outbox_job_run" (locked_until) where status = 1;
create index "outbox_job_run_expiring" on "windlass"."outbox_job_run" (expires_at) where status in (0, 4) and expires_at is not null;
create index "outbox_job_run_ended_at" on "windlass"."outbox_job_run" (status, ended_at) where ended_at is not null;
create index "outbox_job_run_failed" on "windlass"."outbox_job_run" (topic, ended_at, id) where status = 3;

-- Attempts that failed. Successes write nothing here. No foreign key: it would cost every deleted message a look.
create table "windlass"."outbox_job_run_failure" (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),                           -- unknown when a lease ran out
    error      varchar(2048)
);
create index "outbox_job_run_failure_of" on "windlass"."outbox_job_run_failure" (message_id, failed_at);

-- Timers, and jobs with their runs. Timers and runs are queues.
--
-- What is due becomes a message of the outbox, under its own id, in the transaction that ends it here: a timer is deleted, the
-- run of a job is handed off and ends with its message.

-- Timers that are not done: 0 ready, 1 in progress, 3 failed. A cancelled one, and one that is done, is gone.
alter table "windlass"."outbox_timer"
    alter column due_at set not null,
    add column message_id uuid,                        -- of the message it becomes, if that is not its own: see schedule
    add constraint "outbox_timer_status_check" check (status in (0, 1, 3));

-- For the hand-off, which takes timers of all topics in the order of their times.
create index "outbox_timer_due" on "windlass"."outbox_timer" (next_attempt_at, id) where status = 0;

-- Timers as they are listed: without their content.
create view "windlass"."outbox_timer_listed" with (security_invoker = true) as
select t.id, t.topic, t.source, t.unique_key, t.message_id, t.status, t.priority, t.keyed, t.correlation_id, t.created_at, t.due_at, t.next_attempt_at,
       t.claimed_at, t.locked_until, t.ended_at, t.erased_at, t.processed_by, t.retry_count, t.lease_expiries, t.requeues, t.last_error
  from "windlass"."outbox_timer" t;

-- Jobs. A tick is a moment at which a job is to run; it fires a little later if the job has a jitter. Programs compute ticks:
-- cron is not known here. The version changes with whatever changes here, and who plans the next tick compares it: so one tick
-- is taken once, whoever tries.
create table "windlass"."outbox_job" (
    version         bigint       not null,
    created_at      timestamptz  not null,
    updated_at      timestamptz  not null,
    next_tick_at    timestamptz,                       -- null while it is paused
    fires_at        timestamptz,
    paused_at       timestamptz,
    last_skipped_at timestamptz,
    skipped_ticks   bigint       not null default 0,   -- by the rules for misfires and overlaps
    period          interval,                          -- either ticks at this distance,
    anchor_at       timestamptz,                       -- counted from this moment,
    jitter          interval     not null,
    misfire_after   interval,                          -- how late a tick is missed
    misfire_runs    integer,                           -- how many runs at most
    misfire         smallint     not null,             -- ticks that were missed: 0 one run, 1 a run for each, 2 none
    overlap         smallint     not null,             -- while a run is unfinished: 0 others may begin, 1 ticks are skipped, 2 the period
                                                       -- counts from its end
    last_run_id     uuid,
    name            varchar(255) collate "C" not null,
    topic           varchar(255) collate "C" not null,
    cron            varchar(255),                      -- or those of this expression
    zone            varchar(64),                       -- in this time zone
    job_set         varchar(255) collate "C",          -- the set of jobs in a program that it belongs to
    problem         varchar(2048),                     -- why its ticks cannot be computed or taken; others go on
    payload         text         not null,
    constraint "outbox_job_pk" primary key (name),
    constraint "outbox_job_text_check" check (btrim(name, E' \t\n\x0b\f\r\x1c\x1d\x1e\x1f\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000') <> '' and name = rtrim(name)
                                          and btrim(topic, E' \t\n\x0b\f\r\x1c\x1d\x1e\x1f\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000') <> '' and topic = rtrim(topic)),
    constraint "outbox_job_ticks_check" check ((cron is null) = (zone is null) and (cron is null) <> (period is null)
                                           and (period is null) = (anchor_at is null)
                                           and extract(epoch from period) between 1 and 3153600000 -- 36500 days
                                           and date_trunc('milliseconds', period) = period),
    constraint "outbox_job_misfire_check" check (misfire between 0 and 2 and (misfire = 1) = (misfire_runs is not null)
                                             and (misfire = 2) = (misfire_after is not null)
                                             and misfire_runs between 1 and 10000
                                             and extract(epoch from misfire_after) between 0.001 and 3153600000
                                             and date_trunc('milliseconds', misfire_after) = misfire_after),
    constraint "outbox_job_overlap_check" check (overlap between 0 and 2 and (overlap < 2 or period is not null)),
    constraint "outbox_job_next_check" check ((next_tick_at is null) = (paused_at is not null)
                                          and (next_tick_at is null) = (fires_at is null)),
    constraint "outbox_job_jitter_check" check (extract(epoch from jitter) between 0 and 86400 and date_trunc('milliseconds', jitter) = jitter)
) with (fillfactor = 50);

create index "outbox_job_due" on "windlass"."outbox_job" (fires_at) where fires_at is not null;

-- The revision of each set of jobs that programs bring along: the highest wins.
create table "windlass"."outbox_job_set" (
    name      varchar(255) collate "C" not null,
    revision  bigint       not null,
    digest    varchar(64)  not null,
    synced_at timestamptz  not null,
    constraint "outbox_job_set_pk" primary key (name)
);

-- Runs of jobs. In addition to the states of every queue:
--
--   0 ready --hand off--> 6 handed off --(its message ends)--> 2 done, 3 failed, 5 cancelled
--
-- The source is the name of the job. Topic and payload are those of the job at the time of the tick. A run that was handed off has
-- the id of its message, which has the payload, and knows the rest until it ends.
alter table "windlass"."outbox_job_run"
    alter column status type smallint,                 -- it has one more
    alter column source set not null,                  -- no foreign key: what has run stays known when the job is deleted
    add column tick_at     timestamptz not null,       -- the moment it stands for; that of the call when it was triggered
    add column triggered   boolean     not null,
    add column handed_off boolean     not null default false, -- it became a message, which had its id
    add column output      varchar(8192),              -- what its handler wrote down
    add constraint "outbox_job_run_status_check" check (status in (0, 1, 2, 3, 5, 6) and (status <> 6 or handed_off));

create unique index "outbox_job_run_tick" on "windlass"."outbox_job_run" (source, tick_at) where not triggered;
create index "outbox_job_run_of_job" on "windlass"."outbox_job_run" (source, created_at, id);
create index "outbox_job_run_unfinished" on "windlass"."outbox_job_run" (source) where ended_at is null;

-- Runs as they are listed: without their payload. One that was handed off is as its message is, which "state" tells.
create view "windlass"."outbox_job_run_listed" with (security_invoker = true) as
select r.id, r.topic, r.source, r.tick_at, r.triggered, r.handed_off, r.status, r.priority, r.keyed,
       case when r.status <> 6 then r.status when m.id is null then 3 when m.locked_until is null then 0 else 1 end::smallint as state,
       r.created_at, r.next_attempt_at, coalesce(m.claimed_at, r.claimed_at) as claimed_at,
       r.locked_until, r.ended_at, r.erased_at, r.processed_by,
       coalesce(m.retry_count, r.retry_count) as retry_count, coalesce(m.lease_expiries, r.lease_expiries) as lease_expiries, r.requeues,
       case when r.status = 6 and m.id is null then 'its message is gone' else coalesce(m.last_error, r.last_error) end as last_error,
       r.output
  from "windlass"."outbox_job_run" r
  left join "windlass"."outbox" m on m.id = r.id and r.status = 6;

-- Jobs as they are listed, each with its last run as it is. Lengths of time in microseconds.
create view "windlass"."outbox_job_listed" with (security_invoker = true) as
select j.name, j.version, j.topic, j.payload, j.cron, j.zone, extract(epoch from j.period) * 1000000 as period, j.anchor_at, j.misfire,
       j.misfire_runs, extract(epoch from j.misfire_after) * 1000000 as misfire_after, j.overlap,
       extract(epoch from j.jitter) * 1000000 as jitter, j.next_tick_at, j.fires_at, j.paused_at, j.skipped_ticks, j.last_skipped_at,
       j.problem, j.job_set, j.created_at as job_created_at, j.updated_at, clock_timestamp() as now,
       r.id, r.source, r.tick_at, r.triggered, r.handed_off, r.state, r.created_at, r.claimed_at, r.ended_at, r.retry_count,
       r.lease_expiries, r.last_error, r.output
  from "windlass"."outbox_job" j
  left join "windlass"."outbox_job_run_listed" r on r.id = j.last_run_id;

-- A queue whose messages are claimed by topic. What its verbs have in common stands with those for messages in progress.

-- Takes up to p_limit ready and due messages, at most p_places[i] of topic p_topics[i] and about p_bytes of payload, for
-- p_lease; the first one whatever its size. Without topics, of whatever topic there is, in random order, so that a full one
-- cannot keep the others waiting. Expired messages are left to expire(); paused topics are left alone, and of limited ones only as
-- many are taken as their limits leave.
--
-- Of a topic, the priorities of p_priorities come one after the other. With p_ageing that one comes first whose oldest message has
-- waited longest, where each step of priority counts as if it had waited for so much longer.
--
-- Under an open snapshot the dead entries of claimed messages stay in the index, and every claim would step over all of
-- them. So a claimer gives, for each topic and each priority, the position (next_attempt_at, id) up to which it knows that nothing
-- is left; the arrays have those of the first topic first.
-- How it knows: let F be the number of a claim's transaction that reached position P. Whoever stamped a message at or before
-- P did so before that claim read its clock, and had its own transaction number by then, so that number is below F. Once a
-- later claim from the old bound reaches past P in a snapshot with xmin > F, all of those transactions had ended in that
-- snapshot, and the claim has seen what they committed. What a claim itself makes ready, and takes, has a later stamp than
-- it can prove: it gets the time that the claim has read before it had its number.
--
-- With p_each it takes them one by one, and leaves those that a constraint or a trigger of the user's refuses; up to a thousand
-- of each topic. If all are refused, it fails as the last one did.
create or replace function "windlass"."outbox_timer_claim"(
    p_owner      uuid,
    p_lease      interval,
    p_limit      integer,
    p_topics     text[] default null,
    p_places     integer[] default null,
    p_after_ats  timestamptz[] default null,
    p_after_ids  uuid[] default null,
    p_bytes      bigint default null,
    p_each       boolean default false,
    p_priorities integer[] default array[4],
    p_ageing     interval default null
) returns setof "windlass"."outbox_timer"
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now     timestamptz := clock_timestamp();
    v_proved  timestamptz := v_now;
    v_bytes   bigint := coalesce(p_bytes, 9223372036854775807);
    v_most    bigint := p_limit;
    v_topics  text[];
    v_places  integer[];
    v_allowed integer[];
    v_paused  text[];
    v_limited text[];
    v_ids     uuid[] := '{}';
    v_keyed   uuid[] := '{}';
    v_found   record;
    v_counts  jsonb := '{}';
    v_size    bigint := 0;
    v_taken   uuid[] := '{}';
    v_refused uuid;
begin
    perform "windlass".windlass_check_lease(p_lease);
    if p_topics is not null then
        perform "windlass".windlass_check_lengths(cardinality(p_topics), cardinality(p_places));
        perform "windlass".windlass_check_lengths(cardinality(p_topics) * cardinality(p_priorities), cardinality(p_after_ats),
                                                cardinality(p_after_ids));
    end if;
    v_topics := coalesce(p_topics, array(select t from (select distinct "windlass"."outbox_timer_ready_topics"() as t) r order by random()));
    v_places := coalesce(p_places, array_fill(p_limit, array[cardinality(v_topics)]));
    select coalesce(array_agg(t.topic) filter (where t.paused_at is not null), '{}'),
           array_agg(t.topic) filter (where num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0)
      into v_paused, v_limited
      from "windlass".windlass_topic t
     where t.queue = 'outbox_timer';
    if v_limited && v_topics then
        v_places := "windlass"."outbox_timer_limited_places"(v_topics, v_places, v_limited);
        v_now := clock_timestamp();
    end if;
    v_allowed := v_places;
    if p_each then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
        v_most := v_most + 1000;
        v_bytes := 9223372036854775807;
        v_places := array(select least(p.places, p_limit) + 1000 from unnest(v_places) with ordinality as p (places, number) order by p.number);
    end if;
    v_ids := v_keyed || array(
        select s.id
          from (select f.id, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
                  from unnest(v_topics, v_places) with ordinality as want (topic, places, number)
                 cross join lateral (
                       select r.id, r.size
                         from (select l.priority, (want.number - 1) * cardinality(p_priorities) + l.number as place
                                 from unnest(p_priorities) with ordinality as l (priority, number)
                                order by case when p_ageing is not null then
                                              (select o.next_attempt_at
                                                 from "windlass"."outbox_timer" o
                                                where o.status = 0 and not o.keyed and o.topic = want.topic and o.priority = l.priority
                                                  and o.next_attempt_at <= v_now
                                                  and (o.next_attempt_at, o.id)
                                                      > (coalesce(p_after_ats[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '-infinity'),
                                                         coalesce(p_after_ids[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '00000000-0000-0000-0000-000000000000'))
                                                order by o.next_attempt_at, o.id
                                                limit 1) - l.priority * p_ageing end, l.number) level
                        cross join lateral (
                              select m.id, octet_length(m.payload) as size
                                from "windlass"."outbox_timer" m
                               where m.status = 0
                                 and not m.keyed
                                 and m.topic = want.topic
                                 and m.priority = level.priority
                                 and m.next_attempt_at <= v_now
                                 and (m.next_attempt_at, m.id)
                                     > (coalesce(p_after_ats[level.place], '-infinity'),
                                        coalesce(p_after_ids[level.place], '00000000-0000-0000-0000-000000000000'))
                                 and (m.expires_at is null or m.expires_at > v_now)
                               order by m.next_attempt_at, m.id
                               limit want.places
                                 for update skip locked) r
                        limit want.places) f
                 where want.topic <> all (v_paused)
                 limit v_most - cardinality(v_keyed)) s
         where p_each or s.before is null or s.before < v_bytes);
    if cardinality(v_ids) = 0 then
    end if;
    if p_each then
        for v_found in
            select m.id, m.topic, octet_length(m.payload) as size
              from unnest(v_ids) with ordinality as p (id, number)
              join "windlass"."outbox_timer" m on m.id = p.id
             order by p.number
        loop
            exit when cardinality(v_taken) >= p_limit or v_size >= p_bytes;
            continue when coalesce((v_counts ->> v_found.topic)::integer, 0)
                          >= v_allowed[array_position(v_topics, v_found.topic)];
            begin
                update "windlass"."outbox_timer" m
                   set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
                       next_attempt_at = least(m.next_attempt_at, v_proved)
                 where m.id = v_found.id;
                v_taken := v_taken || v_found.id;
                v_counts := v_counts || jsonb_build_object(v_found.topic, coalesce((v_counts ->> v_found.topic)::integer, 0) + 1);
                v_size := v_size + v_found.size;
            exception when others or assert_failure then
                v_refused := v_found.id;
            end;
        end loop;
        v_ids := case when cardinality(v_taken) = 0 and v_refused is not null then array[v_refused] else v_taken end;
    end if;
    if v_limited && v_topics then
        perform "windlass"."outbox_timer_note_starts"(v_ids, v_limited, v_now);
    end if;
    return query
    update "windlass"."outbox_timer" m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
           next_attempt_at = least(m.next_attempt_at, v_proved)
     where m.id = any (v_ids)
    returning m.*; -- once more for those that were taken one by one; and if all were refused, it fails in the words of who refuses
end
$sql$;

-- How many of these topics may be claimed, where they have limits. Whoever learns it holds the rows of the limits until its commit, so that
-- the next one counts what it has taken. A topic whose row somebody else holds for longer than a moment gets no place now.
create or replace function "windlass"."outbox_timer_limited_places"(p_topics text[], p_places integer[], p_limited text[]) returns integer[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '20ms'
as $sql$
declare
    v_places integer[] := p_places;
    v_topic  text;
    v_limit  "windlass".windlass_topic;
    v_now    timestamptz;
    v_room   integer;
begin
    for v_topic in select l.topic from unnest(p_limited) as l (topic) where l.topic = any (p_topics) order by l.topic loop
        begin
            select t.* into v_limit from "windlass".windlass_topic t where t.queue = 'outbox_timer' and t.topic = v_topic for update;
        exception
            when lock_not_available then
                v_places[array_position(p_topics, v_topic)] := 0;
                continue;
        end;
        if current_setting('transaction_isolation') <> 'read committed' then -- no new snapshot: who counts with an old one has to fail
            update "windlass".windlass_topic t set topic = t.topic where t.queue = 'outbox_timer' and t.topic = v_topic;
        end if;
        v_now := clock_timestamp();
        v_room := v_places[array_position(p_topics, v_topic)];
        if v_limit.max_running is not null then
            v_room := least(v_room, v_limit.max_running - cardinality("windlass"."outbox_timer_in_progress"(v_topic, v_now)));
        end if;
        if v_limit.rate is not null then
            delete from "windlass".windlass_start s
             where s.queue = 'outbox_timer' and s.topic = v_topic and s.started_at <= v_now - v_limit.rate_period;
            v_room := least(v_room, v_limit.rate - (select coalesce(sum(s.messages), 0)
                                                      from "windlass".windlass_start s
                                                     where s.queue = 'outbox_timer' and s.topic = v_topic));
        end if;
        v_places[array_position(p_topics, v_topic)] := greatest(v_room, 0);
    end loop;
    return v_places;
end
$sql$;

-- The messages of a topic that are in progress. Those whose lease has run out are not: their rows are locked, so that no renewal that is
-- under way can bring them back. One that cannot be locked is being renewed, or ends; it counts.
create or replace function "windlass"."outbox_timer_in_progress"(p_topic text, p_now timestamptz) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_live    uuid[];
    v_expired uuid[];
begin
    select coalesce(array_agg(m.id) filter (where m.locked_until > p_now), '{}'), array_agg(m.id) filter (where m.locked_until <= p_now)
      into v_live, v_expired
      from "windlass"."outbox_timer" m
     where m.status = 1 and m.locked_until > p_now - interval '10 minutes' and m.topic = p_topic; -- no renewal takes that long
    if v_expired is not null then
        v_live := v_live || array(
            select unnest(v_expired)
            except
            select unnest(array(select m.id
                                  from "windlass"."outbox_timer" m
                                 where m.id = any (v_expired) and (m.locked_until <= p_now or m.locked_until is null)
                                   for update skip locked)));
    end if;
    return v_live;
end
$sql$;

-- Notes what begins of topics that have a rate; their limits are locked.
create or replace function "windlass"."outbox_timer_note_starts"(p_ids uuid[], p_limited text[], p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    insert into "windlass".windlass_start (queue, topic, started_at, messages)
    select 'outbox_timer', m.topic, p_now, count(*)
      from "windlass"."outbox_timer" m
     where m.id = any (p_ids)
       and m.topic in (select t.topic
                         from "windlass".windlass_topic t
                        where t.queue = 'outbox_timer' and t.topic = any (p_limited) and t.rate is not null)
     group by m.topic;
end
$sql$;

-- The topics that have ready messages, due or not: one step in the index for each.
create or replace function "windlass"."outbox_timer_ready_topics"() returns setof text
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with recursive step (topic) as (
        (select m.topic
           from "windlass"."outbox_timer" m
          where m.status = 0 and not m.keyed and m.topic is not null
          order by m.topic
          limit 1)
        union all
        select (select m.topic
                  from "windlass"."outbox_timer" m
                 where m.status = 0 and not m.keyed and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
end
$sql$;

-- How many milliseconds until the next ready message of these topics is due, at most a day; zero or less when one is due
-- now, null when there is none. The bounds are those of claim.
create or replace function "windlass"."outbox_timer_next_due"(
    p_topics     text[],
    p_after_ats  timestamptz[],
    p_after_ids  uuid[],
    p_priorities integer[] default array[4]
) returns bigint
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_due bigint;
begin
    v_due := (
        select ceil(extract(epoch from min(least(f.next_attempt_at, v_now + interval '1 day')) - v_now) * 1000)
          from unnest(p_topics) with ordinality as want (topic, number)
         cross join unnest(p_priorities) with ordinality as level (priority, number)
         cross join lateral (
               select m.next_attempt_at
                 from "windlass"."outbox_timer" m
                where m.status = 0
                  and not m.keyed
                  and m.topic = want.topic
                  and m.priority = level.priority
                  and (m.next_attempt_at, m.id) > (p_after_ats[(want.number - 1) * cardinality(p_priorities) + level.number],
                                                   p_after_ids[(want.number - 1) * cardinality(p_priorities) + level.number])
                  and (m.expires_at is null or m.expires_at > v_now)
                order by m.next_attempt_at, m.id
                limit 1) f
         where want.topic not in (select t.topic
                                    from "windlass".windlass_topic t
                                   where t.queue = 'outbox_timer' and t.paused_at is not null));
    return v_due;
end
$sql$;

-- What there is to do in this queue, for whoever has nothing to do and would rather not ask one question after the other. It changes
-- nothing and waits for nobody, not even for one who rewrites the table, so that one statement can ask it of all queues. Without
-- p_topics it does not look for due messages; with p_others it also names the topics besides these that have ready ones.
create or replace function "windlass"."outbox_timer_look"(p_topics text[] default null, p_others boolean default false)
    returns "windlass".windlass_look
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '100ms'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_look "windlass".windlass_look;
begin
    if p_topics is not null then
        v_look.due_in := "windlass"."outbox_timer_next_due"(
            p_topics, array_fill('-infinity'::timestamptz, array[cardinality(p_topics) * cardinality(array[4])]),
            array_fill('00000000-0000-0000-0000-000000000000'::uuid, array[cardinality(p_topics) * cardinality(array[4])]));
    end if;
    v_look.expires_in := (select ceil(extract(epoch from least(m.expires_at, v_now + interval '1 day') - v_now) * 1000)
                            from "windlass"."outbox_timer" m
                           where m.status in (0, 4) and m.expires_at is not null
                           order by m.expires_at
                           limit 1);
    v_look.leased := exists (select from "windlass"."outbox_timer" m where m.status = 1 and m.locked_until is not null);
    if p_others and p_topics is not null then
        v_look.others := array(select t.topic from "windlass"."outbox_timer_ready_topics"() as t (topic) except select unnest(p_topics));
    end if;
-- of this transaction, who looks again learns what has been open since.
    if p_others then
        v_look.due_in := (select ceil(extract(epoch from least(t.next_attempt_at, v_now + interval '1 day') - v_now) * 1000)
                            from "windlass"."outbox_timer" t
                           where t.status = 0
                           order by t.next_attempt_at, t.id
                           limit 1);
        v_look.claim_number := pg_current_xact_id()::text::bigint;
        v_look.snapshot_xmin := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    end if;
    return v_look;
end
$sql$;

-- Ends messages whose expiry has passed as failed, ready ones and such that wait for their turn. Returns how many.
create or replace function "windlass"."outbox_timer_expire"(p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[];
begin
    v_ids := array(select r.id
                     from "windlass"."outbox_timer" r
                    where r.status in (0, 4) and r.expires_at is not null and r.expires_at <= v_now
                    order by r.expires_at
                    limit p_limit
                      for update skip locked);
    return "windlass"."outbox_timer_maintain"('expire', v_ids);
end
$sql$;

-- Deletes what has been done or cancelled for longer than p_keep. Returns how many.
create or replace function "windlass"."outbox_timer_clean"(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
as $sql$
begin
    return (select c.deleted from "windlass"."outbox_timer_clean_after"(p_keep, p_limit, '-infinity') c);
end
$sql$;

-- The same for those who delete many in a row: of what is done, it looks only at what ended at p_after or later, and tells how far it has
-- come. Under an open snapshot the entries of what has been deleted stay in the index, and whoever begins at the start steps over
-- them. What was locked, or was committed very late, is left behind: begin at the start now and then.
create or replace function "windlass"."outbox_timer_clean_after"(
    p_keep  interval,
    p_limit integer,
    p_after timestamptz,
    out deleted integer,
    out reached timestamptz
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_ids    uuid[];
begin
    select coalesce(array_agg(l.id), '{}'), max(l.ended_at)
      into v_ids, reached
      from (select r.id, r.ended_at
              from "windlass"."outbox_timer" r
             where r.status = 2 and r.id is not null and r.ended_at >= p_after and r.ended_at < v_before
             order by r.ended_at
             limit p_limit
               for update skip locked) l;
    v_ids := v_ids || array(select r.id
                              from "windlass"."outbox_timer" r
                             where r.status = 5 and r.id is not null and r.ended_at < v_before
                             order by r.ended_at
                             limit p_limit - cardinality(v_ids)
                               for update skip locked);
    deleted := "windlass"."outbox_timer_maintain"('clean', v_ids);
end
$sql$;

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
create or replace function "windlass"."outbox_timer_ack"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text default null,
    p_keep         boolean default false,
    p_notify       boolean default true,
    p_again        boolean default true
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."outbox_timer_change_held"(case when p_keep then 'ack' else 'delete' end, p_ids, p_owners,
                                        p_processed_by => p_processed_by, p_notify => p_notify, p_again => p_again);
end
$sql$;

-- Returns messages to ready after a failed attempt, which is counted and kept in the history unless p_counted says otherwise. A
-- null delay means min(2^retry_count s, 60 s).
create or replace function "windlass"."outbox_timer_abandon"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_delays       interval[] default null,
    p_errors       text[] default null,
    p_processed_by text default null,
    p_counted      boolean[] default null
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_delays), cardinality(p_errors), cardinality(p_counted));
    return "windlass"."outbox_timer_change_held"('abandon', p_ids, p_owners, p_processed_by => p_processed_by, p_delays => p_delays,
                                        p_errors => p_errors, p_flags => p_counted);
end
$sql$;

-- Returns messages to ready without counting an attempt: the owner is shutting down or cannot handle them. Other nodes are
-- told.
create or replace function "windlass"."outbox_timer_release"(
    p_ids    uuid[],
    p_owners uuid[],
    p_delay  interval default '0 s'
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."outbox_timer_change_held"('release', p_ids, p_owners, p_delays => array[p_delay]);
end
$sql$;

-- Ends messages as failed; they are not claimed again. Under an ordering key, the others wait until it is requeued, purged or
-- passed over, unless p_block says otherwise.
create or replace function "windlass"."outbox_timer_fail"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_errors       text[] default null,
    p_processed_by text default null,
    p_block        boolean[] default null,
    p_notify       boolean default true
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_errors), cardinality(p_block));
    return "windlass"."outbox_timer_change_held"('fail', p_ids, p_owners, p_processed_by => p_processed_by, p_errors => p_errors,
                                        p_flags => p_block, p_notify => p_notify);
end
$sql$;

-- Renews the leases that have not run out.
create or replace function "windlass"."outbox_timer_heartbeat"(
    p_ids    uuid[],
    p_owners uuid[],
    p_lease  interval
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lease(p_lease);
    return "windlass"."outbox_timer_change_held"('heartbeat', p_ids, p_owners, p_delays => array[p_lease], p_leave => true);
end
$sql$;

-- Writes down that the handlers of these messages start now. If their lease runs out after that, it is held against them.
create or replace function "windlass"."outbox_timer_start"(
    p_ids    uuid[],
    p_owners uuid[]
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."outbox_timer_change_held"('start', p_ids, p_owners, p_leave => true);
end
$sql$;

-- Gives back all that a claim took whose answer was lost or could not be read: to ready, without counting an attempt, or, with
-- a reason why it cannot be read, as failed. Tells how many, and how many are left because somebody has them locked, or because
-- they are refused: ask for them again. None at all may mean that the claim is not committed yet.
create or replace function "windlass"."outbox_timer_give_back"(
    p_owner uuid,
    p_error text default null,
    out given       integer,
    out left_locked integer
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_ids uuid[] := array(select m.id
                            from "windlass"."outbox_timer" m
                           where m.status = 1 and m.locked_until > clock_timestamp() and m.owner_token = p_owner);
begin
    given := 0;
    left_locked := 0;
    if cardinality(v_ids) > 0 then
        select s.changed, cardinality(s.locked)
          into given, left_locked
          from "windlass"."outbox_timer_change_held"(case when p_error is null then 'release' else 'fail' end, v_ids, array[p_owner],
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
create or replace function "windlass"."outbox_timer_change_held"(
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
) returns "windlass".windlass_answer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
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
    v_answer  "windlass".windlass_answer;
begin
    if cardinality(p_ids) <> cardinality(v_owners) then
        raise exception 'expected one owner, or one for each of % messages, got %', cardinality(p_ids), cardinality(p_owners)
            using errcode = 'invalid_parameter_value', hint = 'Give the owner tokens in the order of the ids.';
    end if;
    if p_leave then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    end if;
    begin
        v_done := "windlass"."outbox_timer_change_all"(p_verb, p_ids, p_ids, v_owners, p_processed_by, p_delays, p_errors, p_flags, p_notify,
                                          p_pass_on);
    exception
        when others or assert_failure then
            if sqlstate <> '55P03' and not p_leave then
                raise;
            end if;
            v_done := '{}';
            v_free := array(select m.id from "windlass"."outbox_timer" m where m.id = any (p_ids) order by m.id for update skip locked);
            foreach v_awaited in array array[false, true] loop
                v_part := array(select m.id from "windlass"."outbox_timer" m where m.id = any (v_free) and m.awaited = v_awaited);
                begin
                    v_done := v_done || "windlass"."outbox_timer_change_all"(p_verb, v_part, p_ids, v_owners, p_processed_by, p_delays,
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
                    v_done := v_done || "windlass"."outbox_timer_change_all"(p_verb, array[v_id], p_ids, v_owners, p_processed_by, p_delays,
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
                v_done := "windlass"."outbox_timer_change_all"(p_verb, array[v_refused], p_ids, v_owners, p_processed_by, p_delays, p_errors,
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
                  left join "windlass"."outbox_timer" m on m.id = c.id and m.id = any (p_ids)) e;
    else
        v_answer := (cardinality(v_done), '{}', '{}');
    end if;
    return v_answer;
end
$sql$;

-- Changes those of p_only that their owners hold; what is said of each stands in the order of p_ids. Fails if somebody holds a
-- row for longer than a moment, or, where p_patient says that the caller has locked them, than a second. Returns the ids that it changed.
create or replace function "windlass"."outbox_timer_change_all"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
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
                update "windlass"."outbox_timer" m
                   set status = 2, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited)
            select coalesce(array_agg(done.id), '{}'), array_agg(done.id) filter (where done.awaited)
              into v_ids, v_awaited from done;
            if v_awaited is not null then
                perform "windlass"."outbox_timer_ended"(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
            end if;
        when 'delete' then
            v_ids := '{}';
            if p_pass_on then -- else all of them are awaited, as a rule
                with done as (
                    delete from "windlass"."outbox_timer" m
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
                          join "windlass"."outbox_timer" m on m.id = c.id
                         where m.id = any (p_only) and m.owner_token = c.owner_token and m.locked_until is not null
                           for update of m) l;
                if v_awaited is not null then
                    perform "windlass"."outbox_timer_ended"(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
                    delete from "windlass"."outbox_timer" m where m.id = any (v_awaited);
                    v_ids := v_ids || v_awaited;
                end if;
            end if;
            if v_tried is not null then
                delete from "windlass"."outbox_timer_failure" h where h.message_id = any (v_tried);
            end if;
        when 'abandon' then
            perform pg_current_xact_id();
            with failed as (
                update "windlass"."outbox_timer" m
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
                insert into "windlass"."outbox_timer_failure" (message_id, failed_at, attempt, node, error)
                select failed.id, clock_timestamp(), failed.attempt, left(p_processed_by, 100), left(failed.error, 2048)
                  from failed
                 where failed.counted)
            select coalesce(array_agg(failed.id), '{}') into v_ids from failed;
        when 'release' then
            perform pg_current_xact_id();
            with released as (
                update "windlass"."outbox_timer" m
                   set status = 0, owner_token = null, locked_until = null,
                       next_attempt_at = greatest(
                           clock_timestamp() + coalesce(p_delays[1], interval '0'),
                           case when m.next_attempt_at > m.claimed_at then m.next_attempt_at end) -- put off by a trigger of the user's
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id)
            select coalesce(array_agg(released.id), '{}') into v_ids from released;
            if cardinality(v_ids) > 0 then
                perform pg_notify('windlass.windlass.outbox_timer', 'ready');
            end if;
        when 'fail' then
            with ended as (
                update "windlass"."outbox_timer" m
                   set status = 3, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by,
                       last_error = coalesce(left(c.error, 2048), m.last_error)
                  from (select * from unnest(p_ids, p_owners, p_errors) as u (id, owner_token, error) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited, m.ended_at, m.retry_count, c.error),
            recorded as (
                insert into "windlass"."outbox_timer_failure" (message_id, failed_at, attempt, node, error)
                select ended.id, ended.ended_at, ended.retry_count + 1, left(p_processed_by, 100), left(ended.error, 2048)
                  from ended)
            select coalesce(array_agg(ended.id), '{}'), array_agg(ended.id) filter (where ended.awaited)
              into v_ids, v_awaited from ended;
            if v_awaited is not null then
                perform "windlass"."outbox_timer_ended"(
                    v_awaited, 3::smallint,
                    array(select u.id from unnest(p_ids, p_flags) as u (id, block) where u.block is not false),
                    p_pass_on, p_notify);
            end if;
        when 'heartbeat' then
            with kept as (
                update "windlass"."outbox_timer" m
                   set locked_until = clock_timestamp() + p_delays[1]
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token
                   and m.locked_until > clock_timestamp()
                returning m.id)
            select coalesce(array_agg(kept.id), '{}') into v_ids from kept;
        when 'start' then
            with begun as (
                update "windlass"."outbox_timer" m
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
create or replace function "windlass"."outbox_timer_reap"(
    p_quiet   interval,
    p_limit   integer default 1000,
    p_watched boolean default false
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer;
begin
    if v_now < pg_postmaster_start_time() + p_quiet
       or p_watched and not "windlass"."outbox_timer_is_calm"(p_quiet) then
        return 0;
    end if;
    v_count := "windlass"."outbox_timer_maintain"('reap', array(
        select r.id
          from "windlass"."outbox_timer" r
         where r.status = 1 and r.id is not null and r.locked_until <= v_now
         order by r.locked_until
         limit p_limit
           for update skip locked));
    if v_count > 0 then
        perform pg_notify('windlass.windlass.outbox_timer', 'ready');
    end if;
    return v_count;
end
$sql$;

-- What has to be done to messages that the caller has locked: reap, expire or clean; see windlass_each. Returns how many.
create or replace function "windlass"."outbox_timer_maintain"(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
as $sql$
begin
    return "windlass".windlass_each(
        'select ' || $name$"windlass"."outbox_timer_maintain_all"$name$ || '(' || quote_literal(p_verb) || ', $1::uuid[])', p_ids::text[]);
end
$sql$;

create or replace function "windlass"."outbox_timer_maintain_all"(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids   uuid[];
    v_count integer;
begin
    case p_verb
        when 'reap' then
            with reaped as (
                update "windlass"."outbox_timer" m
                   set status = 0, owner_token = null, locked_until = null, lease_expiries = m.lease_expiries + 1,
                       crashes = least(m.crashes + m.started::integer, 32767), next_attempt_at = clock_timestamp()
                 where m.id = any (p_ids)
                returning m.id, m.next_attempt_at, m.retry_count),
            recorded as (
                insert into "windlass"."outbox_timer_failure" (message_id, failed_at, attempt, error)
                select reaped.id, reaped.next_attempt_at, reaped.retry_count + 1, 'its lease ran out' from reaped)
            select coalesce(array_agg(reaped.id), '{}') into v_ids from reaped;
            v_count := cardinality(v_ids);
        when 'expire' then
            v_count := "windlass"."outbox_timer_end_unclaimed"(p_ids, 3::smallint, 'expired before it was handled');
        when 'clean' then
            v_count := "windlass"."outbox_timer_remove"(p_ids);
    end case;
    return v_count;
end
$sql$;

-- Deletes messages that the caller has locked, with their history. Returns how many.
create or replace function "windlass"."outbox_timer_remove"(p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_count integer;
    v_tried uuid[];
begin
    with removed as (
        delete from "windlass"."outbox_timer" m
         where m.id = any (p_ids)
        returning m.id, m.status = 3 or m.retry_count + m.lease_expiries + m.requeues > 0 as tried)
    select count(*), array_agg(removed.id) filter (where removed.tried) into v_count, v_tried from removed;
    if v_tried is not null then
        delete from "windlass"."outbox_timer_failure" h where h.message_id = any (v_tried);
    end if;
    return v_count;
end
$sql$;

-- Does what has to be done when messages end for which something has to be done (awaited), in the same transaction. Called after
-- their rows have been changed, or locked and not deleted yet.
create or replace function "windlass"."outbox_timer_ended"(
    p_ids      uuid[],
    p_status   smallint,
    p_blocking uuid[],
    p_pass_on  boolean,
    p_notify   boolean
) returns void
    language plpgsql
as $sql$
begin
end
$sql$;

-- Ends messages that nobody has claimed; the caller has locked them. Returns how many.
create or replace function "windlass"."outbox_timer_end_unclaimed"(p_ids uuid[], p_status smallint, p_reason text) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_waiting uuid[] := array(select m.id from "windlass"."outbox_timer" m where m.id = any (p_ids) and m.status + 0 = 4);
    v_count   integer;
    v_awaited uuid[];
begin
    with ended as (
        update "windlass"."outbox_timer" m
           set status = p_status, ended_at = clock_timestamp(), last_error = coalesce(p_reason, m.last_error)
         where m.id = any (p_ids)
        returning m.id, m.awaited)
    select count(*), array_agg(ended.id) filter (where ended.awaited) into v_count, v_awaited from ended;
    if v_awaited is not null then
        perform "windlass"."outbox_timer_ended"(array(select unnest(v_awaited) except select unnest(v_waiting)), p_status, '{}', true, true);
        perform "windlass"."outbox_timer_ended"(array(select unnest(v_awaited) intersect select unnest(v_waiting)), p_status, '{}', false,
                                       true);
    end if;
    return v_count;
end
$sql$;

-- Whether living owners have had the time to renew: somebody has been here again and again, and the last interruption lies
-- p_quiet back. Owners renew every third of a lease; so after two thirds without anybody, leases may have run out for no fault
-- of theirs. A server that was away, or has just become the primary, was not here. A clock that was set back is an interruption,
-- too; what was noted by the clock before does not count.
create or replace function "windlass"."outbox_timer_is_calm"(p_quiet interval) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_watch "windlass".windlass_watch;
begin
    select w.* into v_watch from "windlass".windlass_watch w where w.queue = 'outbox_timer';
    if v_watch.seen_at between v_now - p_quiet / 10 and v_now + p_quiet then
        return v_watch.quiet_until <= v_now;
    end if;
    perform 1 from "windlass".windlass_watch w where w.queue = 'outbox_timer' for update skip locked;
    if found then -- else whoever has it locked is here, too
        update "windlass".windlass_watch w
           set seen_at = v_now,
               quiet_until = case when w.seen_at between v_now - p_quiet * 2 / 3 and v_now + p_quiet then w.quiet_until
                                  else v_now + p_quiet end
         where w.queue = 'outbox_timer'
        returning w.* into v_watch;
    end if;
    return v_watch.quiet_until <= v_now;
end
$sql$;

-- Locks those of the ids that are in one of these states. Whoever has one locked is waited for, in the order of the ids and with none
-- locked that is not in these states, so that two who want the same cannot deadlock; and a message that has left them meanwhile is
-- not kept locked, as PostgreSQL would: its owner could not renew it.
create or replace function "windlass"."outbox_timer_lock"(p_ids uuid[], p_states integer[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
    v_id  uuid;
begin
    begin
        v_ids := array(select m.id
                         from "windlass"."outbox_timer" m
                        where m.id = any (p_ids) and m.status + 0 = any (p_states)
                        order by m.id
                          for update skip locked);
        if not exists (select
                         from "windlass"."outbox_timer" m
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
                select m.id from "windlass"."outbox_timer" m where m.id = any (p_ids) and m.status + 0 = any (p_states) order by m.id
            loop
                perform 1 from "windlass"."outbox_timer" m where m.id = v_id and m.status + 0 = any (p_states) for update;
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

insert into "windlass".windlass_watch (queue, seen_at, quiet_until)
values ('outbox_timer', clock_timestamp(), '-infinity')
on conflict do nothing;

-- What programs and operators do to messages of a queue that nobody is handling. What an operator does is recorded in the same
-- transaction: who, when, what, and to how many messages.

-- One message, in whatever state.
create or replace function "windlass"."outbox_timer_find"(p_id uuid) returns setof "windlass"."outbox_timer"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query select m.* from "windlass"."outbox_timer" m where m.id = p_id;
end
$sql$;

-- The attempts of a message that failed, the oldest first.
create or replace function "windlass"."outbox_timer_failures"(p_id uuid) returns setof "windlass"."outbox_timer_failure"
    language plpgsql
    stable
as $sql$
begin
    return query select h.* from "windlass"."outbox_timer_failure" h where h.message_id = p_id order by h.failed_at;
end
$sql$;

-- Ends messages that nobody has claimed as cancelled; they are gone at once unless p_keep says otherwise. Returns how many;
-- others, claimed or ended, stay as they are.
create or replace function "windlass"."outbox_timer_cancel"(p_ids uuid[], p_keep boolean default false) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."outbox_timer_lock"(p_ids, array[0, 4]);
    if p_keep or exists (select from "windlass"."outbox_timer" m where m.id = any (v_ids) and m.awaited) then
        perform "windlass"."outbox_timer_end_unclaimed"(v_ids, 5::smallint, null);
    end if;
    if not p_keep and "windlass"."outbox_timer_remove"(v_ids) < cardinality(v_ids) then -- what cannot be deleted now is cancelled all the same
        perform "windlass"."outbox_timer_end_unclaimed"(
            array(select m.id from "windlass"."outbox_timer" m where m.id = any (v_ids) and m.status + 0 in (0, 4)), 5::smallint, null);
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Moves the due time of messages that nobody has claimed: to p_due_at, or p_delay from now, or now. Returns how many.
create or replace function "windlass"."outbox_timer_reschedule"(
    p_ids    uuid[],
    p_due_at timestamptz default null,
    p_delay  interval default null,
    p_notify boolean default true
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
    v_now timestamptz;
    v_due timestamptz;
begin
    perform "windlass".windlass_check_ids(p_ids);
    perform "windlass".windlass_check_times(p_due_at, p_delay);
    v_ids := "windlass"."outbox_timer_lock"(p_ids, array[0, 4]);
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    v_due := coalesce(p_due_at, v_now + p_delay, v_now);
    update "windlass"."outbox_timer" m
       set due_at = v_due, next_attempt_at = greatest(v_now, v_due)
     where m.id = any (v_ids);
    if p_notify and cardinality(v_ids) > 0 then
        perform pg_notify('windlass.windlass.outbox_timer', 'ready');
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
create or replace function "windlass"."outbox_timer_list"(
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
) returns setof "windlass"."outbox_timer_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
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
        select m.*
          from "windlass"."outbox_timer_listed" m
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
          from unnest(case when p_topic is null then array(select distinct "windlass"."outbox_timer_ready_topics"()) else array[p_topic] end) t (topic)
         cross join unnest(array[4]) level (priority)
         cross join lateral (
               select m.*
                 from "windlass"."outbox_timer_listed" m
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
          from "windlass"."outbox_timer_listed" m
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
          from "windlass"."outbox_timer_listed" m
         where m.status = 3 and m.topic = p_topic
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    else
        return query
        select m.*
          from "windlass"."outbox_timer_listed" m
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
create or replace function "windlass"."outbox_timer_pick_failed"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := "windlass".windlass_action_until(p_action, p_until);
    v_ids   uuid[];
begin
    perform "windlass".windlass_check_choice(p_by, p_ids, coalesce(p_topic, p_source, p_from::text, p_until::text, p_error) is not null,
                                           p_limit, p_all);
    if p_ids is not null then
        v_ids := "windlass"."outbox_timer_lock"(p_ids, array[3]);
        return array(select m.id from "windlass"."outbox_timer" m where m.id = any (v_ids) and (m.erased_at is null or not p_whole));
    elsif p_topic is not null then
        return array(select m.id
                       from "windlass"."outbox_timer" m
                      where m.status = 3 and m.topic = p_topic and m.ended_at >= v_from and m.ended_at < v_until
                        and (p_source is null or m.source = p_source)
                        and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                        and (m.erased_at is null or not p_whole)
                      order by m.ended_at, m.id
                      limit p_limit
                        for update skip locked);
    end if;
    return array(select m.id
                   from "windlass"."outbox_timer" m
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
create or replace function "windlass"."outbox_timer_requeue"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now     timestamptz;
    v_ids     uuid[];
    v_waiting uuid[] := '{}';
begin
    v_ids := "windlass"."outbox_timer_pick_failed"(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, true);
    messages := cardinality(v_ids);
    reached := (select max(m.ended_at) from "windlass"."outbox_timer" m where m.id = any (v_ids));
    perform pg_current_xact_id();
    v_ids := "windlass"."outbox_timer_reopen_keys"(v_ids);
    messages := cardinality(v_ids);
    v_now := clock_timestamp();
    update "windlass"."outbox_timer" m
       set status = case when m.id = any (v_waiting) then 4 else 0 end, owner_token = null,
           next_attempt_at = greatest(v_now, m.due_at), ended_at = null, processed_by = null, lease_expiries = 0, crashes = 0,
           retry_count = case when p_reset then 0 else m.retry_count end,
           requeues = least(m.requeues + 1, 32767),
           expires_at = case when m.expires_at > v_now then m.expires_at end
     where m.id = any (v_ids);
    if messages > 0 then
        perform pg_notify('windlass.windlass.outbox_timer', 'ready');
    end if;
    action := "windlass".windlass_record('outbox_timer', p_action, p_by, 'requeue', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error,
                                     'reset', p_reset));
    return next;
end
$sql$;

-- Deletes failed messages and their history. Otherwise as requeue.
create or replace function "windlass"."outbox_timer_purge"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    v_ids := "windlass"."outbox_timer_pick_failed"(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, false);
    reached := (select max(m.ended_at) from "windlass"."outbox_timer" m where m.id = any (v_ids));
    messages := "windlass"."outbox_timer_remove"(v_ids);
    action := "windlass".windlass_record('outbox_timer', p_action, p_by, 'purge', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error));
    return next;
end
$sql$;

-- Removes payload and headers of messages that have ended; everything else stays. Returns how many.
create or replace function "windlass"."outbox_timer_erase"(p_by text, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    perform "windlass".windlass_check_by(p_by);
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."outbox_timer_lock"(p_ids, array[2, 3, 5]);
    v_ids := array(select m.id from "windlass"."outbox_timer" m where m.id = any (v_ids) and m.erased_at is null);
    update "windlass"."outbox_timer" m set payload = '', headers = null, erased_at = clock_timestamp() where m.id = any (v_ids);
    perform "windlass".windlass_record('outbox_timer', null, p_by, 'erase', cardinality(v_ids), p_ids, '{}');
    return cardinality(v_ids);
end
$sql$;

-- Stops claims of a topic, everywhere; handlers that are at work finish. Returns whether it was not paused before.
create or replace function "windlass"."outbox_timer_pause_topic"(p_by text, p_topic text, p_reason text default null) returns boolean
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    if p_topic is null or btrim(p_topic) = '' then
        perform "windlass".windlass_refuse('a topic', case when p_topic is null then 'null' else 'blank text' end,
                                         'Topics are paused one by one.');
    end if;
    insert into "windlass".windlass_topic as t (queue, topic, paused_at, paused_by, reason)
    values ('outbox_timer', p_topic, clock_timestamp(), p_by, nullif(left(p_reason, 2048), ''))
    on conflict (queue, topic) do update
       set paused_at = excluded.paused_at, paused_by = excluded.paused_by, reason = excluded.reason
     where t.paused_at is null;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('outbox_timer', null, p_by, 'pause', 0, null, jsonb_build_object('topic', p_topic, 'reason', p_reason));
    perform pg_notify('windlass.windlass.outbox_timer', 'topics');
    return true;
end
$sql$;

-- Lets a topic be claimed again. Returns whether it was paused.
create or replace function "windlass"."outbox_timer_resume_topic"(p_by text, p_topic text) returns boolean
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    delete from "windlass".windlass_topic t
     where t.queue = 'outbox_timer' and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) = 0;
    if not found then
        update "windlass".windlass_topic t
           set paused_at = null, paused_by = null, reason = null
         where t.queue = 'outbox_timer' and t.topic = p_topic and t.paused_at is not null;
    end if;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('outbox_timer', null, p_by, 'resume', 0, null, jsonb_build_object('topic', p_topic));
    perform pg_notify('windlass.windlass.outbox_timer', 'topics');
    return true;
end
$sql$;

-- Limits a topic over all nodes: how many are in progress at once, how many of each key, and how many begin within any time of this
-- length. What is left out is not limited. Whatever is in progress goes on. Returns whether that is a change.
create or replace function "windlass"."outbox_timer_limit_topic"(
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
    perform "windlass".windlass_check_by(p_by);
    perform "windlass".windlass_check_limit(p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period);
    if p_max_per_key is not null and not false then
        perform "windlass".windlass_refuse('a limit without p_max_per_key, since messages of ' || 'outbox_timer' || ' have no keys',
                                         p_max_per_key::text, 'Leave p_max_per_key out.');
    end if;
    if num_nonnulls(p_max_running, p_max_per_key, p_rate) > 0 then
        insert into "windlass".windlass_topic as t (queue, topic, max_running, max_per_key, rate, rate_period)
        values ('outbox_timer', p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period)
        on conflict (queue, topic) do update
           set max_running = excluded.max_running, max_per_key = excluded.max_per_key, rate = excluded.rate,
               rate_period = excluded.rate_period
         where (t.max_running, t.max_per_key, t.rate, t.rate_period)
               is distinct from (excluded.max_running, excluded.max_per_key, excluded.rate, excluded.rate_period);
    else
        delete from "windlass".windlass_topic t where t.queue = 'outbox_timer' and t.topic = p_topic and t.paused_at is null;
        if not found then
            update "windlass".windlass_topic t
               set max_running = null, max_per_key = null, rate = null, rate_period = null
             where t.queue = 'outbox_timer' and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0;
        end if;
    end if;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('outbox_timer', null, p_by, 'limit', 0, null,
                jsonb_build_object('topic', p_topic, 'running', p_max_running, 'perKey', p_max_per_key, 'rate', p_rate,
                                   'period', p_rate_period));
    perform pg_notify('windlass.windlass.outbox_timer', 'topics');
    return true;
end
$sql$;

-- The topics that are paused or limited.
create or replace function "windlass"."outbox_timer_decided_topics"() returns table (
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
      from "windlass".windlass_topic t
     where t.queue = 'outbox_timer'
     order by t.topic;
end
$sql$;

-- What operators did, the latest first. The next page begins before the last one's number.
create or replace function "windlass"."outbox_timer_actions"(p_limit integer, p_before bigint default null)
    returns setof "windlass".windlass_action
    language plpgsql
    stable
as $sql$
begin
    return query
    select a.*
      from "windlass".windlass_action a
     where a.queue = 'outbox_timer' and (p_before is null or a.id < p_before)
     order by a.id desc
     limit p_limit;
end
$sql$;

-- What can be seen of a queue from outside, by whoever may read it. Nothing is claimed, locked or changed here. Each number is counted along
-- an index and up to a limit, so that it costs on a table of ten million messages what it costs on a small one.

-- How much there is of each state. No count goes beyond p_most, which then means that many or more.
--
--   ready            due now, paused or not           overdue         of these, due for more than five minutes
--   delayed          ready, and due later             oldest_ready_ms since when the oldest of these has been due
--   in_progress      leased, whether or not in time   stuck           of these, see windlass_is_stuck
--
-- With tens of thousands of topics, or with as many dead entries, not everything is looked at. Then "more_topics" is true, and there may be more
-- of what is ready, overdue and delayed, and an older one.
--
-- While a snapshot is open anywhere, the entries of what was claimed and ended stay in the indexes, and whoever begins at the oldest
-- steps over all of them. So everything here looks near to now first, in spans that grow, and ends when it has met some thousand entries
-- more than it has found: what is further away is not found then, until the snapshot is closed.
create or replace function "windlass"."outbox_timer_measure"(
    p_most integer,
    out ready           bigint,
    out delayed         bigint,
    out waiting         bigint,
    out in_progress     bigint,
    out failed          bigint,
    out overdue         bigint,
    out stuck           bigint,
    out oldest_ready_ms bigint,
    out more_topics     boolean
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    select least(coalesce(sum(p.due), 0), p_most), least(coalesce(sum(p.overdue), 0), p_most), least(coalesce(sum(p.later), 0), p_most),
           floor(extract(epoch from v_now - min(p.oldest)) * 1000), coalesce(bool_or(p.more), false)
      into ready, overdue, delayed, oldest_ready_ms, more_topics
      from "windlass"."outbox_timer_pending"(p_most, null, v_now) p;
    select least(count(*), p_most),
           least(count(*) filter (where "windlass".windlass_is_stuck(v_now, l.claimed_at, l.locked_until, null)), p_most)
      into in_progress, stuck
      from "windlass"."outbox_timer_leased_near"(p_most, v_now) l;
    failed := (select count(*)
                 from (select from "windlass"."outbox_timer" m where m.status = 3 and m.ended_at is not null limit p_most) c);
    waiting := 0;
end
$sql$;

-- Messages in progress whose lease ends after p_since and up to p_until, those first whose lease ends or has ended near to p_now: up to p_most
-- whose lease goes on, and of others up to p_most of each span, so that many that have just run out hide none that did so long ago.
create or replace function "windlass"."outbox_timer_leased_near"(
    p_most  integer,
    p_now   timestamptz,
    p_since timestamptz default '-infinity',
    p_until timestamptz default 'infinity'
)
    returns table (id uuid, topic varchar, retry_count integer, lease_expiries integer, claimed_at timestamptz, locked_until timestamptz)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_span record;
    v_end  bigint;
    v_left integer;
    v_rows integer;
begin
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.since >= p_since and s.until <= p_until loop
        if v_end is null or v_span.until = p_now then -- so much for what is to come, and for what is past
            v_end := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_timer_leased"$name$::regclass) + 5000 + 2 * p_most::bigint;
        end if;
        if v_left is null or v_span.until <= p_now then
            v_left := p_most;
        end if;
        continue when v_left = 0
            or pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_timer_leased"$name$::regclass) > v_end;
        return query
        select m.id, m.topic::varchar, m.retry_count::integer, m.lease_expiries::integer, m.claimed_at::timestamptz,
               m.locked_until::timestamptz
          from "windlass"."outbox_timer" m
         where m.status = 1 and m.locked_until > v_span.since and m.locked_until <= v_span.until
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many ready messages there are: due, of these due for more than five minutes, due later; and since when the oldest is due. With p_topics a
-- row for each of so many topics, with up to p_most of each; else some rows for all topics, with about p_most in all. A last row says
-- with "more" that topics were left out: there are more, or a look at them would cost too much.
--
-- Topics that are much worked on have entries in the index of which nothing is left; they are counted near to now first, see due. The others
-- are taken as they come in the index, many at once: ten thousand topics of one message cost what one of ten thousand does. Where one
-- has many, it is counted alone and stepped over. What lies between topics that were lately worked on comes first: it has few entries
-- of which nothing is left. If the look ends before it has seen all, some of the rest are looked at one by one, see pending_rest.
create or replace function "windlass"."outbox_timer_pending"(p_most integer, p_topics integer, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, more boolean)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_entries bigint  := coalesce(200 * p_topics::bigint, 20000 + p_most::bigint);
    v_topics  integer := coalesce(p_topics, 2147483647);
    v_busy    text[]  := array(select l.topic from "windlass"."outbox_timer_lately"(p_now) l where l.is_busy);
    v_sums    bigint[] := array[0, 0, 0];
    v_from    text    := '';
    v_cut     text;
    v_size    integer;
    v_small   bigint;
    v_met     bigint;
    v_gap     record;
begin
    more := false;
    for topic, due, overdue, later, oldest in
        select case when p_topics is not null then b.topics[1] end, d.*
          from (select v_busy as topics where p_topics is null
                union all
                select array[u.topic] from unnest(v_busy) as u (topic) where p_topics is not null) b
         cross join lateral "windlass"."outbox_timer_pending_busy"(b.topics, p_most, p_now) d loop
        v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
        v_topics := v_topics - 1;
        return next;
    end loop;
    for v_gap in select g.* from "windlass"."outbox_timer_pending_gaps"(p_now) g loop
        v_from := v_gap.since;
        v_size := 100;
        loop
            if v_entries <= 0 or v_topics <= 0 then
                select null, 0, 0, 0, null, true into topic, due, overdue, later, oldest, more;
                if p_topics is null then
                    select r.due, r.overdue, r.later, r.oldest into due, overdue, later, oldest
                      from "windlass"."outbox_timer_pending_rest"(v_gap.turn, v_from, p_now) r;
                end if;
                return next;
                return;
            end if;
            v_met := "windlass"."outbox_timer_pending_met"();
            v_small := 0;
            for topic, due, overdue, later, oldest, v_cut in
                select p.* from "windlass"."outbox_timer_pending_part"(v_from, v_gap.until, v_size, p_topics is not null, p_now) p loop
                if due + later > 0 then
                    v_small := v_small + due + later;
                    v_topics := v_topics - 1;
                    return next;
                end if;
            end loop;
            v_entries := v_entries + v_met - "windlass"."outbox_timer_pending_met"();
            exit when v_cut is null;
            select d.* into due, overdue, later, oldest
              from "windlass"."outbox_timer_pending_of"(v_cut, p_most, case when p_topics is null then v_sums else '{0,0,0}' end, p_now) d;
            topic := case when p_topics is not null then v_cut end;
            v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
            v_topics := v_topics - 1;
            return next;
            v_from := v_cut || E'\x01'; -- comes next
            v_size := case when v_small >= v_size / 2 then least(2 * v_size, 10000, greatest(v_topics, 100)) else 100 end;
        end loop;
    end loop;
end
$sql$;

-- The pieces in which the topics are taken that are not much worked on: from which one on, and before which one. First what lies between those
-- that were lately worked on, then these.
create or replace function "windlass"."outbox_timer_pending_gaps"(p_now timestamptz) returns table (since text, until text, turn integer)
    language plpgsql
    stable
as $sql$
begin
    return query
    with lately as materialized (
        select l.topic collate "C" as topic, l.is_busy from "windlass"."outbox_timer_lately"(p_now) l),
    gap as (
        select '' as since, coalesce(min(l.topic), repeat(E'\U0010ffff', 256)) as until, 1 as turn -- comes after every topic
          from lately l
         union all
        select l.topic || E'\x01', lead(l.topic, 1, repeat(E'\U0010ffff', 256)) over (order by l.topic), 1 from lately l
         union all
        select l.topic, l.topic || E'\x01', 2 from lately l where not l.is_busy)
    select g.since, g.until, g.turn from gap g order by g.turn, g.since collate "C";
end
$sql$;

-- What there is of those topics that pending has not come to, in this turn from topic p_from on: at least so much. A thousand messages are counted of
-- each of those that the statistics of the table name, the most frequent first, then of those that were lately worked on, each near to
-- now first; until 20,000 entries were met.
create or replace function "windlass"."outbox_timer_pending_rest"(
    p_turn integer,
    p_from text,
    p_now  timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end   bigint := "windlass"."outbox_timer_pending_met"() + 20000;
    v_topic text;
    v_found record;
begin
    due := 0;
    overdue := 0;
    later := 0;
    for v_topic in
        with lately as materialized (
            select l.topic, l.is_busy from "windlass"."outbox_timer_lately"(p_now) l)
        select r.topic
          from (select k.topic, 1 as turn, k.place
                  from pg_class c
                  join pg_namespace n on n.oid = c.relnamespace
                  join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'topic'
                 cross join unnest(s.most_common_vals::text::text[] || s.histogram_bounds::text::text[])
                            with ordinality as k (topic, place)
                 where c.oid = $name$"windlass"."outbox_timer"$name$::regclass
                   and k.topic not in (select l.topic from lately l)
                 union all
                select l.topic, 2, 0 from lately l where not l.is_busy) r
         where r.turn > p_turn or (r.turn = p_turn and r.topic collate "C" >= p_from)
         order by r.turn, r.place, r.topic collate "C" loop
        exit when "windlass"."outbox_timer_pending_met"() >= v_end;
        select d.* into v_found from "windlass"."outbox_timer_pending_busy"(array[v_topic], 1000, p_now) d;
        due := due + v_found.due;
        overdue := overdue + v_found.overdue;
        later := later + v_found.later;
        oldest := least(oldest, v_found.oldest);
    end loop;
end
$sql$;

-- Topics that were lately worked on, in their order, and which of them are those that it was most often.
create or replace function "windlass"."outbox_timer_lately"(p_now timestamptz) returns table (topic text, is_busy boolean)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query
    select w.topic::text, row_number() over (order by count(*) desc, w.topic) <= 20
      from ((select m.topic from "windlass"."outbox_timer" m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit 60)
            union all
            (select m.topic from "windlass"."outbox_timer" m where m.status = 3 and m.ended_at is not null order by m.ended_at desc limit 20)
            union all
            (select l.topic from "windlass"."outbox_timer_leased_near"(20, p_now) l limit 20)) w
     group by w.topic
     order by w.topic collate "C";
end
$sql$;

-- How many entries this transaction has met in the indexes of ready messages, with those of which nothing is left.
create or replace function "windlass"."outbox_timer_pending_met"() returns bigint
    language plpgsql
    stable
as $sql$
declare
    v_met bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_timer_ready"$name$::regclass);
begin
    return v_met;
end
$sql$;

-- The p_size ready messages from topic p_from on and before p_until that come first in the index, as in pending. Those of the last of these topics
-- are left out if there may be more: it is the "cut", of which every row tells. A row may be of no message. With p_each a row for each topic.
create or replace function "windlass"."outbox_timer_pending_part"(p_from text, p_until text, p_size integer, p_each boolean, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, cut text)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with part as materialized (
        select m.topic, m.next_attempt_at
          from "windlass"."outbox_timer" m
         where m.status = 0 and not m.keyed and m.topic >= p_from and m.topic < p_until
         order by m.topic, m.priority, m.next_attempt_at, m.id
         limit p_size)
    select case when p_each then m.topic::text end,
           count(*) filter (where m.next_attempt_at <= p_now),
           count(*) filter (where m.next_attempt_at <= p_now - interval '5 minutes'),
           count(*) filter (where m.next_attempt_at > p_now),
           min(m.next_attempt_at) filter (where m.next_attempt_at <= p_now),
           c.topic::text
      from (select case when count(*) = p_size then max(p.topic) end as topic from part p) c
      left join part m on m.topic < c.topic or c.topic is null
     group by 1, 6;
end
$sql$;

-- Ready messages of one topic, as in pending, up to p_most of each with those that were counted already.
create or replace function "windlass"."outbox_timer_pending_of"(
    p_topic   text,
    p_most    integer,
    p_counted bigint[],
    p_now     timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_since timestamptz := p_now - interval '5 minutes';
    v_young timestamptz;
begin
    select d.messages, d.oldest into overdue, oldest
      from "windlass"."outbox_timer_due_between"(array[p_topic], '-infinity', v_since, greatest(p_most - p_counted[2], 0)::integer) d;
    select d.messages + overdue, d.oldest into due, v_young
      from "windlass"."outbox_timer_due_between"(array[p_topic], v_since, p_now, greatest(p_most - p_counted[1] - overdue, 0)::integer) d;
    oldest := least(oldest, v_young);
    later := (select d.messages
                from "windlass"."outbox_timer_due_between"(array[p_topic], p_now, 'infinity', greatest(p_most - p_counted[3], 0)::integer) d);
end
$sql$;

-- The same of topics together that are much worked on.
create or replace function "windlass"."outbox_timer_pending_busy"(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
as $sql$
begin
    select d.ready, d.overdue, d.oldest into due, overdue, oldest from "windlass"."outbox_timer_due"(p_topics, p_most, p_now) d;
    later := (select d.messages from "windlass"."outbox_timer_due_between"(p_topics, p_now, 'infinity', p_most) d);
end
$sql$;

-- How many ready messages of these topics are due, and how many for more than five minutes, at most p_most; and since when the oldest is.
create or replace function "windlass"."outbox_timer_due"(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz default clock_timestamp(),
    out ready   bigint,
    out overdue bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_timer_ready"$name$::regclass) + 5000 + 2 * p_most::bigint
                     + 12 * cardinality(p_topics) * cardinality(array[4]);
    v_old  boolean;
    v_span record;
    v_due  record;
begin
    ready := 0;
    overdue := 0;
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.until <= p_now loop
        v_old := v_span.until <= p_now - interval '5 minutes';
        select d.* into v_due
          from "windlass"."outbox_timer_due_between"(p_topics, v_span.since, v_span.until,
                                            p_most - case when v_old then overdue else ready end::integer) d;
        ready := least(ready + v_due.messages, p_most);
        overdue := overdue + case when v_old then v_due.messages else 0 end;
        oldest := least(oldest, v_due.oldest);
        exit when pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_timer_ready"$name$::regclass) > v_end;
    end loop;
end
$sql$;

-- How many ready messages of these topics became or become due after p_since and up to p_until, at most p_most, which may be none, and when
-- the first of them does.
create or replace function "windlass"."outbox_timer_due_between"(
    p_topics text[],
    p_since  timestamptz,
    p_until  timestamptz,
    p_most   integer,
    out messages bigint,
    out oldest   timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    messages := (select count(*)
                   from (select
                           from unnest(p_topics) as t (topic)
                          cross join unnest(array[4]) as level (priority)
                          cross join lateral (
                                select
                                  from "windlass"."outbox_timer" m
                                 where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                                   and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                                 limit p_most) f
                          limit p_most) c);
    if messages > 0 or p_most = 0 then -- else the same entries would be gone over again, to find nothing
        oldest := (select min(f.next_attempt_at)
                     from unnest(p_topics) as t (topic)
                    cross join unnest(array[4]) as level (priority)
                    cross join lateral (
                          select m.next_attempt_at
                            from "windlass"."outbox_timer" m
                           where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                             and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                           order by m.next_attempt_at, m.id
                           limit 1) f);
    end if;
end
$sql$;

-- Messages in progress that nobody seems to look after, the oldest first, without their content: see windlass_is_stuck. With p_older
-- also those whose lease has just run out, and those whose attempt began that long ago.
create or replace function "windlass"."outbox_timer_stuck"(p_limit integer default 1000, p_older interval default null)
    returns setof "windlass"."outbox_timer_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[] := array(select l.id
                            from "windlass"."outbox_timer_leased_near"(p_limit, v_now, '-infinity',
                                                              case when p_older is null then v_now else 'infinity' end) l
                           where "windlass".windlass_is_stuck(v_now, l.claimed_at, l.locked_until, p_older)
                           order by l.claimed_at, l.id
                           limit p_limit);
begin
    return query
    select m.* from "windlass"."outbox_timer_listed" m where m.id = any (v_ids) order by m.claimed_at, m.id;
end
$sql$;

-- Messages whose leases have run out p_least times or more, the most often first: among p_most in progress, p_most of each topic that are due,
-- but for those with keys, and the p_most that failed last. With more than a thousand topics, those that are due are looked at in some only,
-- and a notice says so.
create or replace function "windlass"."outbox_timer_lapsed"(p_least integer default 2, p_most integer default 1000)
    returns setof "windlass"."outbox_timer_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[];
    v_since  timestamptz[];
    v_more   boolean;
    v_ids    uuid[];
begin
    perform "windlass".windlass_check_most(p_most);
    select coalesce(array_agg(p.topic) filter (where p.oldest is not null), '{}'),
           coalesce(array_agg(p.oldest) filter (where p.oldest is not null), '{}'), bool_or(p.more)
      into v_topics, v_since, v_more
      from "windlass"."outbox_timer_pending"(1, 1000, v_now) p;
    if v_more then
        raise notice 'there are more topics than were looked at';
    end if;
    v_ids := array(
        select l.id
          from (select n.id, n.lease_expiries from "windlass"."outbox_timer_leased_near"(p_most, v_now) n
                union all
                select d.id, d.lease_expiries
                  from "windlass"."outbox_timer_lately"(v_now) b
                 cross join lateral "windlass"."outbox_timer_due_near"(b.topic, p_most, v_now) d
                 where b.is_busy
                union all
                select m.id, m.lease_expiries
                  from (select * from unnest(v_topics, v_since) as u (topic, since)
                         where u.topic not in (select b.topic from "windlass"."outbox_timer_lately"(v_now) b where b.is_busy)) t
                 cross join unnest(array[4]) as level (priority)
                 cross join lateral (
                       select d.id, d.lease_expiries::integer
                         from "windlass"."outbox_timer" d
                        where d.status = 0 and not d.keyed -- as rows: the index of the times alone would be the wrong one
                          and (d.topic, d.priority, d.next_attempt_at) >= (t.topic, level.priority, t.since)
                          and (d.topic, d.priority, d.next_attempt_at) <= (t.topic, level.priority, v_now)
                        limit p_most) m
                union all
                (select m.id, m.lease_expiries::integer
                   from "windlass"."outbox_timer" m
                  where m.status = 3 and m.ended_at is not null
                  order by m.ended_at desc
                  limit p_most)) l
         where l.lease_expiries >= p_least
         order by l.lease_expiries desc, l.id
         limit p_most);
    return query
    select m.* from "windlass"."outbox_timer_listed" m where m.id = any (v_ids) order by m.lease_expiries desc, m.id;
end
$sql$;

-- Up to p_most messages of a topic that are due, those first that became it last.
create or replace function "windlass"."outbox_timer_due_near"(p_topic text, p_most integer, p_now timestamptz)
    returns table (id uuid, lease_expiries integer)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_timer_ready"$name$::regclass) + 5000 + 2 * p_most::bigint;
    v_left integer := p_most;
    v_rows integer;
    v_span record;
begin
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.until <= p_now loop
        exit when v_left = 0 or pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_timer_ready"$name$::regclass) > v_end;
        return query
        select f.id, f.lease_expiries::integer
          from unnest(array[4]) as level (priority)
         cross join lateral (
               select m.id, m.lease_expiries
                 from "windlass"."outbox_timer" m
                where m.status = 0 and not m.keyed and m.topic = p_topic and m.priority = level.priority
                  and m.next_attempt_at > v_span.since and m.next_attempt_at <= v_span.until
                limit v_left) f
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many messages of each topic are in which state, how many of the ready ones are due and since when, and how often messages were tried
-- again on average.
--
-- Of each topic, ready and failed ones are counted up to p_most. Those in progress, those that wait and those that are done are in no order
-- of their topics: of all topics together up to p_most are counted that are in progress, that wait, that were done last. The average is that
-- of all these but the ready ones; it is null where there are none.
create or replace function "windlass"."outbox_timer_totals"(p_most integer default 1000) returns table (
    topic           varchar,
    ready           bigint,
    waiting         bigint,
    in_progress     bigint,
    done            bigint,
    failed          bigint,
    average_retries numeric,
    due             bigint,
    oldest_due_ms   bigint,
    more_topics     boolean
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    return query
    with recursive step (topic, number) as (
        (select m.topic::varchar, 1 from "windlass"."outbox_timer" m where m.status = 3 order by m.topic limit 1)
        union all
        select (select m.topic::varchar from "windlass"."outbox_timer" m where m.status = 3 and m.topic > step.topic order by m.topic limit 1),
               step.number + 1
          from step
         where step.topic is not null and step.number <= 1000),
    looked as materialized (
        select p.* from "windlass"."outbox_timer_pending"(p_most, 1000, v_now) p),
    pending as (
        select p.topic::varchar, least(sum(p.due + p.later), p_most)::bigint as messages, least(sum(p.due), p_most)::bigint as due,
               min(p.oldest) as oldest
          from looked p
         where p.due + p.later > 0
         group by p.topic),
    seen as (
        (select l.topic, 1 as status, l.retry_count from "windlass"."outbox_timer_leased_near"(p_most, v_now) l limit p_most)
        union all
        (select m.topic::varchar, m.status::integer, m.retry_count::integer
           from "windlass"."outbox_timer" m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit p_most)
        union all
        select f.topic, f.status, f.retry_count
          from step
         cross join lateral (
               select m.topic, m.status, m.retry_count
                 from "windlass"."outbox_timer" m
                where m.status = 3 and m.topic = step.topic
                order by m.ended_at desc, m.id desc
                limit p_most) f
        union all
        select w.topic, w.status, w.retry_count from "windlass"."outbox_timer_waiting_sample"(p_most) w),
    counted as (
        select s.topic,
               count(*) filter (where s.status = 4) as waiting,
               count(*) filter (where s.status = 1) as in_progress,
               count(*) filter (where s.status = 2) as done,
               count(*) filter (where s.status = 3) as failed,
               round(avg(s.retry_count), 2) as average_retries
          from seen s
         group by s.topic)
    select coalesce(pending.topic, counted.topic), coalesce(pending.messages, 0), coalesce(counted.waiting, 0),
           coalesce(counted.in_progress, 0), coalesce(counted.done, 0), coalesce(counted.failed, 0), counted.average_retries,
           coalesce(pending.due, 0), floor(extract(epoch from v_now - pending.oldest) * 1000)::bigint,
           exists (select from looked p where p.more) or exists (select from step where step.topic is not null and step.number > 1000)
      from pending
      full join counted on counted.topic = pending.topic
     order by 1;
end
$sql$;

-- Up to p_most messages that wait for their turn: a queue whose messages do has an index of them.
create or replace function "windlass"."outbox_timer_waiting_sample"(p_most integer)
    returns table (topic varchar, status integer, retry_count integer)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
end
$sql$;

-- The leases that have not run out: how many, at most p_most, when the first and the last of them do, and for how long they have been held on
-- average.
create or replace function "windlass"."outbox_timer_leases"(
    p_most integer default 1000,
    out active          bigint,
    out earliest_expiry timestamptz,
    out latest_expiry   timestamptz,
    out average_age_ms  bigint
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_span record;
    v_end  bigint;
    v_last timestamptz;
begin
    perform "windlass".windlass_check_most(p_most);
    select count(*), min(l.locked_until), max(l.locked_until), (extract(epoch from avg(v_now - l.claimed_at)) * 1000)::bigint
      into active, earliest_expiry, latest_expiry, average_age_ms
      from "windlass"."outbox_timer_leased_near"(p_most, v_now, v_now) l;
    v_end := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_timer_leased"$name$::regclass) + 5000;
    for v_span in select s.* from "windlass".windlass_spans(v_now) s where s.until > latest_expiry
                   order by s.since desc loop
        exit when v_last is not null
            or pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_timer_leased"$name$::regclass) > v_end;
        v_last := (select m.locked_until
                     from "windlass"."outbox_timer" m
                    where m.status = 1 and m.locked_until > greatest(v_span.since, latest_expiry) and m.locked_until <= v_span.until
                    order by m.locked_until desc
                    limit 1);
    end loop;
    latest_expiry := greatest(latest_expiry, v_last);
end
$sql$;

-- A queue whose messages are claimed by topic. What its verbs have in common stands with those for messages in progress.

-- Takes up to p_limit ready and due messages, at most p_places[i] of topic p_topics[i] and about p_bytes of payload, for
-- p_lease; the first one whatever its size. Without topics, of whatever topic there is, in random order, so that a full one
-- cannot keep the others waiting. Expired messages are left to expire(); paused topics are left alone, and of limited ones only as
-- many are taken as their limits leave.
--
-- Of a topic, the priorities of p_priorities come one after the other. With p_ageing that one comes first whose oldest message has
-- waited longest, where each step of priority counts as if it had waited for so much longer.
--
-- Under an open snapshot the dead entries of claimed messages stay in the index, and every claim would step over all of
-- them. So a claimer gives, for each topic and each priority, the position (next_attempt_at, id) up to which it knows that nothing
-- is left; the arrays have those of the first topic first.
-- How it knows: let F be the number of a claim's transaction that reached position P. Whoever stamped a message at or before
-- P did so before that claim read its clock, and had its own transaction number by then, so that number is below F. Once a
-- later claim from the old bound reaches past P in a snapshot with xmin > F, all of those transactions had ended in that
-- snapshot, and the claim has seen what they committed. What a claim itself makes ready, and takes, has a later stamp than
-- it can prove: it gets the time that the claim has read before it had its number.
--
-- With p_each it takes them one by one, and leaves those that a constraint or a trigger of the user's refuses; up to a thousand
-- of each topic. If all are refused, it fails as the last one did.
create or replace function "windlass"."outbox_job_run_claim"(
    p_owner      uuid,
    p_lease      interval,
    p_limit      integer,
    p_topics     text[] default null,
    p_places     integer[] default null,
    p_after_ats  timestamptz[] default null,
    p_after_ids  uuid[] default null,
    p_bytes      bigint default null,
    p_each       boolean default false,
    p_priorities integer[] default array[4],
    p_ageing     interval default null
) returns setof "windlass"."outbox_job_run"
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now     timestamptz := clock_timestamp();
    v_proved  timestamptz := v_now;
    v_bytes   bigint := coalesce(p_bytes, 9223372036854775807);
    v_most    bigint := p_limit;
    v_topics  text[];
    v_places  integer[];
    v_allowed integer[];
    v_paused  text[];
    v_limited text[];
    v_ids     uuid[] := '{}';
    v_keyed   uuid[] := '{}';
    v_found   record;
    v_counts  jsonb := '{}';
    v_size    bigint := 0;
    v_taken   uuid[] := '{}';
    v_refused uuid;
begin
    perform "windlass".windlass_check_lease(p_lease);
    if p_topics is not null then
        perform "windlass".windlass_check_lengths(cardinality(p_topics), cardinality(p_places));
        perform "windlass".windlass_check_lengths(cardinality(p_topics) * cardinality(p_priorities), cardinality(p_after_ats),
                                                cardinality(p_after_ids));
    end if;
    v_topics := coalesce(p_topics, array(select t from (select distinct "windlass"."outbox_job_run_ready_topics"() as t) r order by random()));
    v_places := coalesce(p_places, array_fill(p_limit, array[cardinality(v_topics)]));
    select coalesce(array_agg(t.topic) filter (where t.paused_at is not null), '{}'),
           array_agg(t.topic) filter (where num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0)
      into v_paused, v_limited
      from "windlass".windlass_topic t
     where t.queue = 'outbox_job_run';
    if v_limited && v_topics then
        v_places := "windlass"."outbox_job_run_limited_places"(v_topics, v_places, v_limited);
        v_now := clock_timestamp();
    end if;
    v_allowed := v_places;
    if p_each then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
        v_most := v_most + 1000;
        v_bytes := 9223372036854775807;
        v_places := array(select least(p.places, p_limit) + 1000 from unnest(v_places) with ordinality as p (places, number) order by p.number);
    end if;
    v_ids := v_keyed || array(
        select s.id
          from (select f.id, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
                  from unnest(v_topics, v_places) with ordinality as want (topic, places, number)
                 cross join lateral (
                       select r.id, r.size
                         from (select l.priority, (want.number - 1) * cardinality(p_priorities) + l.number as place
                                 from unnest(p_priorities) with ordinality as l (priority, number)
                                order by case when p_ageing is not null then
                                              (select o.next_attempt_at
                                                 from "windlass"."outbox_job_run" o
                                                where o.status = 0 and not o.keyed and o.topic = want.topic and o.priority = l.priority
                                                  and o.next_attempt_at <= v_now
                                                  and (o.next_attempt_at, o.id)
                                                      > (coalesce(p_after_ats[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '-infinity'),
                                                         coalesce(p_after_ids[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '00000000-0000-0000-0000-000000000000'))
                                                order by o.next_attempt_at, o.id
                                                limit 1) - l.priority * p_ageing end, l.number) level
                        cross join lateral (
                              select m.id, octet_length(m.payload) as size
                                from "windlass"."outbox_job_run" m
                               where m.status = 0
                                 and not m.keyed
                                 and m.topic = want.topic
                                 and m.priority = level.priority
                                 and m.next_attempt_at <= v_now
                                 and (m.next_attempt_at, m.id)
                                     > (coalesce(p_after_ats[level.place], '-infinity'),
                                        coalesce(p_after_ids[level.place], '00000000-0000-0000-0000-000000000000'))
                                 and (m.expires_at is null or m.expires_at > v_now)
                               order by m.next_attempt_at, m.id
                               limit want.places
                                 for update skip locked) r
                        limit want.places) f
                 where want.topic <> all (v_paused)
                 limit v_most - cardinality(v_keyed)) s
         where p_each or s.before is null or s.before < v_bytes);
    if cardinality(v_ids) = 0 then
    end if;
    if p_each then
        for v_found in
            select m.id, m.topic, octet_length(m.payload) as size
              from unnest(v_ids) with ordinality as p (id, number)
              join "windlass"."outbox_job_run" m on m.id = p.id
             order by p.number
        loop
            exit when cardinality(v_taken) >= p_limit or v_size >= p_bytes;
            continue when coalesce((v_counts ->> v_found.topic)::integer, 0)
                          >= v_allowed[array_position(v_topics, v_found.topic)];
            begin
                update "windlass"."outbox_job_run" m
                   set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
                       next_attempt_at = least(m.next_attempt_at, v_proved)
                 where m.id = v_found.id;
                v_taken := v_taken || v_found.id;
                v_counts := v_counts || jsonb_build_object(v_found.topic, coalesce((v_counts ->> v_found.topic)::integer, 0) + 1);
                v_size := v_size + v_found.size;
            exception when others or assert_failure then
                v_refused := v_found.id;
            end;
        end loop;
        v_ids := case when cardinality(v_taken) = 0 and v_refused is not null then array[v_refused] else v_taken end;
    end if;
    if v_limited && v_topics then
        perform "windlass"."outbox_job_run_note_starts"(v_ids, v_limited, v_now);
    end if;
    return query
    update "windlass"."outbox_job_run" m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
           next_attempt_at = least(m.next_attempt_at, v_proved)
     where m.id = any (v_ids)
    returning m.*; -- once more for those that were taken one by one; and if all were refused, it fails in the words of who refuses
end
$sql$;

-- How many of these topics may be claimed, where they have limits. Whoever learns it holds the rows of the limits until its commit, so that
-- the next one counts what it has taken. A topic whose row somebody else holds for longer than a moment gets no place now.
create or replace function "windlass"."outbox_job_run_limited_places"(p_topics text[], p_places integer[], p_limited text[]) returns integer[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '20ms'
as $sql$
declare
    v_places integer[] := p_places;
    v_topic  text;
    v_limit  "windlass".windlass_topic;
    v_now    timestamptz;
    v_room   integer;
begin
    for v_topic in select l.topic from unnest(p_limited) as l (topic) where l.topic = any (p_topics) order by l.topic loop
        begin
            select t.* into v_limit from "windlass".windlass_topic t where t.queue = 'outbox_job_run' and t.topic = v_topic for update;
        exception
            when lock_not_available then
                v_places[array_position(p_topics, v_topic)] := 0;
                continue;
        end;
        if current_setting('transaction_isolation') <> 'read committed' then -- no new snapshot: who counts with an old one has to fail
            update "windlass".windlass_topic t set topic = t.topic where t.queue = 'outbox_job_run' and t.topic = v_topic;
        end if;
        v_now := clock_timestamp();
        v_room := v_places[array_position(p_topics, v_topic)];
        if v_limit.max_running is not null then
            v_room := least(v_room, v_limit.max_running - cardinality("windlass"."outbox_job_run_in_progress"(v_topic, v_now)));
        end if;
        if v_limit.rate is not null then
            delete from "windlass".windlass_start s
             where s.queue = 'outbox_job_run' and s.topic = v_topic and s.started_at <= v_now - v_limit.rate_period;
            v_room := least(v_room, v_limit.rate - (select coalesce(sum(s.messages), 0)
                                                      from "windlass".windlass_start s
                                                     where s.queue = 'outbox_job_run' and s.topic = v_topic));
        end if;
        v_places[array_position(p_topics, v_topic)] := greatest(v_room, 0);
    end loop;
    return v_places;
end
$sql$;

-- The messages of a topic that are in progress. Those whose lease has run out are not: their rows are locked, so that no renewal that is
-- under way can bring them back. One that cannot be locked is being renewed, or ends; it counts.
create or replace function "windlass"."outbox_job_run_in_progress"(p_topic text, p_now timestamptz) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_live    uuid[];
    v_expired uuid[];
begin
    select coalesce(array_agg(m.id) filter (where m.locked_until > p_now), '{}'), array_agg(m.id) filter (where m.locked_until <= p_now)
      into v_live, v_expired
      from "windlass"."outbox_job_run" m
     where m.status = 1 and m.locked_until > p_now - interval '10 minutes' and m.topic = p_topic; -- no renewal takes that long
    if v_expired is not null then
        v_live := v_live || array(
            select unnest(v_expired)
            except
            select unnest(array(select m.id
                                  from "windlass"."outbox_job_run" m
                                 where m.id = any (v_expired) and (m.locked_until <= p_now or m.locked_until is null)
                                   for update skip locked)));
    end if;
    return v_live;
end
$sql$;

-- Notes what begins of topics that have a rate; their limits are locked.
create or replace function "windlass"."outbox_job_run_note_starts"(p_ids uuid[], p_limited text[], p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    insert into "windlass".windlass_start (queue, topic, started_at, messages)
    select 'outbox_job_run', m.topic, p_now, count(*)
      from "windlass"."outbox_job_run" m
     where m.id = any (p_ids)
       and m.topic in (select t.topic
                         from "windlass".windlass_topic t
                        where t.queue = 'outbox_job_run' and t.topic = any (p_limited) and t.rate is not null)
     group by m.topic;
end
$sql$;

-- The topics that have ready messages, due or not: one step in the index for each.
create or replace function "windlass"."outbox_job_run_ready_topics"() returns setof text
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with recursive step (topic) as (
        (select m.topic
           from "windlass"."outbox_job_run" m
          where m.status = 0 and not m.keyed and m.topic is not null
          order by m.topic
          limit 1)
        union all
        select (select m.topic
                  from "windlass"."outbox_job_run" m
                 where m.status = 0 and not m.keyed and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
end
$sql$;

-- How many milliseconds until the next ready message of these topics is due, at most a day; zero or less when one is due
-- now, null when there is none. The bounds are those of claim.
create or replace function "windlass"."outbox_job_run_next_due"(
    p_topics     text[],
    p_after_ats  timestamptz[],
    p_after_ids  uuid[],
    p_priorities integer[] default array[4]
) returns bigint
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_due bigint;
begin
    v_due := (
        select ceil(extract(epoch from min(least(f.next_attempt_at, v_now + interval '1 day')) - v_now) * 1000)
          from unnest(p_topics) with ordinality as want (topic, number)
         cross join unnest(p_priorities) with ordinality as level (priority, number)
         cross join lateral (
               select m.next_attempt_at
                 from "windlass"."outbox_job_run" m
                where m.status = 0
                  and not m.keyed
                  and m.topic = want.topic
                  and m.priority = level.priority
                  and (m.next_attempt_at, m.id) > (p_after_ats[(want.number - 1) * cardinality(p_priorities) + level.number],
                                                   p_after_ids[(want.number - 1) * cardinality(p_priorities) + level.number])
                  and (m.expires_at is null or m.expires_at > v_now)
                order by m.next_attempt_at, m.id
                limit 1) f
         where want.topic not in (select t.topic
                                    from "windlass".windlass_topic t
                                   where t.queue = 'outbox_job_run' and t.paused_at is not null));
    return v_due;
end
$sql$;

-- What there is to do in this queue, for whoever has nothing to do and would rather not ask one question after the other. It changes
-- nothing and waits for nobody, not even for one who rewrites the table, so that one statement can ask it of all queues. Without
-- p_topics it does not look for due messages; with p_others it also names the topics besides these that have ready ones.
create or replace function "windlass"."outbox_job_run_look"(p_topics text[] default null, p_others boolean default false)
    returns "windlass".windlass_look
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '100ms'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_look "windlass".windlass_look;
begin
    if p_topics is not null then
        v_look.due_in := "windlass"."outbox_job_run_next_due"(
            p_topics, array_fill('-infinity'::timestamptz, array[cardinality(p_topics) * cardinality(array[4])]),
            array_fill('00000000-0000-0000-0000-000000000000'::uuid, array[cardinality(p_topics) * cardinality(array[4])]));
    end if;
    v_look.expires_in := (select ceil(extract(epoch from least(m.expires_at, v_now + interval '1 day') - v_now) * 1000)
                            from "windlass"."outbox_job_run" m
                           where m.status in (0, 4) and m.expires_at is not null
                           order by m.expires_at
                           limit 1);
    v_look.leased := exists (select from "windlass"."outbox_job_run" m where m.status = 1 and m.locked_until is not null);
    if p_others and p_topics is not null then
        v_look.others := array(select t.topic from "windlass"."outbox_job_run_ready_topics"() as t (topic) except select unnest(p_topics));
    end if;
    if p_topics is not null then
        v_look.due_in := (
            select ceil(extract(epoch from least(next.at, v_now + interval '1 day') - v_now) * 1000)
              from (values (least((select min(j.fires_at) from "windlass"."outbox_job" j where j.fires_at is not null),
                                  case when p_others then "windlass"."outbox_job_run_next"() end))) as next (at)
             where next.at is not null);
    end if;
    return v_look;
end
$sql$;

-- Ends messages whose expiry has passed as failed, ready ones and such that wait for their turn. Returns how many.
create or replace function "windlass"."outbox_job_run_expire"(p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[];
begin
    v_ids := array(select r.id
                     from "windlass"."outbox_job_run" r
                    where r.status in (0, 4) and r.expires_at is not null and r.expires_at <= v_now
                    order by r.expires_at
                    limit p_limit
                      for update skip locked);
    return "windlass"."outbox_job_run_maintain"('expire', v_ids);
end
$sql$;

-- Deletes what has been done or cancelled for longer than p_keep. Returns how many.
create or replace function "windlass"."outbox_job_run_clean"(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
as $sql$
begin
    return (select c.deleted from "windlass"."outbox_job_run_clean_after"(p_keep, p_limit, '-infinity') c);
end
$sql$;

-- The same for those who delete many in a row: of what is done, it looks only at what ended at p_after or later, and tells how far it has
-- come. Under an open snapshot the entries of what has been deleted stay in the index, and whoever begins at the start steps over
-- them. What was locked, or was committed very late, is left behind: begin at the start now and then.
create or replace function "windlass"."outbox_job_run_clean_after"(
    p_keep  interval,
    p_limit integer,
    p_after timestamptz,
    out deleted integer,
    out reached timestamptz
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_ids    uuid[];
begin
    deleted := "windlass"."outbox_job_run_maintain"('clean', array(
        select f.id
          from unnest(array[2, 3, 5]) as s (status)
         cross join lateral (
               select r.id
                 from "windlass"."outbox_job_run" r
                where r.status = s.status and r.ended_at < v_before
                  and not exists (select from "windlass"."outbox_job" j where j.name = r.source and j.last_run_id = r.id)
                order by r.ended_at
                limit p_limit
                  for update skip locked) f
         limit p_limit));
    return;
    select coalesce(array_agg(l.id), '{}'), max(l.ended_at)
      into v_ids, reached
      from (select r.id, r.ended_at
              from "windlass"."outbox_job_run" r
             where r.status = 2 and r.id is not null and r.ended_at >= p_after and r.ended_at < v_before
             order by r.ended_at
             limit p_limit
               for update skip locked) l;
    v_ids := v_ids || array(select r.id
                              from "windlass"."outbox_job_run" r
                             where r.status = 5 and r.id is not null and r.ended_at < v_before
                             order by r.ended_at
                             limit p_limit - cardinality(v_ids)
                               for update skip locked);
    deleted := "windlass"."outbox_job_run_maintain"('clean', v_ids);
end
$sql$;

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
create or replace function "windlass"."outbox_job_run_ack"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text default null,
    p_keep         boolean default true,
    p_notify       boolean default true,
    p_again        boolean default true
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."outbox_job_run_change_held"(case when p_keep then 'ack' else 'delete' end, p_ids, p_owners,
                                        p_processed_by => p_processed_by, p_notify => p_notify, p_again => p_again);
end
$sql$;

-- Returns messages to ready after a failed attempt, which is counted and kept in the history unless p_counted says otherwise. A
-- null delay means min(2^retry_count s, 60 s).
create or replace function "windlass"."outbox_job_run_abandon"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_delays       interval[] default null,
    p_errors       text[] default null,
    p_processed_by text default null,
    p_counted      boolean[] default null
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_delays), cardinality(p_errors), cardinality(p_counted));
    return "windlass"."outbox_job_run_change_held"('abandon', p_ids, p_owners, p_processed_by => p_processed_by, p_delays => p_delays,
                                        p_errors => p_errors, p_flags => p_counted);
end
$sql$;

-- Returns messages to ready without counting an attempt: the owner is shutting down or cannot handle them. Other nodes are
-- told.
create or replace function "windlass"."outbox_job_run_release"(
    p_ids    uuid[],
    p_owners uuid[],
    p_delay  interval default '0 s'
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."outbox_job_run_change_held"('release', p_ids, p_owners, p_delays => array[p_delay]);
end
$sql$;

-- Ends messages as failed; they are not claimed again. Under an ordering key, the others wait until it is requeued, purged or
-- passed over, unless p_block says otherwise.
create or replace function "windlass"."outbox_job_run_fail"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_errors       text[] default null,
    p_processed_by text default null,
    p_block        boolean[] default null,
    p_notify       boolean default true
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_errors), cardinality(p_block));
    return "windlass"."outbox_job_run_change_held"('fail', p_ids, p_owners, p_processed_by => p_processed_by, p_errors => p_errors,
                                        p_flags => p_block, p_notify => p_notify);
end
$sql$;

-- Renews the leases that have not run out.
create or replace function "windlass"."outbox_job_run_heartbeat"(
    p_ids    uuid[],
    p_owners uuid[],
    p_lease  interval
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lease(p_lease);
    return "windlass"."outbox_job_run_change_held"('heartbeat', p_ids, p_owners, p_delays => array[p_lease], p_leave => true);
end
$sql$;

-- Writes down that the handlers of these messages start now. If their lease runs out after that, it is held against them.
create or replace function "windlass"."outbox_job_run_start"(
    p_ids    uuid[],
    p_owners uuid[]
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."outbox_job_run_change_held"('start', p_ids, p_owners, p_leave => true);
end
$sql$;

-- Gives back all that a claim took whose answer was lost or could not be read: to ready, without counting an attempt, or, with
-- a reason why it cannot be read, as failed. Tells how many, and how many are left because somebody has them locked, or because
-- they are refused: ask for them again. None at all may mean that the claim is not committed yet.
create or replace function "windlass"."outbox_job_run_give_back"(
    p_owner uuid,
    p_error text default null,
    out given       integer,
    out left_locked integer
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_ids uuid[] := array(select m.id
                            from "windlass"."outbox_job_run" m
                           where m.status = 1 and m.locked_until > clock_timestamp() and m.owner_token = p_owner);
begin
    given := 0;
    left_locked := 0;
    if cardinality(v_ids) > 0 then
        select s.changed, cardinality(s.locked)
          into given, left_locked
          from "windlass"."outbox_job_run_change_held"(case when p_error is null then 'release' else 'fail' end, v_ids, array[p_owner],
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
create or replace function "windlass"."outbox_job_run_change_held"(
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
) returns "windlass".windlass_answer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
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
    v_answer  "windlass".windlass_answer;
begin
    if cardinality(p_ids) <> cardinality(v_owners) then
        raise exception 'expected one owner, or one for each of % messages, got %', cardinality(p_ids), cardinality(p_owners)
            using errcode = 'invalid_parameter_value', hint = 'Give the owner tokens in the order of the ids.';
    end if;
    if p_leave then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    end if;
    begin
        v_done := "windlass"."outbox_job_run_change_all"(p_verb, p_ids, p_ids, v_owners, p_processed_by, p_delays, p_errors, p_flags, p_notify,
                                          p_pass_on);
    exception
        when others or assert_failure then
            if sqlstate <> '55P03' and not p_leave then
                raise;
            end if;
            v_done := '{}';
            v_free := array(select m.id from "windlass"."outbox_job_run" m where m.id = any (p_ids) order by m.id for update skip locked);
            foreach v_awaited in array array[false, true] loop
                v_part := array(select m.id from "windlass"."outbox_job_run" m where m.id = any (v_free) and m.awaited = v_awaited);
                begin
                    v_done := v_done || "windlass"."outbox_job_run_change_all"(p_verb, v_part, p_ids, v_owners, p_processed_by, p_delays,
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
                    v_done := v_done || "windlass"."outbox_job_run_change_all"(p_verb, array[v_id], p_ids, v_owners, p_processed_by, p_delays,
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
                v_done := "windlass"."outbox_job_run_change_all"(p_verb, array[v_refused], p_ids, v_owners, p_processed_by, p_delays, p_errors,
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
                  left join "windlass"."outbox_job_run" m on m.id = c.id and m.id = any (p_ids)) e;
    else
        v_answer := (cardinality(v_done), '{}', '{}');
    end if;
    return v_answer;
end
$sql$;

-- Changes those of p_only that their owners hold; what is said of each stands in the order of p_ids. Fails if somebody holds a
-- row for longer than a moment, or, where p_patient says that the caller has locked them, than a second. Returns the ids that it changed.
create or replace function "windlass"."outbox_job_run_change_all"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
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
                update "windlass"."outbox_job_run" m
                   set status = 2, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited)
            select coalesce(array_agg(done.id), '{}'), array_agg(done.id) filter (where done.awaited)
              into v_ids, v_awaited from done;
            if v_awaited is not null then
                perform "windlass"."outbox_job_run_ended"(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
            end if;
        when 'delete' then
            v_ids := '{}';
            if p_pass_on then -- else all of them are awaited, as a rule
                with done as (
                    delete from "windlass"."outbox_job_run" m
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
                          join "windlass"."outbox_job_run" m on m.id = c.id
                         where m.id = any (p_only) and m.owner_token = c.owner_token and m.locked_until is not null
                           for update of m) l;
                if v_awaited is not null then
                    perform "windlass"."outbox_job_run_ended"(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
                    delete from "windlass"."outbox_job_run" m where m.id = any (v_awaited);
                    v_ids := v_ids || v_awaited;
                end if;
            end if;
            if v_tried is not null then
                delete from "windlass"."outbox_job_run_failure" h where h.message_id = any (v_tried);
            end if;
        when 'abandon' then
            perform pg_current_xact_id();
            with failed as (
                update "windlass"."outbox_job_run" m
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
                insert into "windlass"."outbox_job_run_failure" (message_id, failed_at, attempt, node, error)
                select failed.id, clock_timestamp(), failed.attempt, left(p_processed_by, 100), left(failed.error, 2048)
                  from failed
                 where failed.counted)
            select coalesce(array_agg(failed.id), '{}') into v_ids from failed;
        when 'release' then
            perform pg_current_xact_id();
            with released as (
                update "windlass"."outbox_job_run" m
                   set status = 0, owner_token = null, locked_until = null,
                       next_attempt_at = greatest(
                           clock_timestamp() + coalesce(p_delays[1], interval '0'),
                           case when m.next_attempt_at > m.claimed_at then m.next_attempt_at end) -- put off by a trigger of the user's
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id)
            select coalesce(array_agg(released.id), '{}') into v_ids from released;
            if cardinality(v_ids) > 0 then
                perform pg_notify('windlass.windlass.outbox_job_run', 'ready');
            end if;
        when 'fail' then
            with ended as (
                update "windlass"."outbox_job_run" m
                   set status = 3, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by,
                       last_error = coalesce(left(c.error, 2048), m.last_error)
                  from (select * from unnest(p_ids, p_owners, p_errors) as u (id, owner_token, error) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited, m.ended_at, m.retry_count, c.error),
            recorded as (
                insert into "windlass"."outbox_job_run_failure" (message_id, failed_at, attempt, node, error)
                select ended.id, ended.ended_at, ended.retry_count + 1, left(p_processed_by, 100), left(ended.error, 2048)
                  from ended)
            select coalesce(array_agg(ended.id), '{}'), array_agg(ended.id) filter (where ended.awaited)
              into v_ids, v_awaited from ended;
            if v_awaited is not null then
                perform "windlass"."outbox_job_run_ended"(
                    v_awaited, 3::smallint,
                    array(select u.id from unnest(p_ids, p_flags) as u (id, block) where u.block is not false),
                    p_pass_on, p_notify);
            end if;
        when 'heartbeat' then
            with kept as (
                update "windlass"."outbox_job_run" m
                   set locked_until = clock_timestamp() + p_delays[1]
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token
                   and m.locked_until > clock_timestamp()
                returning m.id)
            select coalesce(array_agg(kept.id), '{}') into v_ids from kept;
        when 'start' then
            with begun as (
                update "windlass"."outbox_job_run" m
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
create or replace function "windlass"."outbox_job_run_reap"(
    p_quiet   interval,
    p_limit   integer default 1000,
    p_watched boolean default false
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer;
begin
    if v_now < pg_postmaster_start_time() + p_quiet
       or p_watched and not "windlass"."outbox_job_run_is_calm"(p_quiet) then
        return 0;
    end if;
    v_count := "windlass"."outbox_job_run_maintain"('reap', array(
        select r.id
          from "windlass"."outbox_job_run" r
         where r.status = 1 and r.id is not null and r.locked_until <= v_now
         order by r.locked_until
         limit p_limit
           for update skip locked));
    if v_count > 0 then
        perform pg_notify('windlass.windlass.outbox_job_run', 'ready');
    end if;
    return v_count;
end
$sql$;

-- What has to be done to messages that the caller has locked: reap, expire or clean; see windlass_each. Returns how many.
create or replace function "windlass"."outbox_job_run_maintain"(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
as $sql$
begin
    return "windlass".windlass_each(
        'select ' || $name$"windlass"."outbox_job_run_maintain_all"$name$ || '(' || quote_literal(p_verb) || ', $1::uuid[])', p_ids::text[]);
end
$sql$;

create or replace function "windlass"."outbox_job_run_maintain_all"(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids   uuid[];
    v_count integer;
begin
    case p_verb
        when 'reap' then
            with reaped as (
                update "windlass"."outbox_job_run" m
                   set status = 0, owner_token = null, locked_until = null, lease_expiries = m.lease_expiries + 1,
                       crashes = least(m.crashes + m.started::integer, 32767), next_attempt_at = clock_timestamp()
                 where m.id = any (p_ids)
                returning m.id, m.next_attempt_at, m.retry_count),
            recorded as (
                insert into "windlass"."outbox_job_run_failure" (message_id, failed_at, attempt, error)
                select reaped.id, reaped.next_attempt_at, reaped.retry_count + 1, 'its lease ran out' from reaped)
            select coalesce(array_agg(reaped.id), '{}') into v_ids from reaped;
            v_count := cardinality(v_ids);
        when 'expire' then
            v_count := "windlass"."outbox_job_run_end_unclaimed"(p_ids, 3::smallint, 'expired before it was handled');
        when 'clean' then
            v_count := "windlass"."outbox_job_run_remove"(p_ids);
    end case;
    return v_count;
end
$sql$;

-- Deletes messages that the caller has locked, with their history. Returns how many.
create or replace function "windlass"."outbox_job_run_remove"(p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_count integer;
    v_tried uuid[];
begin
    delete from "windlass"."outbox_job_run_failure" h
     where h.message_id = any (array(
               select r.id from "windlass"."outbox_job_run" r where r.id = any (p_ids) and r.handed_off));
    with removed as (
        delete from "windlass"."outbox_job_run" m
         where m.id = any (p_ids)
        returning m.id, m.status = 3 or m.retry_count + m.lease_expiries + m.requeues > 0 as tried)
    select count(*), array_agg(removed.id) filter (where removed.tried) into v_count, v_tried from removed;
    if v_tried is not null then
        delete from "windlass"."outbox_job_run_failure" h where h.message_id = any (v_tried);
    end if;
    return v_count;
end
$sql$;

-- Does what has to be done when messages end for which something has to be done (awaited), in the same transaction. Called after
-- their rows have been changed, or locked and not deleted yet.
create or replace function "windlass"."outbox_job_run_ended"(
    p_ids      uuid[],
    p_status   smallint,
    p_blocking uuid[],
    p_pass_on  boolean,
    p_notify   boolean
) returns void
    language plpgsql
as $sql$
begin
end
$sql$;

-- Ends messages that nobody has claimed; the caller has locked them. Returns how many.
create or replace function "windlass"."outbox_job_run_end_unclaimed"(p_ids uuid[], p_status smallint, p_reason text) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_waiting uuid[] := array(select m.id from "windlass"."outbox_job_run" m where m.id = any (p_ids) and m.status + 0 = 4);
    v_count   integer;
    v_awaited uuid[];
begin
    with ended as (
        update "windlass"."outbox_job_run" m
           set status = p_status, ended_at = clock_timestamp(), last_error = coalesce(p_reason, m.last_error)
         where m.id = any (p_ids)
        returning m.id, m.awaited)
    select count(*), array_agg(ended.id) filter (where ended.awaited) into v_count, v_awaited from ended;
    if v_awaited is not null then
        perform "windlass"."outbox_job_run_ended"(array(select unnest(v_awaited) except select unnest(v_waiting)), p_status, '{}', true, true);
        perform "windlass"."outbox_job_run_ended"(array(select unnest(v_awaited) intersect select unnest(v_waiting)), p_status, '{}', false,
                                       true);
    end if;
    return v_count;
end
$sql$;

-- Whether living owners have had the time to renew: somebody has been here again and again, and the last interruption lies
-- p_quiet back. Owners renew every third of a lease; so after two thirds without anybody, leases may have run out for no fault
-- of theirs. A server that was away, or has just become the primary, was not here. A clock that was set back is an interruption,
-- too; what was noted by the clock before does not count.
create or replace function "windlass"."outbox_job_run_is_calm"(p_quiet interval) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_watch "windlass".windlass_watch;
begin
    select w.* into v_watch from "windlass".windlass_watch w where w.queue = 'outbox_job_run';
    if v_watch.seen_at between v_now - p_quiet / 10 and v_now + p_quiet then
        return v_watch.quiet_until <= v_now;
    end if;
    perform 1 from "windlass".windlass_watch w where w.queue = 'outbox_job_run' for update skip locked;
    if found then -- else whoever has it locked is here, too
        update "windlass".windlass_watch w
           set seen_at = v_now,
               quiet_until = case when w.seen_at between v_now - p_quiet * 2 / 3 and v_now + p_quiet then w.quiet_until
                                  else v_now + p_quiet end
         where w.queue = 'outbox_job_run'
        returning w.* into v_watch;
    end if;
    return v_watch.quiet_until <= v_now;
end
$sql$;

-- Locks those of the ids that are in one of these states. Whoever has one locked is waited for, in the order of the ids and with none
-- locked that is not in these states, so that two who want the same cannot deadlock; and a message that has left them meanwhile is
-- not kept locked, as PostgreSQL would: its owner could not renew it.
create or replace function "windlass"."outbox_job_run_lock"(p_ids uuid[], p_states integer[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
    v_id  uuid;
begin
    begin
        v_ids := array(select m.id
                         from "windlass"."outbox_job_run" m
                        where m.id = any (p_ids) and m.status + 0 = any (p_states)
                        order by m.id
                          for update skip locked);
        if not exists (select
                         from "windlass"."outbox_job_run" m
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
                select m.id from "windlass"."outbox_job_run" m where m.id = any (p_ids) and m.status + 0 = any (p_states) order by m.id
            loop
                perform 1 from "windlass"."outbox_job_run" m where m.id = v_id and m.status + 0 = any (p_states) for update;
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

insert into "windlass".windlass_watch (queue, seen_at, quiet_until)
values ('outbox_job_run', clock_timestamp(), '-infinity')
on conflict do nothing;

-- What programs and operators do to messages of a queue that nobody is handling. What an operator does is recorded in the same
-- transaction: who, when, what, and to how many messages.

-- One message, in whatever state.
create or replace function "windlass"."outbox_job_run_find"(p_id uuid) returns setof "windlass"."outbox_job_run"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query select m.* from "windlass"."outbox_job_run" m where m.id = p_id;
end
$sql$;

-- The attempts of a message that failed, the oldest first.
create or replace function "windlass"."outbox_job_run_failures"(p_id uuid) returns setof "windlass"."outbox_job_run_failure"
    language plpgsql
    stable
as $sql$
begin
    return query select h.* from "windlass"."outbox_job_run_failure" h where h.message_id = p_id order by h.failed_at;
end
$sql$;

-- Ends messages that nobody has claimed as cancelled; they are gone at once unless p_keep says otherwise. Returns how many;
-- others, claimed or ended, stay as they are.
create or replace function "windlass"."outbox_job_run_cancel"(p_ids uuid[], p_keep boolean default true) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."outbox_job_run_lock"(p_ids, array[0, 4]);
    if p_keep or exists (select from "windlass"."outbox_job_run" m where m.id = any (v_ids) and m.awaited) then
        perform "windlass"."outbox_job_run_end_unclaimed"(v_ids, 5::smallint, null);
    end if;
    if not p_keep and "windlass"."outbox_job_run_remove"(v_ids) < cardinality(v_ids) then -- what cannot be deleted now is cancelled all the same
        perform "windlass"."outbox_job_run_end_unclaimed"(
            array(select m.id from "windlass"."outbox_job_run" m where m.id = any (v_ids) and m.status + 0 in (0, 4)), 5::smallint, null);
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Moves the due time of messages that nobody has claimed: to p_due_at, or p_delay from now, or now. Returns how many.
create or replace function "windlass"."outbox_job_run_reschedule"(
    p_ids    uuid[],
    p_due_at timestamptz default null,
    p_delay  interval default null,
    p_notify boolean default true
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
    v_now timestamptz;
    v_due timestamptz;
begin
    perform "windlass".windlass_check_ids(p_ids);
    perform "windlass".windlass_check_times(p_due_at, p_delay);
    v_ids := "windlass"."outbox_job_run_lock"(p_ids, array[0, 4]);
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    v_due := coalesce(p_due_at, v_now + p_delay, v_now);
    update "windlass"."outbox_job_run" m
       set due_at = v_due, next_attempt_at = greatest(v_now, v_due)
     where m.id = any (v_ids);
    if p_notify and cardinality(v_ids) > 0 then
        perform pg_notify('windlass.windlass.outbox_job_run', 'ready');
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
create or replace function "windlass"."outbox_job_run_list"(
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
) returns setof "windlass"."outbox_job_run_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
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
        select m.*
          from "windlass"."outbox_job_run_listed" m
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
          from unnest(case when p_topic is null then array(select distinct "windlass"."outbox_job_run_ready_topics"()) else array[p_topic] end) t (topic)
         cross join unnest(array[4]) level (priority)
         cross join lateral (
               select m.*
                 from "windlass"."outbox_job_run_listed" m
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
          from "windlass"."outbox_job_run_listed" m
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
          from "windlass"."outbox_job_run_listed" m
         where m.status = 3 and m.topic = p_topic
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    else
        return query
        select m.*
          from "windlass"."outbox_job_run_listed" m
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
create or replace function "windlass"."outbox_job_run_pick_failed"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := "windlass".windlass_action_until(p_action, p_until);
    v_ids   uuid[];
begin
    perform "windlass".windlass_check_choice(p_by, p_ids, coalesce(p_topic, p_source, p_from::text, p_until::text, p_error) is not null,
                                           p_limit, p_all);
    if p_ids is not null then
        v_ids := "windlass"."outbox_job_run_lock"(p_ids, array[3]);
        return array(select m.id from "windlass"."outbox_job_run" m where m.id = any (v_ids) and (m.erased_at is null or not p_whole));
    elsif p_topic is not null then
        return array(select m.id
                       from "windlass"."outbox_job_run" m
                      where m.status = 3 and m.topic = p_topic and m.ended_at >= v_from and m.ended_at < v_until
                        and (p_source is null or m.source = p_source)
                        and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                        and (m.erased_at is null or not p_whole)
                      order by m.ended_at, m.id
                      limit p_limit
                        for update skip locked);
    end if;
    return array(select m.id
                   from "windlass"."outbox_job_run" m
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
create or replace function "windlass"."outbox_job_run_requeue"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now     timestamptz;
    v_ids     uuid[];
    v_waiting uuid[] := '{}';
begin
    v_ids := "windlass"."outbox_job_run_pick_failed"(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, true);
    messages := cardinality(v_ids);
    reached := (select max(m.ended_at) from "windlass"."outbox_job_run" m where m.id = any (v_ids));
    perform pg_current_xact_id();
    declare
        v_handed uuid[] := array(select r.id from "windlass"."outbox_job_run" r where r.id = any (v_ids) and r.handed_off);
    begin
        if cardinality(v_handed) > 0 then
            v_ids := array(select unnest(v_ids) except select unnest(v_handed));
            -- One whose message somebody has locked is left: whoever has it may be waiting for the run, since messages are locked before runs.
            v_handed := array(select m.id from "windlass"."outbox" m where m.id = any (v_handed) order by m.id for update skip locked);
            messages := cardinality(v_ids)
                + (select q.messages from "windlass"."outbox_requeue"(p_by, v_handed, p_reset => p_reset) q);
        end if;
    end;
    v_now := clock_timestamp();
    update "windlass"."outbox_job_run" m
       set status = case when m.id = any (v_waiting) then 4 else 0 end, owner_token = null,
           next_attempt_at = greatest(v_now, m.due_at), ended_at = null, processed_by = null, lease_expiries = 0, crashes = 0,
           retry_count = case when p_reset then 0 else m.retry_count end,
           requeues = least(m.requeues + 1, 32767),
           expires_at = case when m.expires_at > v_now then m.expires_at end
     where m.id = any (v_ids);
    if messages > 0 then
        perform pg_notify('windlass.windlass.outbox_job_run', 'ready');
    end if;
    action := "windlass".windlass_record('outbox_job_run', p_action, p_by, 'requeue', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error,
                                     'reset', p_reset));
    return next;
end
$sql$;

-- Deletes failed messages and their history. Otherwise as requeue.
create or replace function "windlass"."outbox_job_run_purge"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    v_ids := "windlass"."outbox_job_run_pick_failed"(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, false);
    reached := (select max(m.ended_at) from "windlass"."outbox_job_run" m where m.id = any (v_ids));
    messages := "windlass"."outbox_job_run_remove"(v_ids);
    action := "windlass".windlass_record('outbox_job_run', p_action, p_by, 'purge', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error));
    return next;
end
$sql$;

-- Removes payload and headers of messages that have ended; everything else stays. Returns how many.
create or replace function "windlass"."outbox_job_run_erase"(p_by text, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    perform "windlass".windlass_check_by(p_by);
    perform "windlass".windlass_check_ids(p_ids);
    if exists (select from "windlass"."outbox_job_run" r where r.id = any (p_ids) and r.handed_off) then
        perform "windlass"."outbox_erase"(p_by, array(
            select r.id from "windlass"."outbox_job_run" r where r.id = any (p_ids) and r.handed_off));
    end if;
    v_ids := "windlass"."outbox_job_run_lock"(p_ids, array[2, 3, 5]);
    v_ids := array(select m.id from "windlass"."outbox_job_run" m where m.id = any (v_ids) and m.erased_at is null);
    update "windlass"."outbox_job_run" m set payload = '', headers = null, erased_at = clock_timestamp() where m.id = any (v_ids);
    perform "windlass".windlass_record('outbox_job_run', null, p_by, 'erase', cardinality(v_ids), p_ids, '{}');
    return cardinality(v_ids);
end
$sql$;

-- Stops claims of a topic, everywhere; handlers that are at work finish. Returns whether it was not paused before.
create or replace function "windlass"."outbox_job_run_pause_topic"(p_by text, p_topic text, p_reason text default null) returns boolean
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    if p_topic is null or btrim(p_topic) = '' then
        perform "windlass".windlass_refuse('a topic', case when p_topic is null then 'null' else 'blank text' end,
                                         'Topics are paused one by one.');
    end if;
    insert into "windlass".windlass_topic as t (queue, topic, paused_at, paused_by, reason)
    values ('outbox_job_run', p_topic, clock_timestamp(), p_by, nullif(left(p_reason, 2048), ''))
    on conflict (queue, topic) do update
       set paused_at = excluded.paused_at, paused_by = excluded.paused_by, reason = excluded.reason
     where t.paused_at is null;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('outbox_job_run', null, p_by, 'pause', 0, null, jsonb_build_object('topic', p_topic, 'reason', p_reason));
    perform pg_notify('windlass.windlass.outbox_job_run', 'topics');
    return true;
end
$sql$;

-- Lets a topic be claimed again. Returns whether it was paused.
create or replace function "windlass"."outbox_job_run_resume_topic"(p_by text, p_topic text) returns boolean
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    delete from "windlass".windlass_topic t
     where t.queue = 'outbox_job_run' and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) = 0;
    if not found then
        update "windlass".windlass_topic t
           set paused_at = null, paused_by = null, reason = null
         where t.queue = 'outbox_job_run' and t.topic = p_topic and t.paused_at is not null;
    end if;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('outbox_job_run', null, p_by, 'resume', 0, null, jsonb_build_object('topic', p_topic));
    perform pg_notify('windlass.windlass.outbox_job_run', 'topics');
    return true;
end
$sql$;

-- Limits a topic over all nodes: how many are in progress at once, how many of each key, and how many begin within any time of this
-- length. What is left out is not limited. Whatever is in progress goes on. Returns whether that is a change.
create or replace function "windlass"."outbox_job_run_limit_topic"(
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
    perform "windlass".windlass_check_by(p_by);
    perform "windlass".windlass_check_limit(p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period);
    if p_max_per_key is not null and not false then
        perform "windlass".windlass_refuse('a limit without p_max_per_key, since messages of ' || 'outbox_job_run' || ' have no keys',
                                         p_max_per_key::text, 'Leave p_max_per_key out.');
    end if;
    if num_nonnulls(p_max_running, p_max_per_key, p_rate) > 0 then
        insert into "windlass".windlass_topic as t (queue, topic, max_running, max_per_key, rate, rate_period)
        values ('outbox_job_run', p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period)
        on conflict (queue, topic) do update
           set max_running = excluded.max_running, max_per_key = excluded.max_per_key, rate = excluded.rate,
               rate_period = excluded.rate_period
         where (t.max_running, t.max_per_key, t.rate, t.rate_period)
               is distinct from (excluded.max_running, excluded.max_per_key, excluded.rate, excluded.rate_period);
    else
        delete from "windlass".windlass_topic t where t.queue = 'outbox_job_run' and t.topic = p_topic and t.paused_at is null;
        if not found then
            update "windlass".windlass_topic t
               set max_running = null, max_per_key = null, rate = null, rate_period = null
             where t.queue = 'outbox_job_run' and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0;
        end if;
    end if;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('outbox_job_run', null, p_by, 'limit', 0, null,
                jsonb_build_object('topic', p_topic, 'running', p_max_running, 'perKey', p_max_per_key, 'rate', p_rate,
                                   'period', p_rate_period));
    perform pg_notify('windlass.windlass.outbox_job_run', 'topics');
    return true;
end
$sql$;

-- The topics that are paused or limited.
create or replace function "windlass"."outbox_job_run_decided_topics"() returns table (
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
      from "windlass".windlass_topic t
     where t.queue = 'outbox_job_run'
     order by t.topic;
end
$sql$;

-- What operators did, the latest first. The next page begins before the last one's number.
create or replace function "windlass"."outbox_job_run_actions"(p_limit integer, p_before bigint default null)
    returns setof "windlass".windlass_action
    language plpgsql
    stable
as $sql$
begin
    return query
    select a.*
      from "windlass".windlass_action a
     where a.queue = 'outbox_job_run' and (p_before is null or a.id < p_before)
     order by a.id desc
     limit p_limit;
end
$sql$;

-- What can be seen of a queue from outside, by whoever may read it. Nothing is claimed, locked or changed here. Each number is counted along
-- an index and up to a limit, so that it costs on a table of ten million messages what it costs on a small one.

-- How much there is of each state. No count goes beyond p_most, which then means that many or more.
--
--   ready            due now, paused or not           overdue         of these, due for more than five minutes
--   delayed          ready, and due later             oldest_ready_ms since when the oldest of these has been due
--   in_progress      leased, whether or not in time   stuck           of these, see windlass_is_stuck
--
-- With tens of thousands of topics, or with as many dead entries, not everything is looked at. Then "more_topics" is true, and there may be more
-- of what is ready, overdue and delayed, and an older one.
--
-- While a snapshot is open anywhere, the entries of what was claimed and ended stay in the indexes, and whoever begins at the oldest
-- steps over all of them. So everything here looks near to now first, in spans that grow, and ends when it has met some thousand entries
-- more than it has found: what is further away is not found then, until the snapshot is closed.
create or replace function "windlass"."outbox_job_run_measure"(
    p_most integer,
    out ready           bigint,
    out delayed         bigint,
    out waiting         bigint,
    out in_progress     bigint,
    out failed          bigint,
    out overdue         bigint,
    out stuck           bigint,
    out oldest_ready_ms bigint,
    out more_topics     boolean
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    select least(coalesce(sum(p.due), 0), p_most), least(coalesce(sum(p.overdue), 0), p_most), least(coalesce(sum(p.later), 0), p_most),
           floor(extract(epoch from v_now - min(p.oldest)) * 1000), coalesce(bool_or(p.more), false)
      into ready, overdue, delayed, oldest_ready_ms, more_topics
      from "windlass"."outbox_job_run_pending"(p_most, null, v_now) p;
    select least(count(*), p_most),
           least(count(*) filter (where "windlass".windlass_is_stuck(v_now, l.claimed_at, l.locked_until, null)), p_most)
      into in_progress, stuck
      from "windlass"."outbox_job_run_leased_near"(p_most, v_now) l;
    failed := (select count(*)
                 from (select from "windlass"."outbox_job_run" m where m.status = 3 and m.ended_at is not null limit p_most) c);
    waiting := 0;
end
$sql$;

-- Messages in progress whose lease ends after p_since and up to p_until, those first whose lease ends or has ended near to p_now: up to p_most
-- whose lease goes on, and of others up to p_most of each span, so that many that have just run out hide none that did so long ago.
create or replace function "windlass"."outbox_job_run_leased_near"(
    p_most  integer,
    p_now   timestamptz,
    p_since timestamptz default '-infinity',
    p_until timestamptz default 'infinity'
)
    returns table (id uuid, topic varchar, retry_count integer, lease_expiries integer, claimed_at timestamptz, locked_until timestamptz)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_span record;
    v_end  bigint;
    v_left integer;
    v_rows integer;
begin
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.since >= p_since and s.until <= p_until loop
        if v_end is null or v_span.until = p_now then -- so much for what is to come, and for what is past
            v_end := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_job_run_leased"$name$::regclass) + 5000 + 2 * p_most::bigint;
        end if;
        if v_left is null or v_span.until <= p_now then
            v_left := p_most;
        end if;
        continue when v_left = 0
            or pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_job_run_leased"$name$::regclass) > v_end;
        return query
        select m.id, m.topic::varchar, m.retry_count::integer, m.lease_expiries::integer, m.claimed_at::timestamptz,
               m.locked_until::timestamptz
          from "windlass"."outbox_job_run" m
         where m.status = 1 and m.locked_until > v_span.since and m.locked_until <= v_span.until
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many ready messages there are: due, of these due for more than five minutes, due later; and since when the oldest is due. With p_topics a
-- row for each of so many topics, with up to p_most of each; else some rows for all topics, with about p_most in all. A last row says
-- with "more" that topics were left out: there are more, or a look at them would cost too much.
--
-- Topics that are much worked on have entries in the index of which nothing is left; they are counted near to now first, see due. The others
-- are taken as they come in the index, many at once: ten thousand topics of one message cost what one of ten thousand does. Where one
-- has many, it is counted alone and stepped over. What lies between topics that were lately worked on comes first: it has few entries
-- of which nothing is left. If the look ends before it has seen all, some of the rest are looked at one by one, see pending_rest.
create or replace function "windlass"."outbox_job_run_pending"(p_most integer, p_topics integer, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, more boolean)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_entries bigint  := coalesce(200 * p_topics::bigint, 20000 + p_most::bigint);
    v_topics  integer := coalesce(p_topics, 2147483647);
    v_busy    text[]  := array(select l.topic from "windlass"."outbox_job_run_lately"(p_now) l where l.is_busy);
    v_sums    bigint[] := array[0, 0, 0];
    v_from    text    := '';
    v_cut     text;
    v_size    integer;
    v_small   bigint;
    v_met     bigint;
    v_gap     record;
begin
    more := false;
    for topic, due, overdue, later, oldest in
        select case when p_topics is not null then b.topics[1] end, d.*
          from (select v_busy as topics where p_topics is null
                union all
                select array[u.topic] from unnest(v_busy) as u (topic) where p_topics is not null) b
         cross join lateral "windlass"."outbox_job_run_pending_busy"(b.topics, p_most, p_now) d loop
        v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
        v_topics := v_topics - 1;
        return next;
    end loop;
    for v_gap in select g.* from "windlass"."outbox_job_run_pending_gaps"(p_now) g loop
        v_from := v_gap.since;
        v_size := 100;
        loop
            if v_entries <= 0 or v_topics <= 0 then
                select null, 0, 0, 0, null, true into topic, due, overdue, later, oldest, more;
                if p_topics is null then
                    select r.due, r.overdue, r.later, r.oldest into due, overdue, later, oldest
                      from "windlass"."outbox_job_run_pending_rest"(v_gap.turn, v_from, p_now) r;
                end if;
                return next;
                return;
            end if;
            v_met := "windlass"."outbox_job_run_pending_met"();
            v_small := 0;
            for topic, due, overdue, later, oldest, v_cut in
                select p.* from "windlass"."outbox_job_run_pending_part"(v_from, v_gap.until, v_size, p_topics is not null, p_now) p loop
                if due + later > 0 then
                    v_small := v_small + due + later;
                    v_topics := v_topics - 1;
                    return next;
                end if;
            end loop;
            v_entries := v_entries + v_met - "windlass"."outbox_job_run_pending_met"();
            exit when v_cut is null;
            select d.* into due, overdue, later, oldest
              from "windlass"."outbox_job_run_pending_of"(v_cut, p_most, case when p_topics is null then v_sums else '{0,0,0}' end, p_now) d;
            topic := case when p_topics is not null then v_cut end;
            v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
            v_topics := v_topics - 1;
            return next;
            v_from := v_cut || E'\x01'; -- comes next
            v_size := case when v_small >= v_size / 2 then least(2 * v_size, 10000, greatest(v_topics, 100)) else 100 end;
        end loop;
    end loop;
end
$sql$;

-- The pieces in which the topics are taken that are not much worked on: from which one on, and before which one. First what lies between those
-- that were lately worked on, then these.
create or replace function "windlass"."outbox_job_run_pending_gaps"(p_now timestamptz) returns table (since text, until text, turn integer)
    language plpgsql
    stable
as $sql$
begin
    return query
    with lately as materialized (
        select l.topic collate "C" as topic, l.is_busy from "windlass"."outbox_job_run_lately"(p_now) l),
    gap as (
        select '' as since, coalesce(min(l.topic), repeat(E'\U0010ffff', 256)) as until, 1 as turn -- comes after every topic
          from lately l
         union all
        select l.topic || E'\x01', lead(l.topic, 1, repeat(E'\U0010ffff', 256)) over (order by l.topic), 1 from lately l
         union all
        select l.topic, l.topic || E'\x01', 2 from lately l where not l.is_busy)
    select g.since, g.until, g.turn from gap g order by g.turn, g.since collate "C";
end
$sql$;

-- What there is of those topics that pending has not come to, in this turn from topic p_from on: at least so much. A thousand messages are counted of
-- each of those that the statistics of the table name, the most frequent first, then of those that were lately worked on, each near to
-- now first; until 20,000 entries were met.
create or replace function "windlass"."outbox_job_run_pending_rest"(
    p_turn integer,
    p_from text,
    p_now  timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end   bigint := "windlass"."outbox_job_run_pending_met"() + 20000;
    v_topic text;
    v_found record;
begin
    due := 0;
    overdue := 0;
    later := 0;
    for v_topic in
        with lately as materialized (
            select l.topic, l.is_busy from "windlass"."outbox_job_run_lately"(p_now) l)
        select r.topic
          from (select k.topic, 1 as turn, k.place
                  from pg_class c
                  join pg_namespace n on n.oid = c.relnamespace
                  join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'topic'
                 cross join unnest(s.most_common_vals::text::text[] || s.histogram_bounds::text::text[])
                            with ordinality as k (topic, place)
                 where c.oid = $name$"windlass"."outbox_job_run"$name$::regclass
                   and k.topic not in (select l.topic from lately l)
                 union all
                select l.topic, 2, 0 from lately l where not l.is_busy) r
         where r.turn > p_turn or (r.turn = p_turn and r.topic collate "C" >= p_from)
         order by r.turn, r.place, r.topic collate "C" loop
        exit when "windlass"."outbox_job_run_pending_met"() >= v_end;
        select d.* into v_found from "windlass"."outbox_job_run_pending_busy"(array[v_topic], 1000, p_now) d;
        due := due + v_found.due;
        overdue := overdue + v_found.overdue;
        later := later + v_found.later;
        oldest := least(oldest, v_found.oldest);
    end loop;
end
$sql$;

-- Topics that were lately worked on, in their order, and which of them are those that it was most often.
create or replace function "windlass"."outbox_job_run_lately"(p_now timestamptz) returns table (topic text, is_busy boolean)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query
    select w.topic::text, row_number() over (order by count(*) desc, w.topic) <= 20
      from ((select m.topic from "windlass"."outbox_job_run" m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit 60)
            union all
            (select m.topic from "windlass"."outbox_job_run" m where m.status = 3 and m.ended_at is not null order by m.ended_at desc limit 20)
            union all
            (select l.topic from "windlass"."outbox_job_run_leased_near"(20, p_now) l limit 20)) w
     group by w.topic
     order by w.topic collate "C";
end
$sql$;

-- How many entries this transaction has met in the indexes of ready messages, with those of which nothing is left.
create or replace function "windlass"."outbox_job_run_pending_met"() returns bigint
    language plpgsql
    stable
as $sql$
declare
    v_met bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_job_run_ready"$name$::regclass);
begin
    return v_met;
end
$sql$;

-- The p_size ready messages from topic p_from on and before p_until that come first in the index, as in pending. Those of the last of these topics
-- are left out if there may be more: it is the "cut", of which every row tells. A row may be of no message. With p_each a row for each topic.
create or replace function "windlass"."outbox_job_run_pending_part"(p_from text, p_until text, p_size integer, p_each boolean, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, cut text)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with part as materialized (
        select m.topic, m.next_attempt_at
          from "windlass"."outbox_job_run" m
         where m.status = 0 and not m.keyed and m.topic >= p_from and m.topic < p_until
         order by m.topic, m.priority, m.next_attempt_at, m.id
         limit p_size)
    select case when p_each then m.topic::text end,
           count(*) filter (where m.next_attempt_at <= p_now),
           count(*) filter (where m.next_attempt_at <= p_now - interval '5 minutes'),
           count(*) filter (where m.next_attempt_at > p_now),
           min(m.next_attempt_at) filter (where m.next_attempt_at <= p_now),
           c.topic::text
      from (select case when count(*) = p_size then max(p.topic) end as topic from part p) c
      left join part m on m.topic < c.topic or c.topic is null
     group by 1, 6;
end
$sql$;

-- Ready messages of one topic, as in pending, up to p_most of each with those that were counted already.
create or replace function "windlass"."outbox_job_run_pending_of"(
    p_topic   text,
    p_most    integer,
    p_counted bigint[],
    p_now     timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_since timestamptz := p_now - interval '5 minutes';
    v_young timestamptz;
begin
    select d.messages, d.oldest into overdue, oldest
      from "windlass"."outbox_job_run_due_between"(array[p_topic], '-infinity', v_since, greatest(p_most - p_counted[2], 0)::integer) d;
    select d.messages + overdue, d.oldest into due, v_young
      from "windlass"."outbox_job_run_due_between"(array[p_topic], v_since, p_now, greatest(p_most - p_counted[1] - overdue, 0)::integer) d;
    oldest := least(oldest, v_young);
    later := (select d.messages
                from "windlass"."outbox_job_run_due_between"(array[p_topic], p_now, 'infinity', greatest(p_most - p_counted[3], 0)::integer) d);
end
$sql$;

-- The same of topics together that are much worked on.
create or replace function "windlass"."outbox_job_run_pending_busy"(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
as $sql$
begin
    select d.ready, d.overdue, d.oldest into due, overdue, oldest from "windlass"."outbox_job_run_due"(p_topics, p_most, p_now) d;
    later := (select d.messages from "windlass"."outbox_job_run_due_between"(p_topics, p_now, 'infinity', p_most) d);
end
$sql$;

-- How many ready messages of these topics are due, and how many for more than five minutes, at most p_most; and since when the oldest is.
create or replace function "windlass"."outbox_job_run_due"(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz default clock_timestamp(),
    out ready   bigint,
    out overdue bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_job_run_ready"$name$::regclass) + 5000 + 2 * p_most::bigint
                     + 12 * cardinality(p_topics) * cardinality(array[4]);
    v_old  boolean;
    v_span record;
    v_due  record;
begin
    ready := 0;
    overdue := 0;
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.until <= p_now loop
        v_old := v_span.until <= p_now - interval '5 minutes';
        select d.* into v_due
          from "windlass"."outbox_job_run_due_between"(p_topics, v_span.since, v_span.until,
                                            p_most - case when v_old then overdue else ready end::integer) d;
        ready := least(ready + v_due.messages, p_most);
        overdue := overdue + case when v_old then v_due.messages else 0 end;
        oldest := least(oldest, v_due.oldest);
        exit when pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_job_run_ready"$name$::regclass) > v_end;
    end loop;
end
$sql$;

-- How many ready messages of these topics became or become due after p_since and up to p_until, at most p_most, which may be none, and when
-- the first of them does.
create or replace function "windlass"."outbox_job_run_due_between"(
    p_topics text[],
    p_since  timestamptz,
    p_until  timestamptz,
    p_most   integer,
    out messages bigint,
    out oldest   timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    messages := (select count(*)
                   from (select
                           from unnest(p_topics) as t (topic)
                          cross join unnest(array[4]) as level (priority)
                          cross join lateral (
                                select
                                  from "windlass"."outbox_job_run" m
                                 where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                                   and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                                 limit p_most) f
                          limit p_most) c);
    if messages > 0 or p_most = 0 then -- else the same entries would be gone over again, to find nothing
        oldest := (select min(f.next_attempt_at)
                     from unnest(p_topics) as t (topic)
                    cross join unnest(array[4]) as level (priority)
                    cross join lateral (
                          select m.next_attempt_at
                            from "windlass"."outbox_job_run" m
                           where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                             and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                           order by m.next_attempt_at, m.id
                           limit 1) f);
    end if;
end
$sql$;

-- Messages in progress that nobody seems to look after, the oldest first, without their content: see windlass_is_stuck. With p_older
-- also those whose lease has just run out, and those whose attempt began that long ago.
create or replace function "windlass"."outbox_job_run_stuck"(p_limit integer default 1000, p_older interval default null)
    returns setof "windlass"."outbox_job_run_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[] := array(select l.id
                            from "windlass"."outbox_job_run_leased_near"(p_limit, v_now, '-infinity',
                                                              case when p_older is null then v_now else 'infinity' end) l
                           where "windlass".windlass_is_stuck(v_now, l.claimed_at, l.locked_until, p_older)
                           order by l.claimed_at, l.id
                           limit p_limit);
begin
    return query
    select m.* from "windlass"."outbox_job_run_listed" m where m.id = any (v_ids) order by m.claimed_at, m.id;
end
$sql$;

-- Messages whose leases have run out p_least times or more, the most often first: among p_most in progress, p_most of each topic that are due,
-- but for those with keys, and the p_most that failed last. With more than a thousand topics, those that are due are looked at in some only,
-- and a notice says so.
create or replace function "windlass"."outbox_job_run_lapsed"(p_least integer default 2, p_most integer default 1000)
    returns setof "windlass"."outbox_job_run_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[];
    v_since  timestamptz[];
    v_more   boolean;
    v_ids    uuid[];
begin
    perform "windlass".windlass_check_most(p_most);
    select coalesce(array_agg(p.topic) filter (where p.oldest is not null), '{}'),
           coalesce(array_agg(p.oldest) filter (where p.oldest is not null), '{}'), bool_or(p.more)
      into v_topics, v_since, v_more
      from "windlass"."outbox_job_run_pending"(1, 1000, v_now) p;
    if v_more then
        raise notice 'there are more topics than were looked at';
    end if;
    v_ids := array(
        select l.id
          from (select n.id, n.lease_expiries from "windlass"."outbox_job_run_leased_near"(p_most, v_now) n
                union all
                select d.id, d.lease_expiries
                  from "windlass"."outbox_job_run_lately"(v_now) b
                 cross join lateral "windlass"."outbox_job_run_due_near"(b.topic, p_most, v_now) d
                 where b.is_busy
                union all
                select m.id, m.lease_expiries
                  from (select * from unnest(v_topics, v_since) as u (topic, since)
                         where u.topic not in (select b.topic from "windlass"."outbox_job_run_lately"(v_now) b where b.is_busy)) t
                 cross join unnest(array[4]) as level (priority)
                 cross join lateral (
                       select d.id, d.lease_expiries::integer
                         from "windlass"."outbox_job_run" d
                        where d.status = 0 and not d.keyed -- as rows: the index of the times alone would be the wrong one
                          and (d.topic, d.priority, d.next_attempt_at) >= (t.topic, level.priority, t.since)
                          and (d.topic, d.priority, d.next_attempt_at) <= (t.topic, level.priority, v_now)
                        limit p_most) m
                union all
                (select m.id, m.lease_expiries::integer
                   from "windlass"."outbox_job_run" m
                  where m.status = 3 and m.ended_at is not null
                  order by m.ended_at desc
                  limit p_most)) l
         where l.lease_expiries >= p_least
         order by l.lease_expiries desc, l.id
         limit p_most);
    return query
    select m.* from "windlass"."outbox_job_run_listed" m where m.id = any (v_ids) order by m.lease_expiries desc, m.id;
end
$sql$;

-- Up to p_most messages of a topic that are due, those first that became it last.
create or replace function "windlass"."outbox_job_run_due_near"(p_topic text, p_most integer, p_now timestamptz)
    returns table (id uuid, lease_expiries integer)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_job_run_ready"$name$::regclass) + 5000 + 2 * p_most::bigint;
    v_left integer := p_most;
    v_rows integer;
    v_span record;
begin
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.until <= p_now loop
        exit when v_left = 0 or pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_job_run_ready"$name$::regclass) > v_end;
        return query
        select f.id, f.lease_expiries::integer
          from unnest(array[4]) as level (priority)
         cross join lateral (
               select m.id, m.lease_expiries
                 from "windlass"."outbox_job_run" m
                where m.status = 0 and not m.keyed and m.topic = p_topic and m.priority = level.priority
                  and m.next_attempt_at > v_span.since and m.next_attempt_at <= v_span.until
                limit v_left) f
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many messages of each topic are in which state, how many of the ready ones are due and since when, and how often messages were tried
-- again on average.
--
-- Of each topic, ready and failed ones are counted up to p_most. Those in progress, those that wait and those that are done are in no order
-- of their topics: of all topics together up to p_most are counted that are in progress, that wait, that were done last. The average is that
-- of all these but the ready ones; it is null where there are none.
create or replace function "windlass"."outbox_job_run_totals"(p_most integer default 1000) returns table (
    topic           varchar,
    ready           bigint,
    waiting         bigint,
    in_progress     bigint,
    done            bigint,
    failed          bigint,
    average_retries numeric,
    due             bigint,
    oldest_due_ms   bigint,
    more_topics     boolean
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    return query
    with recursive step (topic, number) as (
        (select m.topic::varchar, 1 from "windlass"."outbox_job_run" m where m.status = 3 order by m.topic limit 1)
        union all
        select (select m.topic::varchar from "windlass"."outbox_job_run" m where m.status = 3 and m.topic > step.topic order by m.topic limit 1),
               step.number + 1
          from step
         where step.topic is not null and step.number <= 1000),
    looked as materialized (
        select p.* from "windlass"."outbox_job_run_pending"(p_most, 1000, v_now) p),
    pending as (
        select p.topic::varchar, least(sum(p.due + p.later), p_most)::bigint as messages, least(sum(p.due), p_most)::bigint as due,
               min(p.oldest) as oldest
          from looked p
         where p.due + p.later > 0
         group by p.topic),
    seen as (
        (select l.topic, 1 as status, l.retry_count from "windlass"."outbox_job_run_leased_near"(p_most, v_now) l limit p_most)
        union all
        (select m.topic::varchar, m.status::integer, m.retry_count::integer
           from "windlass"."outbox_job_run" m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit p_most)
        union all
        select f.topic, f.status, f.retry_count
          from step
         cross join lateral (
               select m.topic, m.status, m.retry_count
                 from "windlass"."outbox_job_run" m
                where m.status = 3 and m.topic = step.topic
                order by m.ended_at desc, m.id desc
                limit p_most) f
        union all
        select w.topic, w.status, w.retry_count from "windlass"."outbox_job_run_waiting_sample"(p_most) w),
    counted as (
        select s.topic,
               count(*) filter (where s.status = 4) as waiting,
               count(*) filter (where s.status = 1) as in_progress,
               count(*) filter (where s.status = 2) as done,
               count(*) filter (where s.status = 3) as failed,
               round(avg(s.retry_count), 2) as average_retries
          from seen s
         group by s.topic)
    select coalesce(pending.topic, counted.topic), coalesce(pending.messages, 0), coalesce(counted.waiting, 0),
           coalesce(counted.in_progress, 0), coalesce(counted.done, 0), coalesce(counted.failed, 0), counted.average_retries,
           coalesce(pending.due, 0), floor(extract(epoch from v_now - pending.oldest) * 1000)::bigint,
           exists (select from looked p where p.more) or exists (select from step where step.topic is not null and step.number > 1000)
      from pending
      full join counted on counted.topic = pending.topic
     order by 1;
end
$sql$;

-- Up to p_most messages that wait for their turn: a queue whose messages do has an index of them.
create or replace function "windlass"."outbox_job_run_waiting_sample"(p_most integer)
    returns table (topic varchar, status integer, retry_count integer)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
end
$sql$;

-- The leases that have not run out: how many, at most p_most, when the first and the last of them do, and for how long they have been held on
-- average.
create or replace function "windlass"."outbox_job_run_leases"(
    p_most integer default 1000,
    out active          bigint,
    out earliest_expiry timestamptz,
    out latest_expiry   timestamptz,
    out average_age_ms  bigint
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_span record;
    v_end  bigint;
    v_last timestamptz;
begin
    perform "windlass".windlass_check_most(p_most);
    select count(*), min(l.locked_until), max(l.locked_until), (extract(epoch from avg(v_now - l.claimed_at)) * 1000)::bigint
      into active, earliest_expiry, latest_expiry, average_age_ms
      from "windlass"."outbox_job_run_leased_near"(p_most, v_now, v_now) l;
    v_end := pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_job_run_leased"$name$::regclass) + 5000;
    for v_span in select s.* from "windlass".windlass_spans(v_now) s where s.until > latest_expiry
                   order by s.since desc loop
        exit when v_last is not null
            or pg_stat_get_xact_tuples_returned($name$"windlass"."outbox_job_run_leased"$name$::regclass) > v_end;
        v_last := (select m.locked_until
                     from "windlass"."outbox_job_run" m
                    where m.status = 1 and m.locked_until > greatest(v_span.since, latest_expiry) and m.locked_until <= v_span.until
                    order by m.locked_until desc
                    limit 1);
    end loop;
    latest_expiry := greatest(latest_expiry, v_last);
end
$sql$;

-- Timers: how they are written, found by their keys, and handed off to the outbox. The other verbs are those of every queue.

-- Writes a timer. It is due at p_due_at, or p_delay from now. Of one unique key there is one timer in a topic at most: a second one
-- replaces it, if p_replace says so, or leaves it as it is. Returns the id of the timer that stands.
--
-- One that is replaced keeps its id, but becomes a message under the id of this call: who repeats the call because its answer was
-- lost finds out by it. If somebody is handling the timer, it is lost to him; what he has done stays done, and it is due again.
create or replace function "windlass"."outbox_timer_schedule"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now timestamptz;
    v_due timestamptz;
    v_id  uuid := coalesce(p_id, "windlass".windlass_new_id());
    v_old boolean;
begin
    if (p_due_at is null) = (p_delay is null) then
        perform "windlass"."outbox_timer_check_due"(p_due_at, p_delay);
    end if;
    perform pg_current_xact_id();
    loop
        v_now := clock_timestamp();
        v_due := coalesce(p_due_at, v_now + p_delay);
        if p_unique_key is null then
            insert into "windlass"."outbox_timer" (id, created_at, due_at, next_attempt_at, topic, correlation_id, headers, payload)
            values (v_id, v_now, v_due, greatest(v_now, v_due), p_topic, nullif(p_correlation_id, ''), p_headers, p_payload);
            exit;
        end if;
        if p_replace is not true then -- who finds one lets it not be done before he commits, and keeps no other finder waiting
            select t.id into v_id
              from "windlass"."outbox_timer" t
             where t.topic = p_topic and t.unique_key = p_unique_key and t.status < 2
               for key share;
            if found then
                return v_id;
            end if;
            v_id := coalesce(p_id, "windlass".windlass_new_id());
        end if;
        insert into "windlass"."outbox_timer" as t
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
                delete from "windlass"."outbox_timer_failure" h where h.message_id = v_id;
            end if;
            exit;
        end if;
        select t.id into v_id
          from "windlass"."outbox_timer" t
         where t.topic = p_topic and t.unique_key = p_unique_key and t.status < 2;
        if found then
            return v_id;
        end if; -- else it has just been done or cancelled
        v_id := coalesce(p_id, "windlass".windlass_new_id());
    end loop;
    if p_notify and v_due < v_now + interval '1 minute' then -- nobody who looks for timers sleeps longer than that
        perform pg_notify('windlass.windlass.outbox_timer', 'ready');
    end if;
    return v_id;
end
$sql$;

-- Refuses a timer that has no due time, or two.
create or replace function "windlass"."outbox_timer_check_due"(p_due_at timestamptz, p_delay interval) returns void
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
create or replace function "windlass"."outbox_timer_schedule_all"(
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
    v_ids  uuid[] := coalesce(p_ids, array(select "windlass".windlass_new_id() from unnest(p_topics)));
    v_soon boolean;
    v_each record;
begin
    perform "windlass".windlass_check_lengths(
        cardinality(p_topics), coalesce(cardinality(p_payloads), -1), cardinality(p_ids), cardinality(p_due_ats),
        cardinality(p_delays), cardinality(p_unique_keys), cardinality(p_replaces), cardinality(p_correlation_ids),
        cardinality(p_headers));
    perform "windlass"."outbox_timer_check_due"(e.due_at, e.delay)
       from unnest(p_topics, p_due_ats, p_delays) as e (topic, due_at, delay)
      where (e.due_at is null) = (e.delay is null);
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    with written as (
        insert into "windlass"."outbox_timer" (id, created_at, due_at, next_attempt_at, topic, correlation_id, headers, payload)
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
            v_ids[v_each.place] := "windlass"."outbox_timer_schedule"(
                v_each.topic, v_each.payload, v_each.due_at, v_each.delay, v_each.unique_key, coalesce(v_each.replace, true),
                v_each.correlation_id, v_each.headers::jsonb, v_each.id, p_notify);
        end loop;
    end if;
    if p_notify and v_soon then
        perform pg_notify('windlass.windlass.outbox_timer', 'ready');
    end if;
    return v_ids;
end
$sql$;

-- Lets due timers become messages, the oldest first, at most p_limit of them, from a bound on which is proved as in claim. Also those
-- of paused topics: a pause is for programs that claim timers; their messages wait if that topic of the outbox is paused.
-- Returns how many, the topics they went to, where the last of them was, the numbers for the proof, how many microseconds
-- remain until the next one is due, at most a day, zero or less when one is due now, null when there is none; and the time.
create or replace function "windlass"."outbox_timer_hand_off"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
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
              from "windlass"."outbox_timer" t
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
            topics := "windlass"."outbox_timer_deliver"(v_ids);
        exception
            when others or assert_failure then
                topics := "windlass"."outbox_timer_deliver_each"(v_ids);
        end;
        perform pg_notify('windlass.windlass.outbox', 'ready ' || t.topic) from unnest(topics) as t (topic);
    end if;
    server_time := clock_timestamp();
    next_due := (select ceil(extract(epoch from least(t.next_attempt_at, server_time + interval '1 day') - server_time) * 1000000)
                   from "windlass"."outbox_timer" t
                  where t.status = 0
                    and (t.next_attempt_at, t.id) > (v_after_at, v_after_id)
                  order by t.next_attempt_at, t.id
                  limit 1);
end
$sql$;

-- Deletes timers that the caller has locked, and writes them as messages. Returns their topics.
create or replace function "windlass"."outbox_timer_deliver"(p_ids uuid[]) returns text[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '5ms'
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[];
    v_tried  uuid[];
begin
    with done as (
        delete from "windlass"."outbox_timer" t where t.id = any (p_ids)
        returning t.id, t.message_id, t.due_at, t.topic, t.correlation_id, t.headers, t.payload,
                  t.retry_count + t.lease_expiries + t.requeues > 0 as tried),
    written as (
        insert into "windlass"."outbox" (id, created_at, next_attempt_at, due_at, topic, source, correlation_id, headers, payload)
        select coalesce(done.message_id, done.id), v_now, v_now, done.due_at, done.topic, 'timer',
               coalesce(done.correlation_id, 'timer-' || done.id), done.headers, done.payload
          from done
        returning topic)
    select coalesce((select array_agg(distinct written.topic) from written), '{}'), -- a trigger may leave them out
           (select array_agg(done.id) from done where done.tried)
      into v_topics, v_tried;
    if v_tried is not null then
        delete from "windlass"."outbox_timer_failure" h where h.message_id = any (v_tried);
    end if;
    return v_topics;
end
$sql$;

-- How late timers became messages, for each hour in which they were due, the latest first: of the p_most timers that were done last, and
-- the p_most that failed last, as far as they are among twenty times as many messages of the outbox, 200,000 at most. What was left out
-- ended earlier, so an hour is all there unless it began before the end of what was looked at: "more". What a message was before its
-- end tells nothing new: an outbox that does not keep what is done has only the failed ones.
create or replace function "windlass"."outbox_timer_delays"(p_most integer default 1000) returns setof "windlass".windlass_delay
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_messages bigint := greatest(p_most, least(20 * p_most::bigint, 200000));
begin
    perform "windlass".windlass_check_most(p_most);
    return query
    with timers as materialized (
        select ended.status, m.due_at, m.ended_at, greatest(0, round(extract(epoch from m.created_at - m.due_at) * 1000)) as late
          from unnest(array[2, 3]) as ended (status)
         cross join lateral (
               select l.created_at, l.due_at, l.ended_at
                 from (select o.created_at, o.due_at, o.ended_at, o.source
                         from "windlass"."outbox" o
                        where o.status = ended.status and o.ended_at is not null
                        order by o.ended_at desc
                        limit v_messages) l
                where l.source = 'timer' and isfinite(l.due_at)
                limit p_most) m),
    looked as ( -- back to where, if not all were looked at
        select case when (select count(*) from timers t where t.status = ended.status) = p_most
                    then (select min(t.ended_at) from timers t where t.status = ended.status)
                    else (select o.ended_at
                            from "windlass"."outbox" o
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
create or replace function "windlass"."outbox_error"(p_state text, p_constraint text) returns text
    language plpgsql
as $sql$
begin
    return 'the database refuses its message (SQLSTATE ' || p_state || coalesce(', constraint ' || nullif(p_constraint, ''), '') || ')';
end
$sql$;

-- The same one by one, after it failed for all together: one that cannot become a message is put off, with the reason, and the
-- others go on, also those that come after a whole batch of such. One that has become a message already, because it was written
-- twice, is done. One behind which something is locked stays due, and so does one that cannot be changed at all.
create or replace function "windlass"."outbox_timer_deliver_each"(p_ids uuid[]) returns text[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
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
            v_topics := v_topics || "windlass"."outbox_timer_deliver"(array[v_id]);
        exception
            when others or assert_failure then
                get stacked diagnostics v_state = returned_sqlstate, v_constraint = constraint_name;
                v_waits := v_waits + (v_state = '55P03')::integer;
                exit when v_waits = 50;
                begin
                    if exists (select
                                 from "windlass"."outbox_timer" t
                                 join "windlass"."outbox" m on m.id = coalesce(t.message_id, t.id)
                                where t.id = v_id) then
                        delete from "windlass"."outbox_timer" t where t.id = v_id;
                        delete from "windlass"."outbox_timer_failure" h where h.message_id = v_id;
                    elsif v_state <> '55P03' then
                        update "windlass"."outbox_timer" t
                           set retry_count = t.retry_count + 1, last_error = "windlass"."outbox_error"(v_state, v_constraint),
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

-- Jobs, and what their runs have besides the verbs of every queue. Programs compute the ticks; what is decided here is who takes
-- one, once. A job that is not there is told by a null.

-- Ends the runs whose messages end; these have been changed in the same transaction, or are about to be deleted.
create or replace function "windlass"."outbox_job_runs_ended"(p_ids uuid[], p_status smallint) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
begin
    update "windlass"."outbox_job_run" r
       set status = p_status, ended_at = clock_timestamp(), claimed_at = m.claimed_at, retry_count = m.retry_count,
           lease_expiries = m.lease_expiries, last_error = m.last_error
      from "windlass"."outbox" m
     where m.id = any (p_ids) and r.id = m.id and r.status + 0 = 6;
end
$sql$;

-- Failed messages are to be handled once more, and so are the runs they belong to.
create or replace function "windlass"."outbox_job_runs_reopened"(p_ids uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    update "windlass"."outbox_job_run" r set status = 6, ended_at = null where r.id = any (p_ids) and r.status + 0 = 3;
end
$sql$;

-- The clock that decides, for programs that compute ticks.
create or replace function "windlass"."outbox_job_clock"() returns timestamptz
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
create or replace function "windlass"."outbox_job_save"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_set text;
begin
    insert into "windlass"."outbox_job" as j
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
        perform pg_notify('windlass.windlass.outbox_job_run', 'ready');
        return true;
    end if;
    v_set := (select j.job_set from "windlass"."outbox_job" j where j.name = p_name);
    if v_set <> p_job_set then
        raise exception 'job % belongs to the set %, and cannot be brought along by the set %', quote_literal(p_name),
                        quote_literal(v_set), quote_literal(p_job_set)
            using errcode = 'unique_violation', hint = 'Give it another name, or take it out of the other set first.';
    end if;
    return false;
end
$sql$;

-- Records what an operator did to a job, if p_by names one: with what operators did to runs.
create or replace function "windlass"."outbox_job_record"(p_by text, p_verb text, p_name text, p_runs integer) returns void
    language plpgsql
as $sql$
begin
    if p_by is not null then
        perform "windlass".windlass_check_by(p_by);
        perform "windlass".windlass_record('outbox' || '_job_run', null, p_by, p_verb, p_runs, null, jsonb_build_object('job', p_name));
    end if;
end
$sql$;

-- Deletes a job with the runs that nobody has begun; runs that are being handled go on, and what has run stays known. Returns how
-- many runs it took along.
create or replace function "windlass"."outbox_job_delete"(p_name text, p_by text default null) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_runs  uuid[];
    v_count integer;
begin
    delete from "windlass"."outbox_job" j where j.name = p_name;
    if not found then
        return null;
    end if;
    v_runs := array(select r.id from "windlass"."outbox_job_run" r where r.source = p_name and r.ended_at is null);
    v_count := "windlass"."outbox_job_run_end_unclaimed"("windlass"."outbox_job_run_lock"(v_runs, array[0]), 5::smallint,
                                                       'its job was deleted');
    v_count := v_count + "windlass"."outbox_cancel"(v_runs); -- after it: a run that was just handed off is a message only now
    perform "windlass"."outbox_job_record"(p_by, 'delete job', p_name, v_count);
    return v_count;
end
$sql$;

-- The first run of a job that has not ended, or null. A message that is gone is not waited for.
create or replace function "windlass"."outbox_job_unfinished"(p_name text) returns uuid
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return (select r.id
              from "windlass"."outbox_job_run" r
             where r.source = p_name and r.ended_at is null
               and (not r.handed_off or exists (select from "windlass"."outbox" m where m.id = r.id))
             limit 1);
end
$sql$;

-- Makes a run of a job now, also of a paused one. With p_hand_off it is a message at once; else a node that hands off makes it
-- one, or a program claims it. While a run is unfinished, a job that allows no overlap is not triggered: then the run_id is null, and
-- the unfinished_id tells. A run that is known already, from a call whose answer was lost, is not made again.
create or replace function "windlass"."outbox_job_trigger"(
    p_name     text,
    p_id       uuid default null,
    p_hand_off boolean default false,
    p_by       text default null,
    out run_id        uuid,
    out unfinished_id uuid,
    out topic         text
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_job "windlass"."outbox_job";
begin
    select j.* into v_job from "windlass"."outbox_job" j where j.name = p_name for update;
    if not found then
        return;
    end if;
    topic := v_job.topic;
    if exists (select from "windlass"."outbox_job_run" r where r.id = p_id) then
        run_id := p_id;
        return;
    end if;
    if v_job.overlap > 0 then
        unfinished_id := "windlass"."outbox_job_unfinished"(p_name);
        if unfinished_id is not null then
            return;
        end if;
    end if;
    run_id := coalesce(p_id, "windlass".windlass_new_id());
    perform pg_current_xact_id();
    perform "windlass"."outbox_job_make_runs"(v_job, clock_timestamp(), array[run_id], null, true, p_hand_off);
    update "windlass"."outbox_job" j set last_run_id = run_id where j.name = p_name; -- not the version: ticks go on beside it
    perform "windlass"."outbox_job_record"(p_by, 'trigger job', p_name, 1);
    perform pg_notify(case when p_hand_off then 'windlass.windlass.outbox' else 'windlass.windlass.outbox_job_run' end, 'ready ' || v_job.topic);
end
$sql$;

-- Writes runs of a job, one for each tick that has none, or of this moment; with p_hand_off as messages, which have the payload then.
-- Returns the id of the last tick's.
create or replace function "windlass"."outbox_job_make_runs"(
    p_job       "windlass"."outbox_job",
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
        insert into "windlass"."outbox_job_run"
            (id, source, topic, payload, tick_at, triggered, created_at, next_attempt_at, status, handed_off)
        select e.id, p_job.name, p_job.topic, case when p_hand_off then '' else p_job.payload end, coalesce(e.tick_at, p_now), p_triggered,
               p_now, p_now, case when p_hand_off then 6 else 0 end, p_hand_off
          from unnest(p_ids, p_ticks) as e (id, tick_at)
         order by e.tick_at
        on conflict (source, tick_at) where not triggered do nothing
        returning id, tick_at)
    select array_agg(made.id order by made.tick_at) into v_ids from made;
    if p_hand_off and v_ids is not null then
        perform "windlass"."outbox_job_run_deliver"(v_ids, p_job.payload);
    end if;
    return v_ids[cardinality(v_ids)];
end
$sql$;

-- Writes runs as messages, with this payload or their own.
create or replace function "windlass"."outbox_job_run_deliver"(p_ids uuid[], p_payload text) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now timestamptz;
begin
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    insert into "windlass"."outbox" (id, created_at, next_attempt_at, due_at, topic, source, correlation_id, headers, payload, awaited)
    select r.id, v_now, v_now, r.tick_at, r.topic, 'job', 'job-run-' || r.id,
           jsonb_build_object('windlass-job', r.source, 'windlass-tick',
               rtrim(rtrim(to_char(r.tick_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || 'Z'),
           coalesce(p_payload, r.payload), true
      from "windlass"."outbox_job_run" r
     where r.id = any (p_ids);
end
$sql$;

-- Lets a job rest: its ticks pass without runs. Returns whether it did not rest before.
create or replace function "windlass"."outbox_job_pause"(p_name text, p_by text default null) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    update "windlass"."outbox_job" j
       set version = j.version + 1, paused_at = v_now, next_tick_at = null, fires_at = null, problem = null, updated_at = v_now
     where j.name = p_name and j.paused_at is null;
    if found then
        perform "windlass"."outbox_job_record"(p_by, 'pause job', p_name, 0);
        return true;
    end if;
    return (select false from "windlass"."outbox_job" j where j.name = p_name);
end
$sql$;

-- Lets a paused job go on with the tick given, computed of the version given. Returns whether it did: another version has to be
-- read, and computed, again.
create or replace function "windlass"."outbox_job_resume"(
    p_name         text,
    p_version      bigint,
    p_next_tick_at timestamptz,
    p_fires_at     timestamptz,
    p_by           text default null
) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    update "windlass"."outbox_job" j
       set version = j.version + 1, paused_at = null, next_tick_at = p_next_tick_at, fires_at = p_fires_at, problem = null,
           updated_at = clock_timestamp()
     where j.name = p_name and j.version = p_version and j.paused_at is not null;
    if not found then
        return false;
    end if;
    perform "windlass"."outbox_job_record"(p_by, 'resume job', p_name, 0);
    perform pg_notify('windlass.windlass.outbox_job_run', 'ready');
    return true;
end
$sql$;

-- When the next ready run is due; null if there is none.
create or replace function "windlass"."outbox_job_run_next"() returns timestamptz
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return (select min(f.next_attempt_at)
              from "windlass"."outbox_job_run_ready_topics"() as t (topic)
             cross join lateral (
                   select r.next_attempt_at
                     from "windlass"."outbox_job_run" r
                    where r.status = 0 and not r.keyed and r.topic = t.topic and r.priority = 4
                    order by r.next_attempt_at, r.id
                    limit 1) f);
end
$sql$;

-- Jobs that fire now, the first of them first, at most p_limit; and, in every row, also if there is no job in it, the clock,
-- whether a run is ready, and how many microseconds remain until the next job fires or run is ready, null if there is none.
create or replace function "windlass"."outbox_job_due"(p_limit integer default 100)
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_run  timestamptz;
    v_next timestamptz;
begin
    v_run := "windlass"."outbox_job_run_next"();
    v_next := (select j.fires_at from "windlass"."outbox_job" j where j.fires_at > v_now order by j.fires_at limit 1);
    v_next := least(v_next, case when v_run > v_now then v_run end, v_now + interval '1 day');
    return query
    select d.name, d.version, d.cron, d.zone, (extract(epoch from d.period) * 1000000)::bigint, d.anchor_at, d.misfire, d.misfire_runs,
           (extract(epoch from d.misfire_after) * 1000000)::bigint, (extract(epoch from d.jitter) * 1000000)::bigint, d.next_tick_at,
           d.fires_at, v_now, coalesce(v_run <= v_now, false), ceil(extract(epoch from v_next - v_now) * 1000000)::bigint
      from (values (1)) as always
      left join (select j.*
                   from "windlass"."outbox_job" j
                  where j.fires_at <= v_now
                  order by j.fires_at
                  limit p_limit) d on true;
end
$sql$;

-- Takes ticks of jobs: for each job that still has the version of which they were computed, writes its next tick and the runs.
-- p_run_jobs says which of the jobs, counted from 1, a run belongs to. A job that somebody else holds, or behind which something is
-- locked, is left alone; one that fails says so, and is tried again after a minute; one that cannot even say so is left alone, too.
-- Returns how many jobs were not left alone, the topics that have new messages, and the runs it made.
create or replace function "windlass"."outbox_job_take"(
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
              from "windlass"."outbox_job_take_one"(
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
                    v_free := v_state <> '55P03' and "windlass"."outbox_job_problem"(
                        v_each.name, v_each.version, "windlass"."outbox_error"(v_state, v_constraint),
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
    made := array(select r.id from "windlass"."outbox_job_run" r where r.id = any (p_run_ids));
    perform pg_notify('windlass.windlass.outbox', 'ready ' || t.topic) from unnest(topics) as t (topic);
end
$sql$;

-- The same for one job. Whoever updates it has it until he commits: so what he sees of its runs afterwards holds.
create or replace function "windlass"."outbox_job_take_one"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '5ms'
as $sql$
declare
    v_now     timestamptz;
    v_job     "windlass"."outbox_job";
    v_runs    integer := cardinality(p_run_ids);
    v_skipped bigint := p_skipped;
    v_next    timestamptz := p_next_tick_at;
    v_fires   timestamptz := p_fires_at;
    v_after   timestamptz;
    v_last    uuid;
begin
    select j.* into v_job from "windlass"."outbox_job" j where j.name = p_name for update skip locked;
    if not found then
        free := not exists (select from "windlass"."outbox_job" j where j.name = p_name);
        return;
    end if;
    free := true;
    if v_job.version <> p_version or v_job.paused_at is not null then
        return;
    end if;
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    if v_job.overlap = 1 and v_runs > 0 then
        v_runs := case when "windlass"."outbox_job_unfinished"(p_name) is null then 1 else 0 end;
        v_skipped := v_skipped + cardinality(p_run_ids) - v_runs;
    elsif v_job.overlap = 2 then
        -- A run that is unfinished ends later than now: to look again after a period is early enough.
        v_after := case when "windlass"."outbox_job_unfinished"(p_name) is not null then v_now
                        else (select r.ended_at from "windlass"."outbox_job_run" r where r.id = v_job.last_run_id) end + v_job.period;
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
        v_last := "windlass"."outbox_job_make_runs"(v_job, v_now, p_run_ids[1:v_runs], p_run_ticks[1:v_runs], false, p_hand_off);
        topic := case when p_hand_off and v_last is not null then v_job.topic end;
    end if;
    update "windlass"."outbox_job" j
       set version = j.version + 1, next_tick_at = v_next, fires_at = v_fires, problem = null,
           last_run_id = coalesce(v_last, j.last_run_id), skipped_ticks = j.skipped_ticks + v_skipped,
           last_skipped_at = case when v_skipped > 0 then v_now else j.last_skipped_at end
     where j.name = p_name;
end
$sql$;

-- Writes down why the ticks of a job cannot be computed or taken, unless it was changed since; it is tried again after p_retry.
-- Returns whether it did.
create or replace function "windlass"."outbox_job_problem"(p_name text, p_version bigint, p_problem text, p_retry interval)
    returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    perform 1 from "windlass"."outbox_job" j where j.name = p_name for update skip locked;
    if not found then
        return false;
    end if;
    update "windlass"."outbox_job" j
       set version = j.version + 1, problem = left(p_problem, 2048), fires_at = clock_timestamp() + p_retry
     where j.name = p_name and j.version = p_version and j.paused_at is null;
    return found;
end
$sql$;

-- Lets runs that are ready become messages, at most p_limit: such as were made where nobody hands off. Also those of paused topics, as
-- with timers. Returns how many it looked at, but for those behind which something is locked, or that cannot be changed at all, and
-- the topics of the messages.
create or replace function "windlass"."outbox_job_run_hand_off"(
    p_limit       integer default 100,
    out looked_at integer,
    out topics    text[]
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
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
          from "windlass"."outbox_job_run_ready_topics"() as t (topic)
         cross join lateral (
               select r.id
                 from "windlass"."outbox_job_run" r
                where r.status = 0 and not r.keyed and r.topic = t.topic and r.priority = 4 and r.next_attempt_at <= v_now
                order by r.next_attempt_at, r.id
                limit p_limit
                  for update skip locked) f
         limit p_limit
    loop
        looked_at := looked_at + 1;
        begin
            perform "windlass"."outbox_job_run_deliver"(array[v_run.id], null);
            update "windlass"."outbox_job_run" r set status = 6, handed_off = true, payload = '' where r.id = v_run.id;
            topics := topics || v_run.topic;
        exception
            when others or assert_failure then
                get stacked diagnostics v_state = returned_sqlstate, v_constraint = constraint_name;
                begin
                    update "windlass"."outbox_job_run" r
                       set retry_count = r.retry_count + 1, last_error = "windlass"."outbox_error"(v_state, v_constraint),
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
    perform pg_notify('windlass.windlass.outbox', 'ready ' || t.topic) from unnest(topics) as t (topic);
end
$sql$;

-- Runs as they are.
create or replace function "windlass"."outbox_job_run_states"(p_ids uuid[]) returns setof "windlass"."outbox_job_run_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
begin
    return query select r.* from "windlass"."outbox_job_run_listed" r where r.id = any (p_ids);
end
$sql$;

-- Runs of a job, the latest first. The next page begins before the last one's (created_at, id).
create or replace function "windlass"."outbox_job_runs"(
    p_name      text,
    p_limit     integer default 100,
    p_before_at timestamptz default null,
    p_before_id uuid default null
) returns setof "windlass"."outbox_job_run_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    select r.*
      from "windlass"."outbox_job_run_listed" r
     where r.source = p_name
       and (r.created_at, r.id) < (coalesce(p_before_at, 'infinity'), coalesce(p_before_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
     order by r.created_at desc, r.id desc
     limit p_limit;
end
$sql$;

-- Writes down what came of a run, of which 8,192 characters are kept. Returns whether it did: not once the run has ended.
create or replace function "windlass"."outbox_job_run_record_output"(p_id uuid, p_output text) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    update "windlass"."outbox_job_run" r set output = left(p_output, 8192) where r.id = p_id and r.ended_at is null;
    return found;
end
$sql$;

-- All jobs in the order of their names, or the one that is asked for.
create or replace function "windlass"."outbox_jobs"(p_name text default null) returns setof "windlass"."outbox_job_listed"
    language plpgsql
    stable
as $sql$
begin
    return query select j.* from "windlass"."outbox_job_listed" j where p_name is null or j.name = p_name order by j.name;
end
$sql$;

-- Brings the jobs of a set along, as JSON objects with the parameters of save: with a revision that is greater than the one stored,
-- they are saved, and those of the set that are not among them are deleted. Of several programs that start at once, one does
-- it. Returns the revision and digest that stood before, null for none, and how many jobs were changed and deleted.
create or replace function "windlass"."outbox_job_set_sync"(
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
    insert into "windlass"."outbox_job_set" (name, revision, digest, synced_at)
    values (p_set, p_revision, p_digest, clock_timestamp())
    on conflict (name) do nothing;
    if not found then
        select s.revision, s.digest into stored_revision, stored_digest
          from "windlass"."outbox_job_set" s
         where s.name = p_set
           for update;
        if stored_revision >= p_revision then
            return;
        end if;
        update "windlass"."outbox_job_set" s
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
        changed := changed + "windlass"."outbox_job_save"(
            v_job.name, v_job.topic, v_job.payload, v_job.cron, v_job.zone, v_job.period, v_job.anchor_at, v_job.next_tick_at,
            v_job.fires_at, v_job.misfire, v_job.misfire_runs, v_job.misfire_after, v_job.overlap, v_job.jitter,
            p_set)::integer;
    end loop;
    for v_job in
        select j.name
          from "windlass"."outbox_job" j
         where j.job_set = p_set and j.name not in (select e.job ->> 'name' from jsonb_array_elements(p_jobs) as e (job))
         order by j.name
    loop
        deleted := deleted + ("windlass"."outbox_job_delete"(v_job.name) is not null)::integer; -- unless somebody has just done it
    end loop;
end
$sql$;

-- Ends runs as failed whose message is gone. Returns how many.
create or replace function "windlass"."outbox_job_run_end_lost"(p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
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
          from "windlass"."outbox_job_run" u
         where u.ended_at is null and u.handed_off and u.created_at < v_before
           and not exists (select from "windlass"."outbox" m where m.id = u.id)
         limit p_limit
           for update skip locked
    loop
        begin
            update "windlass"."outbox_job_run" r
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
create or replace function "windlass"."outbox_job_run_delays"(p_most integer default 1000) returns setof "windlass".windlass_delay
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
begin
    perform "windlass".windlass_check_most(p_most);
    return query
    with runs as materialized (
        select ended.status, r.tick_at, r.ended_at, r.triggered,
               greatest(0, round(extract(epoch from r.created_at - r.tick_at) * 1000)) as late
          from unnest(array[2, 3]) as ended (status)
         cross join lateral (
               select l.tick_at, l.created_at, l.ended_at::timestamptz, l.triggered
                 from "windlass"."outbox_job_run" l
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

insert into "windlass".windlass_version (table_name, component, version, min_compatible) values ('outbox', 'schedule', 1, 1);

-- A queue. One state machine:
--
--   4 waiting --(its turn has come)--> 0 ready --claim--> 1 in progress --ack--> 2 done
--                                        ^  |                |   |
--                                        |  +---- expire ----|---+--fail--> 3 failed --requeue--> 0 ready
--                                        +--abandon, release, reap
--
--   0 ready, 4 waiting --cancel--> 5 cancelled          4 waiting --expire--> 3 failed
--
-- The check is the invariant: a message has a lease exactly while it is in progress, and an end exactly when it has ended. What concerns
-- one column is said by its domain: PostgreSQL reads every check of a table again for each statement, and a dozen of them took two
-- thirds of the time of an insert. The token of the last owner stays with a message that has ended: who repeats an ack whose answer was lost is
-- told that it holds.
create table "windlass"."inbox" (
    id              uuid         not null,             -- time-ordered, so that the index grows at one end
    created_at      timestamptz  not null,
    next_attempt_at timestamptz  not null,             -- never earlier than the moment the message became ready
    due_at          timestamptz,                       -- as the user wrote it; retries move next_attempt_at only
    expires_at      timestamptz,
    claimed_at      "windlass".windlass_time,            -- when the attempt began that is going on, or was the last
    locked_until    "windlass".windlass_time,
    ended_at        "windlass".windlass_time,
    erased_at       timestamptz,
    owner_token     uuid,
    retry_count     "windlass".windlass_count not null default 0,
    lease_expiries  "windlass".windlass_count not null default 0, -- apart from retries: a neighbour may have killed the process
    crashes         "windlass".windlass_small_count not null default 0, -- leases that ran out after the start of the handler was written down
    requeues        "windlass".windlass_small_count not null default 0,
    status          "windlass".windlass_status not null default 0,
    priority        "windlass".windlass_priority not null default 4, -- 0 to 9: those with the higher one are claimed first
    started         boolean      not null default false, -- the start of its handler was written down, in this attempt
    awaited         boolean      not null default false, -- something has to be done when it ends; others pay nothing for it
    keyed           boolean      not null default false, -- it is claimed in the turn of its key
    topic           "windlass".windlass_name not null,
    source          varchar(255) collate "C",          -- where it came from
    correlation_id  varchar(255),
    processed_by    varchar(100),
    last_error      varchar(2048),
    headers         "windlass".windlass_headers,
    payload         text         not null,
    constraint "inbox_pk" primary key (id),
    constraint "inbox_state_check" check ((status = 1) = (locked_until is not null) and (status in (2, 3, 5)) = (ended_at is not null))
) with (
    -- Every message leaves two or three dead rows behind; the default (a fifth of the table) comes too late for a queue.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- Ready messages by topic and priority, then by time: a node looks only at topics it has a handler and room for, so a paused,
-- saturated or unknown topic with any backlog costs the others nothing.
create index "inbox_ready" on "windlass"."inbox" (topic, priority, next_attempt_at, id) where status = 0 and not keyed;
create index "inbox_leased" on "windlass"."inbox" (locked_until) where status = 1;
create index "inbox_expiring" on "windlass"."inbox" (expires_at) where status in (0, 4) and expires_at is not null;
create index "inbox_ended_at" on "windlass"."inbox" (status, ended_at) where ended_at is not null;
create index "inbox_failed" on "windlass"."inbox" (topic, ended_at, id) where status = 3;

-- Attempts that failed. Successes write nothing here. No foreign key: it would cost every deleted message a look.
create table "windlass"."inbox_failure" (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),                           -- unknown when a lease ran out
    error      varchar(2048)
);
create index "inbox_failure_of" on "windlass"."inbox_failure" (message_id, failed_at);

-- A queue whose messages can be members of joins. One that is none pays nothing for it.
alter table "windlass"."inbox"
    add column joined boolean not null default false,
    add constraint "inbox_joined_check" check (awaited or not joined);

-- Makes messages members of a join. One that has ended counts at once; also one that is gone, if the join was started before it was
-- written. Whoever repeats a call changes nothing. Returns how many are new.
create or replace function "windlass"."inbox_attach"(p_join_id uuid, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids     uuid[];
    v_unknown uuid[];
    v_ended   uuid[];
begin
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."inbox_lock"(p_ids, array[0, 1, 2, 3, 4, 5]);
    v_ids := array(select m.id from "windlass"."inbox" m where m.id = any (v_ids) and m.status + 0 <> 4);
    perform 1 from "windlass".windlass_join j where j.id = p_join_id for update;
    perform "windlass".windlass_join_known(p_join_id);
    if cardinality(v_ids) < cardinality(p_ids) then
        v_unknown := array(
            select unnest(p_ids)
            except select unnest(v_ids)
            except select g.message_id from "windlass".windlass_join_gone g where g.message_id = any (p_ids)
            except select c.message_id from "windlass".windlass_join_member c where c.join_id = p_join_id and c.message_id = any (p_ids));
        if cardinality(v_unknown) > 0 then
            perform "windlass".windlass_refuse('ids of messages of ' || 'inbox', v_unknown[1]::text,
                                             'Attach a message in the transaction that writes it, or start the join before it is written.');
        end if;
    end if;
    v_ids := "windlass".windlass_join_enter(p_join_id, 'inbox', array(select distinct i.id from unnest(p_ids) as i (id)));
    if cardinality(v_ids) > 0 then
        update "windlass"."inbox" m set joined = true, awaited = true where m.id = any (v_ids) and m.status + 0 <> 2;
        for v_status in 1 .. 2 loop
            v_ended := array(
                select m.id from "windlass"."inbox" m
                 where m.id = any (v_ids) and case m.status when 2 then 1 when 3 then 2 when 5 then 2 end = v_status
                 union
                select g.message_id from "windlass".windlass_join_gone g where g.message_id = any (v_ids) and g.status = v_status);
            if cardinality(v_ended) > 0 then
                perform "windlass".windlass_join_count(v_ended, v_status, p_join_id);
            end if;
        end loop;
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Makes messages that the caller has just written members of their joins; what was first under a deduplication key, in their place.
create or replace function "windlass"."inbox_enter_joins"(p_ids uuid[], p_join_ids uuid[], p_originals uuid[]) returns void
    language plpgsql
as $sql$
declare
    v_join  uuid;
    v_known uuid[];
begin
    if p_originals is not null then
        perform "windlass"."inbox_lock"(p_originals, array[0, 1, 2, 3, 4, 5]);
    end if;
    perform 1 from "windlass".windlass_join j where j.id = any (p_join_ids) order by j.id desc for update;
    for v_join in select distinct e.join_id from unnest(p_join_ids) as e (join_id) where e.join_id is not null loop
        perform "windlass".windlass_join_enter(v_join, 'inbox', array(
            select e.id
              from unnest(p_ids, p_join_ids, p_originals) as e (id, join_id, original)
             where e.join_id = v_join and e.original is null));
        v_known := array(
            select distinct e.original
              from unnest(p_join_ids, p_originals) as e (join_id, original)
             where e.join_id = v_join and e.original is not null);
        if cardinality(v_known) > 0 then
            perform "windlass"."inbox_attach"(v_join, v_known);
        end if;
    end loop;
end
$sql$;

-- Counts messages that end, if they are members of joins.
create or replace function "windlass"."inbox_joined_ended"(p_ids uuid[], p_status smallint) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_joined uuid[] := array(select m.id from "windlass"."inbox" m where m.id = any (p_ids) and m.joined);
begin
    if cardinality(v_joined) > 0 then
        perform "windlass".windlass_join_count(v_joined, case p_status when 2 then 1 else 2 end);
    end if;
end
$sql$;

-- Failed messages are to be handled once more: where their joins are pending, the failed steps are taken back.
create or replace function "windlass"."inbox_joined_reopened"(p_ids uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_joined uuid[] := array(select m.id from "windlass"."inbox" m where m.id = any (p_ids) and m.joined);
begin
    if cardinality(v_joined) > 0 then
        perform "windlass".windlass_join_take_back(v_joined);
    end if;
end
$sql$;

-- Notes how messages ended that are about to be deleted, while a join is pending to which they could still be attached.
create or replace function "windlass"."inbox_note_gone"(p_ids uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    if exists (select from "windlass".windlass_join j where j.status = 0) then
        insert into "windlass".windlass_join_gone (message_id, gone_at, status)
        select m.id, clock_timestamp(), case m.status when 2 then 1 else 2 end from "windlass"."inbox" m where m.id = any (p_ids)
        on conflict (message_id) do nothing;
    end if;
end
$sql$;

-- The inbox: a queue of messages that arrived, and what it has seen, so that a message which arrives twice is processed once.
--
-- A message is named by its source, which is who sent it, and the id it has there. A row of the queue that waits (4) is a copy of
-- a message that somebody has begun without the queue; see adopt. All others have the key of their message: seen.id is their id.
alter table "windlass"."inbox"
    add column message_id "windlass".windlass_name not null,
    add column hash       "windlass".windlass_hash, -- of a copy that waits
    alter column source type "windlass".windlass_name,
    alter column source set not null,
    alter column next_attempt_at type "windlass".windlass_bound,
    add constraint "inbox_waiting_check" check (status <> 4 or awaited);

create unique index "inbox_waiting" on "windlass"."inbox" (source, message_id) where status = 4;

-- What has arrived. The key decides what is new. The state of a queued message is that of its row in the queue; if that row is
-- gone, an ack has deleted it: it is done. The state of another, which whoever received it processes, stands here:
--
--   0 rests --begin--> 1 in progress --mark done--> 2 done
--      ^                  |   |
--      +--mark abandoned--+   +--mark failed, attempts used up--> 3 failed --requeue--> 0 rests
--
-- The token of whoever ended a message stays with it: who repeats its last word, because the answer was lost, is told the truth.
create table "windlass"."inbox_seen" (
    source         "windlass".windlass_name  not null,
    message_id     "windlass".windlass_name  not null,
    id             uuid,                   -- of its row in the queue
    first_seen_at  timestamptz             not null,
    last_seen_at   timestamptz             not null,
    state_at       "windlass".windlass_time, -- when its attempt began, or it ended; when it can be begun again
    claimed_at     "windlass".windlass_time, -- when the attempt began that is going on, or was the last
    locked_until   "windlass".windlass_time,
    owner_token    uuid,
    retry_count    "windlass".windlass_count not null default 0, -- attempts that failed, since it was requeued perhaps
    lease_expiries "windlass".windlass_count not null default 0, -- attempts nobody heard of again
    requeues       "windlass".windlass_count not null default 0,
    status         smallint,
    processed_by   varchar(100),
    last_error     varchar(2048),
    hash           "windlass".windlass_hash,
    constraint "inbox_seen_pk" primary key (source, message_id),
    constraint "inbox_seen_status_check" check (status between 0 and 3 and (id is null) = (status is not null)
                                            and (status is null) = (state_at is null)
                                            and (status <> 0 or state_at >= '0001-01-01 00:00:00+00')),
    constraint "inbox_seen_lease_check" check ((status is distinct from 1) = (locked_until is null)
                                      and (status <> 1 or owner_token is not null and claimed_at is not null)
                                      and (status <> 0 or owner_token is null))
) with (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- A message that is processed without the queue pays for each of the two indexes twice (begin, mark), one of the queue for the key once.
create index "inbox_seen_state" on "windlass"."inbox_seen" (status, state_at) where status is not null;

-- Messages as they are listed: without their content. First those of the queue, then, with the same columns, the others.
create view "windlass"."inbox_listed" with (security_invoker = true) as
select m.id, m.source::varchar, m.message_id::varchar, m.topic::varchar, m.status::smallint, m.priority::smallint, m.keyed,
       m.created_at, m.due_at, m.next_attempt_at::timestamptz, m.expires_at, m.claimed_at::timestamptz, m.locked_until::timestamptz,
       m.ended_at::timestamptz, m.erased_at,
       case m.status when 0 then m.next_attempt_at when 1 then m.claimed_at when 4 then m.created_at else m.ended_at end::timestamptz as state_at,
       m.processed_by, m.retry_count::integer, m.lease_expiries::integer, m.requeues::smallint, m.last_error
  from "windlass"."inbox" m;

create view "windlass"."inbox_guarded" with (security_invoker = true) as
select s.id, s.source::varchar, s.message_id::varchar, null::varchar collate "C" as topic, s.status, 4::smallint as priority,
       false as keyed, s.first_seen_at as created_at, null::timestamptz as due_at, case s.status when 0 then s.state_at::timestamptz end as next_attempt_at,
       null::timestamptz as expires_at, s.claimed_at::timestamptz, s.locked_until::timestamptz,
       case when s.status in (2, 3) then s.state_at::timestamptz end as ended_at, null::timestamptz as erased_at,
       s.state_at::timestamptz, s.processed_by, s.retry_count::integer, s.lease_expiries::integer, s.requeues::smallint, s.last_error
  from "windlass"."inbox_seen" s
 where s.status is not null;

-- A queue whose messages are claimed by topic. What its verbs have in common stands with those for messages in progress.

-- Takes up to p_limit ready and due messages, at most p_places[i] of topic p_topics[i] and about p_bytes of payload, for
-- p_lease; the first one whatever its size. Without topics, of whatever topic there is, in random order, so that a full one
-- cannot keep the others waiting. Expired messages are left to expire(); paused topics are left alone, and of limited ones only as
-- many are taken as their limits leave.
--
-- Of a topic, the priorities of p_priorities come one after the other. With p_ageing that one comes first whose oldest message has
-- waited longest, where each step of priority counts as if it had waited for so much longer.
--
-- Under an open snapshot the dead entries of claimed messages stay in the index, and every claim would step over all of
-- them. So a claimer gives, for each topic and each priority, the position (next_attempt_at, id) up to which it knows that nothing
-- is left; the arrays have those of the first topic first.
-- How it knows: let F be the number of a claim's transaction that reached position P. Whoever stamped a message at or before
-- P did so before that claim read its clock, and had its own transaction number by then, so that number is below F. Once a
-- later claim from the old bound reaches past P in a snapshot with xmin > F, all of those transactions had ended in that
-- snapshot, and the claim has seen what they committed. What a claim itself makes ready, and takes, has a later stamp than
-- it can prove: it gets the time that the claim has read before it had its number.
--
-- With p_each it takes them one by one, and leaves those that a constraint or a trigger of the user's refuses; up to a thousand
-- of each topic. If all are refused, it fails as the last one did.
create or replace function "windlass"."inbox_claim"(
    p_owner      uuid,
    p_lease      interval,
    p_limit      integer,
    p_topics     text[] default null,
    p_places     integer[] default null,
    p_after_ats  timestamptz[] default null,
    p_after_ids  uuid[] default null,
    p_bytes      bigint default null,
    p_each       boolean default false,
    p_priorities integer[] default array[4],
    p_ageing     interval default null
) returns setof "windlass"."inbox"
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now     timestamptz := clock_timestamp();
    v_proved  timestamptz := v_now;
    v_bytes   bigint := coalesce(p_bytes, 9223372036854775807);
    v_most    bigint := p_limit;
    v_topics  text[];
    v_places  integer[];
    v_allowed integer[];
    v_paused  text[];
    v_limited text[];
    v_ids     uuid[] := '{}';
    v_keyed   uuid[] := '{}';
    v_found   record;
    v_counts  jsonb := '{}';
    v_size    bigint := 0;
    v_taken   uuid[] := '{}';
    v_refused uuid;
begin
    perform "windlass".windlass_check_lease(p_lease);
    if p_topics is not null then
        perform "windlass".windlass_check_lengths(cardinality(p_topics), cardinality(p_places));
        perform "windlass".windlass_check_lengths(cardinality(p_topics) * cardinality(p_priorities), cardinality(p_after_ats),
                                                cardinality(p_after_ids));
    end if;
    v_topics := coalesce(p_topics, array(select t from (select distinct "windlass"."inbox_ready_topics"() as t) r order by random()));
    v_places := coalesce(p_places, array_fill(p_limit, array[cardinality(v_topics)]));
    select coalesce(array_agg(t.topic) filter (where t.paused_at is not null), '{}'),
           array_agg(t.topic) filter (where num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0)
      into v_paused, v_limited
      from "windlass".windlass_topic t
     where t.queue = 'inbox';
    if v_limited && v_topics then
        v_places := "windlass"."inbox_limited_places"(v_topics, v_places, v_limited);
        v_now := clock_timestamp();
    end if;
    v_allowed := v_places;
    if p_each then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
        v_most := v_most + 1000;
        v_bytes := 9223372036854775807;
        v_places := array(select least(p.places, p_limit) + 1000 from unnest(v_places) with ordinality as p (places, number) order by p.number);
    end if;
    v_ids := v_keyed || array(
        select s.id
          from (select f.id, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
                  from unnest(v_topics, v_places) with ordinality as want (topic, places, number)
                 cross join lateral (
                       select r.id, r.size
                         from (select l.priority, (want.number - 1) * cardinality(p_priorities) + l.number as place
                                 from unnest(p_priorities) with ordinality as l (priority, number)
                                order by case when p_ageing is not null then
                                              (select o.next_attempt_at
                                                 from "windlass"."inbox" o
                                                where o.status = 0 and not o.keyed and o.topic = want.topic and o.priority = l.priority
                                                  and o.next_attempt_at <= v_now
                                                  and (o.next_attempt_at, o.id)
                                                      > (coalesce(p_after_ats[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '-infinity'),
                                                         coalesce(p_after_ids[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '00000000-0000-0000-0000-000000000000'))
                                                order by o.next_attempt_at, o.id
                                                limit 1) - l.priority * p_ageing end, l.number) level
                        cross join lateral (
                              select m.id, octet_length(m.payload) as size
                                from "windlass"."inbox" m
                               where m.status = 0
                                 and not m.keyed
                                 and m.topic = want.topic
                                 and m.priority = level.priority
                                 and m.next_attempt_at <= v_now
                                 and (m.next_attempt_at, m.id)
                                     > (coalesce(p_after_ats[level.place], '-infinity'),
                                        coalesce(p_after_ids[level.place], '00000000-0000-0000-0000-000000000000'))
                                 and (m.expires_at is null or m.expires_at > v_now)
                               order by m.next_attempt_at, m.id
                               limit want.places
                                 for update skip locked) r
                        limit want.places) f
                 where want.topic <> all (v_paused)
                 limit v_most - cardinality(v_keyed)) s
         where p_each or s.before is null or s.before < v_bytes);
    if cardinality(v_ids) = 0 then
    end if;
    if p_each then
        for v_found in
            select m.id, m.topic, octet_length(m.payload) as size
              from unnest(v_ids) with ordinality as p (id, number)
              join "windlass"."inbox" m on m.id = p.id
             order by p.number
        loop
            exit when cardinality(v_taken) >= p_limit or v_size >= p_bytes;
            continue when coalesce((v_counts ->> v_found.topic)::integer, 0)
                          >= v_allowed[array_position(v_topics, v_found.topic)];
            begin
                update "windlass"."inbox" m
                   set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
                       next_attempt_at = least(m.next_attempt_at, v_proved)
                 where m.id = v_found.id;
                v_taken := v_taken || v_found.id;
                v_counts := v_counts || jsonb_build_object(v_found.topic, coalesce((v_counts ->> v_found.topic)::integer, 0) + 1);
                v_size := v_size + v_found.size;
            exception when others or assert_failure then
                v_refused := v_found.id;
            end;
        end loop;
        v_ids := case when cardinality(v_taken) = 0 and v_refused is not null then array[v_refused] else v_taken end;
    end if;
    if v_limited && v_topics then
        perform "windlass"."inbox_note_starts"(v_ids, v_limited, v_now);
    end if;
    return query
    update "windlass"."inbox" m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
           next_attempt_at = least(m.next_attempt_at, v_proved)
     where m.id = any (v_ids)
    returning m.*; -- once more for those that were taken one by one; and if all were refused, it fails in the words of who refuses
end
$sql$;

-- How many of these topics may be claimed, where they have limits. Whoever learns it holds the rows of the limits until its commit, so that
-- the next one counts what it has taken. A topic whose row somebody else holds for longer than a moment gets no place now.
create or replace function "windlass"."inbox_limited_places"(p_topics text[], p_places integer[], p_limited text[]) returns integer[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '20ms'
as $sql$
declare
    v_places integer[] := p_places;
    v_topic  text;
    v_limit  "windlass".windlass_topic;
    v_now    timestamptz;
    v_room   integer;
begin
    for v_topic in select l.topic from unnest(p_limited) as l (topic) where l.topic = any (p_topics) order by l.topic loop
        begin
            select t.* into v_limit from "windlass".windlass_topic t where t.queue = 'inbox' and t.topic = v_topic for update;
        exception
            when lock_not_available then
                v_places[array_position(p_topics, v_topic)] := 0;
                continue;
        end;
        if current_setting('transaction_isolation') <> 'read committed' then -- no new snapshot: who counts with an old one has to fail
            update "windlass".windlass_topic t set topic = t.topic where t.queue = 'inbox' and t.topic = v_topic;
        end if;
        v_now := clock_timestamp();
        v_room := v_places[array_position(p_topics, v_topic)];
        if v_limit.max_running is not null then
            v_room := least(v_room, v_limit.max_running - cardinality("windlass"."inbox_in_progress"(v_topic, v_now)));
        end if;
        if v_limit.rate is not null then
            delete from "windlass".windlass_start s
             where s.queue = 'inbox' and s.topic = v_topic and s.started_at <= v_now - v_limit.rate_period;
            v_room := least(v_room, v_limit.rate - (select coalesce(sum(s.messages), 0)
                                                      from "windlass".windlass_start s
                                                     where s.queue = 'inbox' and s.topic = v_topic));
        end if;
        v_places[array_position(p_topics, v_topic)] := greatest(v_room, 0);
    end loop;
    return v_places;
end
$sql$;

-- The messages of a topic that are in progress. Those whose lease has run out are not: their rows are locked, so that no renewal that is
-- under way can bring them back. One that cannot be locked is being renewed, or ends; it counts.
create or replace function "windlass"."inbox_in_progress"(p_topic text, p_now timestamptz) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_live    uuid[];
    v_expired uuid[];
begin
    select coalesce(array_agg(m.id) filter (where m.locked_until > p_now), '{}'), array_agg(m.id) filter (where m.locked_until <= p_now)
      into v_live, v_expired
      from "windlass"."inbox" m
     where m.status = 1 and m.locked_until > p_now - interval '10 minutes' and m.topic = p_topic; -- no renewal takes that long
    if v_expired is not null then
        v_live := v_live || array(
            select unnest(v_expired)
            except
            select unnest(array(select m.id
                                  from "windlass"."inbox" m
                                 where m.id = any (v_expired) and (m.locked_until <= p_now or m.locked_until is null)
                                   for update skip locked)));
    end if;
    return v_live;
end
$sql$;

-- Notes what begins of topics that have a rate; their limits are locked.
create or replace function "windlass"."inbox_note_starts"(p_ids uuid[], p_limited text[], p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    insert into "windlass".windlass_start (queue, topic, started_at, messages)
    select 'inbox', m.topic, p_now, count(*)
      from "windlass"."inbox" m
     where m.id = any (p_ids)
       and m.topic in (select t.topic
                         from "windlass".windlass_topic t
                        where t.queue = 'inbox' and t.topic = any (p_limited) and t.rate is not null)
     group by m.topic;
end
$sql$;

-- The topics that have ready messages, due or not: one step in the index for each.
create or replace function "windlass"."inbox_ready_topics"() returns setof text
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with recursive step (topic) as (
        (select m.topic
           from "windlass"."inbox" m
          where m.status = 0 and not m.keyed and m.topic is not null
          order by m.topic
          limit 1)
        union all
        select (select m.topic
                  from "windlass"."inbox" m
                 where m.status = 0 and not m.keyed and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
end
$sql$;

-- How many milliseconds until the next ready message of these topics is due, at most a day; zero or less when one is due
-- now, null when there is none. The bounds are those of claim.
create or replace function "windlass"."inbox_next_due"(
    p_topics     text[],
    p_after_ats  timestamptz[],
    p_after_ids  uuid[],
    p_priorities integer[] default array[4]
) returns bigint
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_due bigint;
begin
    v_due := (
        select ceil(extract(epoch from min(least(f.next_attempt_at, v_now + interval '1 day')) - v_now) * 1000)
          from unnest(p_topics) with ordinality as want (topic, number)
         cross join unnest(p_priorities) with ordinality as level (priority, number)
         cross join lateral (
               select m.next_attempt_at
                 from "windlass"."inbox" m
                where m.status = 0
                  and not m.keyed
                  and m.topic = want.topic
                  and m.priority = level.priority
                  and (m.next_attempt_at, m.id) > (p_after_ats[(want.number - 1) * cardinality(p_priorities) + level.number],
                                                   p_after_ids[(want.number - 1) * cardinality(p_priorities) + level.number])
                  and (m.expires_at is null or m.expires_at > v_now)
                order by m.next_attempt_at, m.id
                limit 1) f
         where want.topic not in (select t.topic
                                    from "windlass".windlass_topic t
                                   where t.queue = 'inbox' and t.paused_at is not null));
    return v_due;
end
$sql$;

-- What there is to do in this queue, for whoever has nothing to do and would rather not ask one question after the other. It changes
-- nothing and waits for nobody, not even for one who rewrites the table, so that one statement can ask it of all queues. Without
-- p_topics it does not look for due messages; with p_others it also names the topics besides these that have ready ones.
create or replace function "windlass"."inbox_look"(p_topics text[] default null, p_others boolean default false)
    returns "windlass".windlass_look
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '100ms'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_look "windlass".windlass_look;
begin
    if p_topics is not null then
        v_look.due_in := "windlass"."inbox_next_due"(
            p_topics, array_fill('-infinity'::timestamptz, array[cardinality(p_topics) * cardinality(array[4])]),
            array_fill('00000000-0000-0000-0000-000000000000'::uuid, array[cardinality(p_topics) * cardinality(array[4])]));
    end if;
    v_look.expires_in := (select ceil(extract(epoch from least(m.expires_at, v_now + interval '1 day') - v_now) * 1000)
                            from "windlass"."inbox" m
                           where m.status in (0, 4) and m.expires_at is not null
                           order by m.expires_at
                           limit 1);
    v_look.leased := exists (select from "windlass"."inbox" m where m.status = 1 and m.locked_until is not null);
    if p_others and p_topics is not null then
        v_look.others := array(select t.topic from "windlass"."inbox_ready_topics"() as t (topic) except select unnest(p_topics));
    end if;
    v_look.leased := v_look.leased or exists (select from "windlass"."inbox" m where m.status = 4);
    return v_look;
end
$sql$;

-- Ends messages whose expiry has passed as failed, ready ones and such that wait for their turn. Returns how many.
create or replace function "windlass"."inbox_expire"(p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[];
begin
    v_ids := array(select r.id
                     from "windlass"."inbox" r
                    where r.status in (0, 4) and r.expires_at is not null and r.expires_at <= v_now
                    order by r.expires_at
                    limit p_limit
                      for update skip locked);
    return "windlass"."inbox_maintain"('expire', v_ids);
end
$sql$;

-- Deletes what has been done or cancelled for longer than p_keep. Returns how many.
create or replace function "windlass"."inbox_clean"(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
as $sql$
begin
    return (select c.deleted from "windlass"."inbox_clean_after"(p_keep, p_limit, '-infinity') c);
end
$sql$;

-- The same for those who delete many in a row: of what is done, it looks only at what ended at p_after or later, and tells how far it has
-- come. Under an open snapshot the entries of what has been deleted stay in the index, and whoever begins at the start steps over
-- them. What was locked, or was committed very late, is left behind: begin at the start now and then.
create or replace function "windlass"."inbox_clean_after"(
    p_keep  interval,
    p_limit integer,
    p_after timestamptz,
    out deleted integer,
    out reached timestamptz
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_ids    uuid[];
begin
    select coalesce(array_agg(l.id), '{}'), max(l.ended_at)
      into v_ids, reached
      from (select r.id, r.ended_at
              from "windlass"."inbox" r
             where r.status = 2 and r.id is not null and r.ended_at >= p_after and r.ended_at < v_before
             order by r.ended_at
             limit p_limit
               for update skip locked) l;
    v_ids := v_ids || array(select r.id
                              from "windlass"."inbox" r
                             where r.status = 5 and r.id is not null and r.ended_at < v_before
                             order by r.ended_at
                             limit p_limit - cardinality(v_ids)
                               for update skip locked);
    deleted := "windlass"."inbox_maintain"('clean', v_ids);
end
$sql$;

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
create or replace function "windlass"."inbox_ack"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text default null,
    p_keep         boolean default true,
    p_notify       boolean default true,
    p_again        boolean default true
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."inbox_change_held"(case when p_keep then 'ack' else 'delete' end, p_ids, p_owners,
                                        p_processed_by => p_processed_by, p_notify => p_notify, p_again => p_again);
end
$sql$;

-- Returns messages to ready after a failed attempt, which is counted and kept in the history unless p_counted says otherwise. A
-- null delay means min(2^retry_count s, 60 s).
create or replace function "windlass"."inbox_abandon"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_delays       interval[] default null,
    p_errors       text[] default null,
    p_processed_by text default null,
    p_counted      boolean[] default null
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_delays), cardinality(p_errors), cardinality(p_counted));
    return "windlass"."inbox_change_held"('abandon', p_ids, p_owners, p_processed_by => p_processed_by, p_delays => p_delays,
                                        p_errors => p_errors, p_flags => p_counted);
end
$sql$;

-- Returns messages to ready without counting an attempt: the owner is shutting down or cannot handle them. Other nodes are
-- told.
create or replace function "windlass"."inbox_release"(
    p_ids    uuid[],
    p_owners uuid[],
    p_delay  interval default '0 s'
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."inbox_change_held"('release', p_ids, p_owners, p_delays => array[p_delay]);
end
$sql$;

-- Ends messages as failed; they are not claimed again. Under an ordering key, the others wait until it is requeued, purged or
-- passed over, unless p_block says otherwise.
create or replace function "windlass"."inbox_fail"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_errors       text[] default null,
    p_processed_by text default null,
    p_block        boolean[] default null,
    p_notify       boolean default true
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_errors), cardinality(p_block));
    return "windlass"."inbox_change_held"('fail', p_ids, p_owners, p_processed_by => p_processed_by, p_errors => p_errors,
                                        p_flags => p_block, p_notify => p_notify);
end
$sql$;

-- Renews the leases that have not run out.
create or replace function "windlass"."inbox_heartbeat"(
    p_ids    uuid[],
    p_owners uuid[],
    p_lease  interval
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lease(p_lease);
    return "windlass"."inbox_change_held"('heartbeat', p_ids, p_owners, p_delays => array[p_lease], p_leave => true);
end
$sql$;

-- Writes down that the handlers of these messages start now. If their lease runs out after that, it is held against them.
create or replace function "windlass"."inbox_start"(
    p_ids    uuid[],
    p_owners uuid[]
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."inbox_change_held"('start', p_ids, p_owners, p_leave => true);
end
$sql$;

-- Gives back all that a claim took whose answer was lost or could not be read: to ready, without counting an attempt, or, with
-- a reason why it cannot be read, as failed. Tells how many, and how many are left because somebody has them locked, or because
-- they are refused: ask for them again. None at all may mean that the claim is not committed yet.
create or replace function "windlass"."inbox_give_back"(
    p_owner uuid,
    p_error text default null,
    out given       integer,
    out left_locked integer
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_ids uuid[] := array(select m.id
                            from "windlass"."inbox" m
                           where m.status = 1 and m.locked_until > clock_timestamp() and m.owner_token = p_owner);
begin
    given := 0;
    left_locked := 0;
    if cardinality(v_ids) > 0 then
        select s.changed, cardinality(s.locked)
          into given, left_locked
          from "windlass"."inbox_change_held"(case when p_error is null then 'release' else 'fail' end, v_ids, array[p_owner],
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
create or replace function "windlass"."inbox_change_held"(
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
) returns "windlass".windlass_answer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
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
    v_answer  "windlass".windlass_answer;
begin
    if cardinality(p_ids) <> cardinality(v_owners) then
        raise exception 'expected one owner, or one for each of % messages, got %', cardinality(p_ids), cardinality(p_owners)
            using errcode = 'invalid_parameter_value', hint = 'Give the owner tokens in the order of the ids.';
    end if;
    if p_leave then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    end if;
    begin
        v_done := "windlass"."inbox_change_all"(p_verb, p_ids, p_ids, v_owners, p_processed_by, p_delays, p_errors, p_flags, p_notify,
                                          p_pass_on);
    exception
        when others or assert_failure then
            if sqlstate <> '55P03' and not p_leave then
                raise;
            end if;
            v_done := '{}';
            v_free := array(select m.id from "windlass"."inbox" m where m.id = any (p_ids) order by m.id for update skip locked);
            foreach v_awaited in array array[false, true] loop
                v_part := array(select m.id from "windlass"."inbox" m where m.id = any (v_free) and m.awaited = v_awaited);
                begin
                    v_done := v_done || "windlass"."inbox_change_all"(p_verb, v_part, p_ids, v_owners, p_processed_by, p_delays,
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
                    v_done := v_done || "windlass"."inbox_change_all"(p_verb, array[v_id], p_ids, v_owners, p_processed_by, p_delays,
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
                v_done := "windlass"."inbox_change_all"(p_verb, array[v_refused], p_ids, v_owners, p_processed_by, p_delays, p_errors,
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
                  left join "windlass"."inbox" m on m.id = c.id and m.id = any (p_ids)) e;
    else
        v_answer := (cardinality(v_done), '{}', '{}');
    end if;
    return v_answer;
end
$sql$;

-- Changes those of p_only that their owners hold; what is said of each stands in the order of p_ids. Fails if somebody holds a
-- row for longer than a moment, or, where p_patient says that the caller has locked them, than a second. Returns the ids that it changed.
create or replace function "windlass"."inbox_change_all"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
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
                update "windlass"."inbox" m
                   set status = 2, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited)
            select coalesce(array_agg(done.id), '{}'), array_agg(done.id) filter (where done.awaited)
              into v_ids, v_awaited from done;
            if v_awaited is not null then
                perform "windlass"."inbox_ended"(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
            end if;
        when 'delete' then
            v_ids := '{}';
            if p_pass_on then -- else all of them are awaited, as a rule
                with done as (
                    delete from "windlass"."inbox" m
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
                          join "windlass"."inbox" m on m.id = c.id
                         where m.id = any (p_only) and m.owner_token = c.owner_token and m.locked_until is not null
                           for update of m) l;
                if v_awaited is not null then
                    perform "windlass"."inbox_ended"(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
                    delete from "windlass"."inbox" m where m.id = any (v_awaited);
                    v_ids := v_ids || v_awaited;
                end if;
            end if;
            if v_tried is not null then
                delete from "windlass"."inbox_failure" h where h.message_id = any (v_tried);
            end if;
            perform "windlass".windlass_join_note_done(v_ids);
        when 'abandon' then
            perform pg_current_xact_id();
            with failed as (
                update "windlass"."inbox" m
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
                insert into "windlass"."inbox_failure" (message_id, failed_at, attempt, node, error)
                select failed.id, clock_timestamp(), failed.attempt, left(p_processed_by, 100), left(failed.error, 2048)
                  from failed
                 where failed.counted)
            select coalesce(array_agg(failed.id), '{}') into v_ids from failed;
        when 'release' then
            perform pg_current_xact_id();
            with released as (
                update "windlass"."inbox" m
                   set status = 0, owner_token = null, locked_until = null,
                       next_attempt_at = greatest(
                           clock_timestamp() + coalesce(p_delays[1], interval '0'),
                           case when m.next_attempt_at > m.claimed_at then m.next_attempt_at end) -- put off by a trigger of the user's
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id)
            select coalesce(array_agg(released.id), '{}') into v_ids from released;
            if cardinality(v_ids) > 0 then
                perform pg_notify('windlass.windlass.inbox', 'ready');
            end if;
        when 'fail' then
            with ended as (
                update "windlass"."inbox" m
                   set status = 3, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by,
                       last_error = coalesce(left(c.error, 2048), m.last_error)
                  from (select * from unnest(p_ids, p_owners, p_errors) as u (id, owner_token, error) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited, m.ended_at, m.retry_count, c.error),
            recorded as (
                insert into "windlass"."inbox_failure" (message_id, failed_at, attempt, node, error)
                select ended.id, ended.ended_at, ended.retry_count + 1, left(p_processed_by, 100), left(ended.error, 2048)
                  from ended)
            select coalesce(array_agg(ended.id), '{}'), array_agg(ended.id) filter (where ended.awaited)
              into v_ids, v_awaited from ended;
            if v_awaited is not null then
                perform "windlass"."inbox_ended"(
                    v_awaited, 3::smallint,
                    array(select u.id from unnest(p_ids, p_flags) as u (id, block) where u.block is not false),
                    p_pass_on, p_notify);
            end if;
        when 'heartbeat' then
            with kept as (
                update "windlass"."inbox" m
                   set locked_until = clock_timestamp() + p_delays[1]
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token
                   and m.locked_until > clock_timestamp()
                returning m.id)
            select coalesce(array_agg(kept.id), '{}') into v_ids from kept;
        when 'start' then
            with begun as (
                update "windlass"."inbox" m
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
create or replace function "windlass"."inbox_reap"(
    p_quiet   interval,
    p_limit   integer default 1000,
    p_watched boolean default false
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer;
begin
    if v_now < pg_postmaster_start_time() + p_quiet
       or p_watched and not "windlass"."inbox_is_calm"(p_quiet) then
        return 0;
    end if;
    v_count := "windlass"."inbox_maintain"('reap', array(
        select r.id
          from "windlass"."inbox" r
         where r.status = 1 and r.id is not null and r.locked_until <= v_now
         order by r.locked_until
         limit p_limit
           for update skip locked));
    if v_count > 0 then
        perform pg_notify('windlass.windlass.inbox', 'ready');
    end if;
    return v_count;
end
$sql$;

-- What has to be done to messages that the caller has locked: reap, expire or clean; see windlass_each. Returns how many.
create or replace function "windlass"."inbox_maintain"(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
as $sql$
begin
    return "windlass".windlass_each(
        'select ' || $name$"windlass"."inbox_maintain_all"$name$ || '(' || quote_literal(p_verb) || ', $1::uuid[])', p_ids::text[]);
end
$sql$;

create or replace function "windlass"."inbox_maintain_all"(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids   uuid[];
    v_count integer;
begin
    case p_verb
        when 'reap' then
            with reaped as (
                update "windlass"."inbox" m
                   set status = 0, owner_token = null, locked_until = null, lease_expiries = m.lease_expiries + 1,
                       crashes = least(m.crashes + m.started::integer, 32767), next_attempt_at = clock_timestamp()
                 where m.id = any (p_ids)
                returning m.id, m.next_attempt_at, m.retry_count),
            recorded as (
                insert into "windlass"."inbox_failure" (message_id, failed_at, attempt, error)
                select reaped.id, reaped.next_attempt_at, reaped.retry_count + 1, 'its lease ran out' from reaped)
            select coalesce(array_agg(reaped.id), '{}') into v_ids from reaped;
            v_count := cardinality(v_ids);
        when 'expire' then
            v_count := "windlass"."inbox_end_unclaimed"(p_ids, 3::smallint, 'expired before it was handled');
        when 'clean' then
            v_count := "windlass"."inbox_remove"(p_ids);
    end case;
    return v_count;
end
$sql$;

-- Deletes messages that the caller has locked, with their history. Returns how many.
create or replace function "windlass"."inbox_remove"(p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_count integer;
    v_tried uuid[];
begin
    perform "windlass"."inbox_note_gone"(p_ids);
    p_ids := "windlass"."inbox_delete_seen"(p_ids);
    with removed as (
        delete from "windlass"."inbox" m
         where m.id = any (p_ids)
        returning m.id, m.status = 3 or m.retry_count + m.lease_expiries + m.requeues > 0 as tried)
    select count(*), array_agg(removed.id) filter (where removed.tried) into v_count, v_tried from removed;
    if v_tried is not null then
        delete from "windlass"."inbox_failure" h where h.message_id = any (v_tried);
    end if;
    return v_count;
end
$sql$;

-- Does what has to be done when messages end for which something has to be done (awaited), in the same transaction. Called after
-- their rows have been changed, or locked and not deleted yet.
create or replace function "windlass"."inbox_ended"(
    p_ids      uuid[],
    p_status   smallint,
    p_blocking uuid[],
    p_pass_on  boolean,
    p_notify   boolean
) returns void
    language plpgsql
as $sql$
begin
    perform "windlass"."inbox_joined_ended"(p_ids, p_status);
    if not p_pass_on then
        delete from "windlass"."inbox" m where m.id = any (p_ids);
    end if;
end
$sql$;

-- Ends messages that nobody has claimed; the caller has locked them. Returns how many.
create or replace function "windlass"."inbox_end_unclaimed"(p_ids uuid[], p_status smallint, p_reason text) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_waiting uuid[] := array(select m.id from "windlass"."inbox" m where m.id = any (p_ids) and m.status + 0 = 4);
    v_count   integer;
    v_awaited uuid[];
begin
    with ended as (
        update "windlass"."inbox" m
           set status = p_status, ended_at = clock_timestamp(), last_error = coalesce(p_reason, m.last_error)
         where m.id = any (p_ids)
        returning m.id, m.awaited)
    select count(*), array_agg(ended.id) filter (where ended.awaited) into v_count, v_awaited from ended;
    if v_awaited is not null then
        perform "windlass"."inbox_ended"(array(select unnest(v_awaited) except select unnest(v_waiting)), p_status, '{}', true, true);
        perform "windlass"."inbox_ended"(array(select unnest(v_awaited) intersect select unnest(v_waiting)), p_status, '{}', false,
                                       true);
    end if;
    return v_count;
end
$sql$;

-- Whether living owners have had the time to renew: somebody has been here again and again, and the last interruption lies
-- p_quiet back. Owners renew every third of a lease; so after two thirds without anybody, leases may have run out for no fault
-- of theirs. A server that was away, or has just become the primary, was not here. A clock that was set back is an interruption,
-- too; what was noted by the clock before does not count.
create or replace function "windlass"."inbox_is_calm"(p_quiet interval) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_watch "windlass".windlass_watch;
begin
    select w.* into v_watch from "windlass".windlass_watch w where w.queue = 'inbox';
    if v_watch.seen_at between v_now - p_quiet / 10 and v_now + p_quiet then
        return v_watch.quiet_until <= v_now;
    end if;
    perform 1 from "windlass".windlass_watch w where w.queue = 'inbox' for update skip locked;
    if found then -- else whoever has it locked is here, too
        update "windlass".windlass_watch w
           set seen_at = v_now,
               quiet_until = case when w.seen_at between v_now - p_quiet * 2 / 3 and v_now + p_quiet then w.quiet_until
                                  else v_now + p_quiet end
         where w.queue = 'inbox'
        returning w.* into v_watch;
    end if;
    return v_watch.quiet_until <= v_now;
end
$sql$;

-- Locks those of the ids that are in one of these states. Whoever has one locked is waited for, in the order of the ids and with none
-- locked that is not in these states, so that two who want the same cannot deadlock; and a message that has left them meanwhile is
-- not kept locked, as PostgreSQL would: its owner could not renew it.
create or replace function "windlass"."inbox_lock"(p_ids uuid[], p_states integer[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
    v_id  uuid;
begin
    begin
        v_ids := array(select m.id
                         from "windlass"."inbox" m
                        where m.id = any (p_ids) and m.status + 0 = any (p_states)
                        order by m.id
                          for update skip locked);
        if not exists (select
                         from "windlass"."inbox" m
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
                select m.id from "windlass"."inbox" m where m.id = any (p_ids) and m.status + 0 = any (p_states) order by m.id
            loop
                perform 1 from "windlass"."inbox" m where m.id = v_id and m.status + 0 = any (p_states) for update;
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

insert into "windlass".windlass_watch (queue, seen_at, quiet_until)
values ('inbox', clock_timestamp(), '-infinity')
on conflict do nothing;

-- What programs and operators do to messages of a queue that nobody is handling. What an operator does is recorded in the same
-- transaction: who, when, what, and to how many messages.

-- One message, in whatever state.
create or replace function "windlass"."inbox_find"(p_id uuid) returns setof "windlass"."inbox"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query select m.* from "windlass"."inbox" m where m.id = p_id;
end
$sql$;

-- The attempts of a message that failed, the oldest first.
create or replace function "windlass"."inbox_failures"(p_id uuid) returns setof "windlass"."inbox_failure"
    language plpgsql
    stable
as $sql$
begin
    return query select h.* from "windlass"."inbox_failure" h where h.message_id = p_id order by h.failed_at;
end
$sql$;

-- Ends messages that nobody has claimed as cancelled; they are gone at once unless p_keep says otherwise. Returns how many;
-- others, claimed or ended, stay as they are.
create or replace function "windlass"."inbox_cancel"(p_ids uuid[], p_keep boolean default true) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."inbox_lock"(p_ids, array[0, 4]);
    if p_keep or exists (select from "windlass"."inbox" m where m.id = any (v_ids) and m.awaited) then
        perform "windlass"."inbox_end_unclaimed"(v_ids, 5::smallint, null);
    end if;
    if not p_keep and "windlass"."inbox_remove"(v_ids) < cardinality(v_ids) then -- what cannot be deleted now is cancelled all the same
        perform "windlass"."inbox_end_unclaimed"(
            array(select m.id from "windlass"."inbox" m where m.id = any (v_ids) and m.status + 0 in (0, 4)), 5::smallint, null);
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Moves the due time of messages that nobody has claimed: to p_due_at, or p_delay from now, or now. Returns how many.
create or replace function "windlass"."inbox_reschedule"(
    p_ids    uuid[],
    p_due_at timestamptz default null,
    p_delay  interval default null,
    p_notify boolean default true
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
    v_now timestamptz;
    v_due timestamptz;
begin
    perform "windlass".windlass_check_ids(p_ids);
    perform "windlass".windlass_check_times(p_due_at, p_delay);
    v_ids := "windlass"."inbox_lock"(p_ids, array[0, 4]);
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    v_due := coalesce(p_due_at, v_now + p_delay, v_now);
    update "windlass"."inbox" m
       set due_at = v_due, next_attempt_at = greatest(v_now, v_due)
     where m.id = any (v_ids);
    if p_notify and cardinality(v_ids) > 0 then
        perform pg_notify('windlass.windlass.inbox', 'ready');
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
create or replace function "windlass"."inbox_list"(
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
) returns setof "windlass"."inbox_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
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
    if p_status = 4 then
        return query
        select m.*
          from "windlass"."inbox_listed" m
         where m.status = 4
           and m.created_at >= v_from and m.created_at < v_until and (m.created_at, m.id) > (v_after, v_first)
           and (p_topic is null or m.topic = p_topic)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.created_at, m.id
         limit p_limit;
        return;
    end if;
    if p_status is null then
        return query
        select m.*
          from "windlass"."inbox_listed" m
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
          from unnest(case when p_topic is null then array(select distinct "windlass"."inbox_ready_topics"()) else array[p_topic] end) t (topic)
         cross join unnest(array[4]) level (priority)
         cross join lateral (
               select m.*
                 from "windlass"."inbox_listed" m
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
          from "windlass"."inbox_listed" m
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
          from "windlass"."inbox_listed" m
         where m.status = 3 and m.topic = p_topic
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    else
        return query
        select m.*
          from "windlass"."inbox_listed" m
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
create or replace function "windlass"."inbox_pick_failed"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := "windlass".windlass_action_until(p_action, p_until);
    v_ids   uuid[];
begin
    perform "windlass".windlass_check_choice(p_by, p_ids, coalesce(p_topic, p_source, p_from::text, p_until::text, p_error) is not null,
                                           p_limit, p_all);
    if p_ids is not null then
        v_ids := "windlass"."inbox_lock"(p_ids, array[3]);
        return array(select m.id from "windlass"."inbox" m where m.id = any (v_ids) and (m.erased_at is null or not p_whole));
    elsif p_topic is not null then
        return array(select m.id
                       from "windlass"."inbox" m
                      where m.status = 3 and m.topic = p_topic and m.ended_at >= v_from and m.ended_at < v_until
                        and (p_source is null or m.source = p_source)
                        and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                        and (m.erased_at is null or not p_whole)
                      order by m.ended_at, m.id
                      limit p_limit
                        for update skip locked);
    end if;
    return array(select m.id
                   from "windlass"."inbox" m
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
create or replace function "windlass"."inbox_requeue"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now     timestamptz;
    v_ids     uuid[];
    v_waiting uuid[] := '{}';
begin
    v_ids := "windlass"."inbox_pick_failed"(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, true);
    messages := cardinality(v_ids);
    reached := (select max(m.ended_at) from "windlass"."inbox" m where m.id = any (v_ids));
    perform pg_current_xact_id();
    perform "windlass"."inbox_joined_reopened"(v_ids);
    v_now := clock_timestamp();
    update "windlass"."inbox" m
       set status = case when m.id = any (v_waiting) then 4 else 0 end, owner_token = null,
           next_attempt_at = greatest(v_now, m.due_at), ended_at = null, processed_by = null, lease_expiries = 0, crashes = 0,
           retry_count = case when p_reset then 0 else m.retry_count end,
           requeues = least(m.requeues + 1, 32767),
           expires_at = case when m.expires_at > v_now then m.expires_at end
     where m.id = any (v_ids);
    if messages > 0 then
        perform pg_notify('windlass.windlass.inbox', 'ready');
    end if;
    action := "windlass".windlass_record('inbox', p_action, p_by, 'requeue', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error,
                                     'reset', p_reset));
    return next;
end
$sql$;

-- Deletes failed messages and their history. Otherwise as requeue.
create or replace function "windlass"."inbox_purge"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    v_ids := "windlass"."inbox_pick_failed"(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, false);
    reached := (select max(m.ended_at) from "windlass"."inbox" m where m.id = any (v_ids));
    messages := "windlass"."inbox_remove"(v_ids);
    action := "windlass".windlass_record('inbox', p_action, p_by, 'purge', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error));
    return next;
end
$sql$;

-- Removes payload and headers of messages that have ended; everything else stays. Returns how many.
create or replace function "windlass"."inbox_erase"(p_by text, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    perform "windlass".windlass_check_by(p_by);
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."inbox_lock"(p_ids, array[2, 3, 5]);
    v_ids := array(select m.id from "windlass"."inbox" m where m.id = any (v_ids) and m.erased_at is null);
    update "windlass"."inbox" m set payload = '', headers = null, erased_at = clock_timestamp() where m.id = any (v_ids);
    perform "windlass".windlass_record('inbox', null, p_by, 'erase', cardinality(v_ids), p_ids, '{}');
    return cardinality(v_ids);
end
$sql$;

-- Stops claims of a topic, everywhere; handlers that are at work finish. Returns whether it was not paused before.
create or replace function "windlass"."inbox_pause_topic"(p_by text, p_topic text, p_reason text default null) returns boolean
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    if p_topic is null or btrim(p_topic) = '' then
        perform "windlass".windlass_refuse('a topic', case when p_topic is null then 'null' else 'blank text' end,
                                         'Topics are paused one by one.');
    end if;
    insert into "windlass".windlass_topic as t (queue, topic, paused_at, paused_by, reason)
    values ('inbox', p_topic, clock_timestamp(), p_by, nullif(left(p_reason, 2048), ''))
    on conflict (queue, topic) do update
       set paused_at = excluded.paused_at, paused_by = excluded.paused_by, reason = excluded.reason
     where t.paused_at is null;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('inbox', null, p_by, 'pause', 0, null, jsonb_build_object('topic', p_topic, 'reason', p_reason));
    perform pg_notify('windlass.windlass.inbox', 'topics');
    return true;
end
$sql$;

-- Lets a topic be claimed again. Returns whether it was paused.
create or replace function "windlass"."inbox_resume_topic"(p_by text, p_topic text) returns boolean
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    delete from "windlass".windlass_topic t
     where t.queue = 'inbox' and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) = 0;
    if not found then
        update "windlass".windlass_topic t
           set paused_at = null, paused_by = null, reason = null
         where t.queue = 'inbox' and t.topic = p_topic and t.paused_at is not null;
    end if;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('inbox', null, p_by, 'resume', 0, null, jsonb_build_object('topic', p_topic));
    perform pg_notify('windlass.windlass.inbox', 'topics');
    return true;
end
$sql$;

-- Limits a topic over all nodes: how many are in progress at once, how many of each key, and how many begin within any time of this
-- length. What is left out is not limited. Whatever is in progress goes on. Returns whether that is a change.
create or replace function "windlass"."inbox_limit_topic"(
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
    perform "windlass".windlass_check_by(p_by);
    perform "windlass".windlass_check_limit(p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period);
    if p_max_per_key is not null and not false then
        perform "windlass".windlass_refuse('a limit without p_max_per_key, since messages of ' || 'inbox' || ' have no keys',
                                         p_max_per_key::text, 'Leave p_max_per_key out.');
    end if;
    if num_nonnulls(p_max_running, p_max_per_key, p_rate) > 0 then
        insert into "windlass".windlass_topic as t (queue, topic, max_running, max_per_key, rate, rate_period)
        values ('inbox', p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period)
        on conflict (queue, topic) do update
           set max_running = excluded.max_running, max_per_key = excluded.max_per_key, rate = excluded.rate,
               rate_period = excluded.rate_period
         where (t.max_running, t.max_per_key, t.rate, t.rate_period)
               is distinct from (excluded.max_running, excluded.max_per_key, excluded.rate, excluded.rate_period);
    else
        delete from "windlass".windlass_topic t where t.queue = 'inbox' and t.topic = p_topic and t.paused_at is null;
        if not found then
            update "windlass".windlass_topic t
               set max_running = null, max_per_key = null, rate = null, rate_period = null
             where t.queue = 'inbox' and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0;
        end if;
    end if;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('inbox', null, p_by, 'limit', 0, null,
                jsonb_build_object('topic', p_topic, 'running', p_max_running, 'perKey', p_max_per_key, 'rate', p_rate,
                                   'period', p_rate_period));
    perform pg_notify('windlass.windlass.inbox', 'topics');
    return true;
end
$sql$;

-- The topics that are paused or limited.
create or replace function "windlass"."inbox_decided_topics"() returns table (
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
      from "windlass".windlass_topic t
     where t.queue = 'inbox'
     order by t.topic;
end
$sql$;

-- What operators did, the latest first. The next page begins before the last one's number.
create or replace function "windlass"."inbox_actions"(p_limit integer, p_before bigint default null)
    returns setof "windlass".windlass_action
    language plpgsql
    stable
as $sql$
begin
    return query
    select a.*
      from "windlass".windlass_action a
     where a.queue = 'inbox' and (p_before is null or a.id < p_before)
     order by a.id desc
     limit p_limit;
end
$sql$;

-- What can be seen of a queue from outside, by whoever may read it. Nothing is claimed, locked or changed here. Each number is counted along
-- an index and up to a limit, so that it costs on a table of ten million messages what it costs on a small one.

-- How much there is of each state. No count goes beyond p_most, which then means that many or more.
--
--   ready            due now, paused or not           overdue         of these, due for more than five minutes
--   delayed          ready, and due later             oldest_ready_ms since when the oldest of these has been due
--   in_progress      leased, whether or not in time   stuck           of these, see windlass_is_stuck
--
-- With tens of thousands of topics, or with as many dead entries, not everything is looked at. Then "more_topics" is true, and there may be more
-- of what is ready, overdue and delayed, and an older one.
--
-- While a snapshot is open anywhere, the entries of what was claimed and ended stay in the indexes, and whoever begins at the oldest
-- steps over all of them. So everything here looks near to now first, in spans that grow, and ends when it has met some thousand entries
-- more than it has found: what is further away is not found then, until the snapshot is closed.
create or replace function "windlass"."inbox_measure"(
    p_most integer,
    out ready           bigint,
    out delayed         bigint,
    out waiting         bigint,
    out in_progress     bigint,
    out failed          bigint,
    out overdue         bigint,
    out stuck           bigint,
    out oldest_ready_ms bigint,
    out more_topics     boolean
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    select least(coalesce(sum(p.due), 0), p_most), least(coalesce(sum(p.overdue), 0), p_most), least(coalesce(sum(p.later), 0), p_most),
           floor(extract(epoch from v_now - min(p.oldest)) * 1000), coalesce(bool_or(p.more), false)
      into ready, overdue, delayed, oldest_ready_ms, more_topics
      from "windlass"."inbox_pending"(p_most, null, v_now) p;
    select least(count(*), p_most),
           least(count(*) filter (where "windlass".windlass_is_stuck(v_now, l.claimed_at, l.locked_until, null)), p_most)
      into in_progress, stuck
      from "windlass"."inbox_leased_near"(p_most, v_now) l;
    failed := (select count(*)
                 from (select from "windlass"."inbox" m where m.status = 3 and m.ended_at is not null limit p_most) c);
    waiting := 0;
    waiting := (select count(*) from (select from "windlass"."inbox" m where m.status = 4 limit p_most) c);
    in_progress := least(in_progress + (select count(*) from (select from "windlass"."inbox_seen" s where s.status = 1 limit p_most) c), p_most);
    failed := least(failed + (select count(*) from (select from "windlass"."inbox_seen" s where s.status = 3 limit p_most) c), p_most);
    stuck := least(stuck + (select count(*)
                              from (select
                                      from "windlass"."inbox_seen" s
                                     where s.status = 1 and s.state_at <= v_now - interval '1 hour'
                                     limit p_most) c), p_most);
end
$sql$;

-- Messages in progress whose lease ends after p_since and up to p_until, those first whose lease ends or has ended near to p_now: up to p_most
-- whose lease goes on, and of others up to p_most of each span, so that many that have just run out hide none that did so long ago.
create or replace function "windlass"."inbox_leased_near"(
    p_most  integer,
    p_now   timestamptz,
    p_since timestamptz default '-infinity',
    p_until timestamptz default 'infinity'
)
    returns table (id uuid, topic varchar, retry_count integer, lease_expiries integer, claimed_at timestamptz, locked_until timestamptz)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_span record;
    v_end  bigint;
    v_left integer;
    v_rows integer;
begin
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.since >= p_since and s.until <= p_until loop
        if v_end is null or v_span.until = p_now then -- so much for what is to come, and for what is past
            v_end := pg_stat_get_xact_tuples_returned($name$"windlass"."inbox_leased"$name$::regclass) + 5000 + 2 * p_most::bigint;
        end if;
        if v_left is null or v_span.until <= p_now then
            v_left := p_most;
        end if;
        continue when v_left = 0
            or pg_stat_get_xact_tuples_returned($name$"windlass"."inbox_leased"$name$::regclass) > v_end;
        return query
        select m.id, m.topic::varchar, m.retry_count::integer, m.lease_expiries::integer, m.claimed_at::timestamptz,
               m.locked_until::timestamptz
          from "windlass"."inbox" m
         where m.status = 1 and m.locked_until > v_span.since and m.locked_until <= v_span.until
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many ready messages there are: due, of these due for more than five minutes, due later; and since when the oldest is due. With p_topics a
-- row for each of so many topics, with up to p_most of each; else some rows for all topics, with about p_most in all. A last row says
-- with "more" that topics were left out: there are more, or a look at them would cost too much.
--
-- Topics that are much worked on have entries in the index of which nothing is left; they are counted near to now first, see due. The others
-- are taken as they come in the index, many at once: ten thousand topics of one message cost what one of ten thousand does. Where one
-- has many, it is counted alone and stepped over. What lies between topics that were lately worked on comes first: it has few entries
-- of which nothing is left. If the look ends before it has seen all, some of the rest are looked at one by one, see pending_rest.
create or replace function "windlass"."inbox_pending"(p_most integer, p_topics integer, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, more boolean)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_entries bigint  := coalesce(200 * p_topics::bigint, 20000 + p_most::bigint);
    v_topics  integer := coalesce(p_topics, 2147483647);
    v_busy    text[]  := array(select l.topic from "windlass"."inbox_lately"(p_now) l where l.is_busy);
    v_sums    bigint[] := array[0, 0, 0];
    v_from    text    := '';
    v_cut     text;
    v_size    integer;
    v_small   bigint;
    v_met     bigint;
    v_gap     record;
begin
    more := false;
    for topic, due, overdue, later, oldest in
        select case when p_topics is not null then b.topics[1] end, d.*
          from (select v_busy as topics where p_topics is null
                union all
                select array[u.topic] from unnest(v_busy) as u (topic) where p_topics is not null) b
         cross join lateral "windlass"."inbox_pending_busy"(b.topics, p_most, p_now) d loop
        v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
        v_topics := v_topics - 1;
        return next;
    end loop;
    for v_gap in select g.* from "windlass"."inbox_pending_gaps"(p_now) g loop
        v_from := v_gap.since;
        v_size := 100;
        loop
            if v_entries <= 0 or v_topics <= 0 then
                select null, 0, 0, 0, null, true into topic, due, overdue, later, oldest, more;
                if p_topics is null then
                    select r.due, r.overdue, r.later, r.oldest into due, overdue, later, oldest
                      from "windlass"."inbox_pending_rest"(v_gap.turn, v_from, p_now) r;
                end if;
                return next;
                return;
            end if;
            v_met := "windlass"."inbox_pending_met"();
            v_small := 0;
            for topic, due, overdue, later, oldest, v_cut in
                select p.* from "windlass"."inbox_pending_part"(v_from, v_gap.until, v_size, p_topics is not null, p_now) p loop
                if due + later > 0 then
                    v_small := v_small + due + later;
                    v_topics := v_topics - 1;
                    return next;
                end if;
            end loop;
            v_entries := v_entries + v_met - "windlass"."inbox_pending_met"();
            exit when v_cut is null;
            select d.* into due, overdue, later, oldest
              from "windlass"."inbox_pending_of"(v_cut, p_most, case when p_topics is null then v_sums else '{0,0,0}' end, p_now) d;
            topic := case when p_topics is not null then v_cut end;
            v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
            v_topics := v_topics - 1;
            return next;
            v_from := v_cut || E'\x01'; -- comes next
            v_size := case when v_small >= v_size / 2 then least(2 * v_size, 10000, greatest(v_topics, 100)) else 100 end;
        end loop;
    end loop;
end
$sql$;

-- The pieces in which the topics are taken that are not much worked on: from which one on, and before which one. First what lies between those
-- that were lately worked on, then these.
create or replace function "windlass"."inbox_pending_gaps"(p_now timestamptz) returns table (since text, until text, turn integer)
    language plpgsql
    stable
as $sql$
begin
    return query
    with lately as materialized (
        select l.topic collate "C" as topic, l.is_busy from "windlass"."inbox_lately"(p_now) l),
    gap as (
        select '' as since, coalesce(min(l.topic), repeat(E'\U0010ffff', 256)) as until, 1 as turn -- comes after every topic
          from lately l
         union all
        select l.topic || E'\x01', lead(l.topic, 1, repeat(E'\U0010ffff', 256)) over (order by l.topic), 1 from lately l
         union all
        select l.topic, l.topic || E'\x01', 2 from lately l where not l.is_busy)
    select g.since, g.until, g.turn from gap g order by g.turn, g.since collate "C";
end
$sql$;

-- What there is of those topics that pending has not come to, in this turn from topic p_from on: at least so much. A thousand messages are counted of
-- each of those that the statistics of the table name, the most frequent first, then of those that were lately worked on, each near to
-- now first; until 20,000 entries were met.
create or replace function "windlass"."inbox_pending_rest"(
    p_turn integer,
    p_from text,
    p_now  timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end   bigint := "windlass"."inbox_pending_met"() + 20000;
    v_topic text;
    v_found record;
begin
    due := 0;
    overdue := 0;
    later := 0;
    for v_topic in
        with lately as materialized (
            select l.topic, l.is_busy from "windlass"."inbox_lately"(p_now) l)
        select r.topic
          from (select k.topic, 1 as turn, k.place
                  from pg_class c
                  join pg_namespace n on n.oid = c.relnamespace
                  join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'topic'
                 cross join unnest(s.most_common_vals::text::text[] || s.histogram_bounds::text::text[])
                            with ordinality as k (topic, place)
                 where c.oid = $name$"windlass"."inbox"$name$::regclass
                   and k.topic not in (select l.topic from lately l)
                 union all
                select l.topic, 2, 0 from lately l where not l.is_busy) r
         where r.turn > p_turn or (r.turn = p_turn and r.topic collate "C" >= p_from)
         order by r.turn, r.place, r.topic collate "C" loop
        exit when "windlass"."inbox_pending_met"() >= v_end;
        select d.* into v_found from "windlass"."inbox_pending_busy"(array[v_topic], 1000, p_now) d;
        due := due + v_found.due;
        overdue := overdue + v_found.overdue;
        later := later + v_found.later;
        oldest := least(oldest, v_found.oldest);
    end loop;
end
$sql$;

-- Topics that were lately worked on, in their order, and which of them are those that it was most often.
create or replace function "windlass"."inbox_lately"(p_now timestamptz) returns table (topic text, is_busy boolean)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query
    select w.topic::text, row_number() over (order by count(*) desc, w.topic) <= 20
      from ((select m.topic from "windlass"."inbox" m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit 60)
            union all
            (select m.topic from "windlass"."inbox" m where m.status = 3 and m.ended_at is not null order by m.ended_at desc limit 20)
            union all
            (select l.topic from "windlass"."inbox_leased_near"(20, p_now) l limit 20)) w
     group by w.topic
     order by w.topic collate "C";
end
$sql$;

-- How many entries this transaction has met in the indexes of ready messages, with those of which nothing is left.
create or replace function "windlass"."inbox_pending_met"() returns bigint
    language plpgsql
    stable
as $sql$
declare
    v_met bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."inbox_ready"$name$::regclass);
begin
    return v_met;
end
$sql$;

-- The p_size ready messages from topic p_from on and before p_until that come first in the index, as in pending. Those of the last of these topics
-- are left out if there may be more: it is the "cut", of which every row tells. A row may be of no message. With p_each a row for each topic.
create or replace function "windlass"."inbox_pending_part"(p_from text, p_until text, p_size integer, p_each boolean, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, cut text)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with part as materialized (
        select m.topic, m.next_attempt_at
          from "windlass"."inbox" m
         where m.status = 0 and not m.keyed and m.topic >= p_from and m.topic < p_until
         order by m.topic, m.priority, m.next_attempt_at, m.id
         limit p_size)
    select case when p_each then m.topic::text end,
           count(*) filter (where m.next_attempt_at <= p_now),
           count(*) filter (where m.next_attempt_at <= p_now - interval '5 minutes'),
           count(*) filter (where m.next_attempt_at > p_now),
           min(m.next_attempt_at) filter (where m.next_attempt_at <= p_now),
           c.topic::text
      from (select case when count(*) = p_size then max(p.topic) end as topic from part p) c
      left join part m on m.topic < c.topic or c.topic is null
     group by 1, 6;
end
$sql$;

-- Ready messages of one topic, as in pending, up to p_most of each with those that were counted already.
create or replace function "windlass"."inbox_pending_of"(
    p_topic   text,
    p_most    integer,
    p_counted bigint[],
    p_now     timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_since timestamptz := p_now - interval '5 minutes';
    v_young timestamptz;
begin
    select d.messages, d.oldest into overdue, oldest
      from "windlass"."inbox_due_between"(array[p_topic], '-infinity', v_since, greatest(p_most - p_counted[2], 0)::integer) d;
    select d.messages + overdue, d.oldest into due, v_young
      from "windlass"."inbox_due_between"(array[p_topic], v_since, p_now, greatest(p_most - p_counted[1] - overdue, 0)::integer) d;
    oldest := least(oldest, v_young);
    later := (select d.messages
                from "windlass"."inbox_due_between"(array[p_topic], p_now, 'infinity', greatest(p_most - p_counted[3], 0)::integer) d);
end
$sql$;

-- The same of topics together that are much worked on.
create or replace function "windlass"."inbox_pending_busy"(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
as $sql$
begin
    select d.ready, d.overdue, d.oldest into due, overdue, oldest from "windlass"."inbox_due"(p_topics, p_most, p_now) d;
    later := (select d.messages from "windlass"."inbox_due_between"(p_topics, p_now, 'infinity', p_most) d);
end
$sql$;

-- How many ready messages of these topics are due, and how many for more than five minutes, at most p_most; and since when the oldest is.
create or replace function "windlass"."inbox_due"(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz default clock_timestamp(),
    out ready   bigint,
    out overdue bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."inbox_ready"$name$::regclass) + 5000 + 2 * p_most::bigint
                     + 12 * cardinality(p_topics) * cardinality(array[4]);
    v_old  boolean;
    v_span record;
    v_due  record;
begin
    ready := 0;
    overdue := 0;
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.until <= p_now loop
        v_old := v_span.until <= p_now - interval '5 minutes';
        select d.* into v_due
          from "windlass"."inbox_due_between"(p_topics, v_span.since, v_span.until,
                                            p_most - case when v_old then overdue else ready end::integer) d;
        ready := least(ready + v_due.messages, p_most);
        overdue := overdue + case when v_old then v_due.messages else 0 end;
        oldest := least(oldest, v_due.oldest);
        exit when pg_stat_get_xact_tuples_returned($name$"windlass"."inbox_ready"$name$::regclass) > v_end;
    end loop;
end
$sql$;

-- How many ready messages of these topics became or become due after p_since and up to p_until, at most p_most, which may be none, and when
-- the first of them does.
create or replace function "windlass"."inbox_due_between"(
    p_topics text[],
    p_since  timestamptz,
    p_until  timestamptz,
    p_most   integer,
    out messages bigint,
    out oldest   timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    messages := (select count(*)
                   from (select
                           from unnest(p_topics) as t (topic)
                          cross join unnest(array[4]) as level (priority)
                          cross join lateral (
                                select
                                  from "windlass"."inbox" m
                                 where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                                   and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                                 limit p_most) f
                          limit p_most) c);
    if messages > 0 or p_most = 0 then -- else the same entries would be gone over again, to find nothing
        oldest := (select min(f.next_attempt_at)
                     from unnest(p_topics) as t (topic)
                    cross join unnest(array[4]) as level (priority)
                    cross join lateral (
                          select m.next_attempt_at
                            from "windlass"."inbox" m
                           where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                             and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                           order by m.next_attempt_at, m.id
                           limit 1) f);
    end if;
end
$sql$;

-- Messages in progress that nobody seems to look after, the oldest first, without their content: see windlass_is_stuck. With p_older
-- also those whose lease has just run out, and those whose attempt began that long ago.
create or replace function "windlass"."inbox_stuck"(p_limit integer default 1000, p_older interval default null)
    returns setof "windlass"."inbox_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[] := array(select l.id
                            from "windlass"."inbox_leased_near"(p_limit, v_now, '-infinity',
                                                              case when p_older is null then v_now else 'infinity' end) l
                           where "windlass".windlass_is_stuck(v_now, l.claimed_at, l.locked_until, p_older)
                           order by l.claimed_at, l.id
                           limit p_limit);
begin
    return query
    select l.*
      from ((select q.* from "windlass"."inbox_listed" q where q.id = any (v_ids))
            union all
            (select g.*
               from "windlass"."inbox_guarded" g
              where g.status = 1
                and (p_older is not null or g.state_at <= v_now - interval '1 hour')
                and (p_older is null or g.locked_until <= v_now or g.claimed_at <= v_now - p_older)
              order by g.state_at
              limit case when p_older is null then p_limit end)) l
     order by l.claimed_at, l.source, l.message_id
     limit p_limit;
    return;
    return query
    select m.* from "windlass"."inbox_listed" m where m.id = any (v_ids) order by m.claimed_at, m.id;
end
$sql$;

-- Messages whose leases have run out p_least times or more, the most often first: among p_most in progress, p_most of each topic that are due,
-- but for those with keys, and the p_most that failed last. With more than a thousand topics, those that are due are looked at in some only,
-- and a notice says so.
create or replace function "windlass"."inbox_lapsed"(p_least integer default 2, p_most integer default 1000)
    returns setof "windlass"."inbox_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[];
    v_since  timestamptz[];
    v_more   boolean;
    v_ids    uuid[];
begin
    perform "windlass".windlass_check_most(p_most);
    select coalesce(array_agg(p.topic) filter (where p.oldest is not null), '{}'),
           coalesce(array_agg(p.oldest) filter (where p.oldest is not null), '{}'), bool_or(p.more)
      into v_topics, v_since, v_more
      from "windlass"."inbox_pending"(1, 1000, v_now) p;
    if v_more then
        raise notice 'there are more topics than were looked at';
    end if;
    v_ids := array(
        select l.id
          from (select n.id, n.lease_expiries from "windlass"."inbox_leased_near"(p_most, v_now) n
                union all
                select d.id, d.lease_expiries
                  from "windlass"."inbox_lately"(v_now) b
                 cross join lateral "windlass"."inbox_due_near"(b.topic, p_most, v_now) d
                 where b.is_busy
                union all
                select m.id, m.lease_expiries
                  from (select * from unnest(v_topics, v_since) as u (topic, since)
                         where u.topic not in (select b.topic from "windlass"."inbox_lately"(v_now) b where b.is_busy)) t
                 cross join unnest(array[4]) as level (priority)
                 cross join lateral (
                       select d.id, d.lease_expiries::integer
                         from "windlass"."inbox" d
                        where d.status = 0 and not d.keyed -- as rows: the index of the times alone would be the wrong one
                          and (d.topic, d.priority, d.next_attempt_at) >= (t.topic, level.priority, t.since)
                          and (d.topic, d.priority, d.next_attempt_at) <= (t.topic, level.priority, v_now)
                        limit p_most) m
                union all
                (select m.id, m.lease_expiries::integer
                   from "windlass"."inbox" m
                  where m.status = 3 and m.ended_at is not null
                  order by m.ended_at desc
                  limit p_most)) l
         where l.lease_expiries >= p_least
         order by l.lease_expiries desc, l.id
         limit p_most);
    return query
    select m.* from "windlass"."inbox_listed" m where m.id = any (v_ids) order by m.lease_expiries desc, m.id;
end
$sql$;

-- Up to p_most messages of a topic that are due, those first that became it last.
create or replace function "windlass"."inbox_due_near"(p_topic text, p_most integer, p_now timestamptz)
    returns table (id uuid, lease_expiries integer)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."inbox_ready"$name$::regclass) + 5000 + 2 * p_most::bigint;
    v_left integer := p_most;
    v_rows integer;
    v_span record;
begin
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.until <= p_now loop
        exit when v_left = 0 or pg_stat_get_xact_tuples_returned($name$"windlass"."inbox_ready"$name$::regclass) > v_end;
        return query
        select f.id, f.lease_expiries::integer
          from unnest(array[4]) as level (priority)
         cross join lateral (
               select m.id, m.lease_expiries
                 from "windlass"."inbox" m
                where m.status = 0 and not m.keyed and m.topic = p_topic and m.priority = level.priority
                  and m.next_attempt_at > v_span.since and m.next_attempt_at <= v_span.until
                limit v_left) f
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many messages of each topic are in which state, how many of the ready ones are due and since when, and how often messages were tried
-- again on average.
--
-- Of each topic, ready and failed ones are counted up to p_most. Those in progress, those that wait and those that are done are in no order
-- of their topics: of all topics together up to p_most are counted that are in progress, that wait, that were done last. The average is that
-- of all these but the ready ones; it is null where there are none.
create or replace function "windlass"."inbox_totals"(p_most integer default 1000) returns table (
    topic           varchar,
    ready           bigint,
    waiting         bigint,
    in_progress     bigint,
    done            bigint,
    failed          bigint,
    average_retries numeric,
    due             bigint,
    oldest_due_ms   bigint,
    more_topics     boolean
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    return query
    with recursive step (topic, number) as (
        (select m.topic::varchar, 1 from "windlass"."inbox" m where m.status = 3 order by m.topic limit 1)
        union all
        select (select m.topic::varchar from "windlass"."inbox" m where m.status = 3 and m.topic > step.topic order by m.topic limit 1),
               step.number + 1
          from step
         where step.topic is not null and step.number <= 1000),
    looked as materialized (
        select p.* from "windlass"."inbox_pending"(p_most, 1000, v_now) p),
    pending as (
        select p.topic::varchar, least(sum(p.due + p.later), p_most)::bigint as messages, least(sum(p.due), p_most)::bigint as due,
               min(p.oldest) as oldest
          from looked p
         where p.due + p.later > 0
         group by p.topic),
    seen as (
        (select l.topic, 1 as status, l.retry_count from "windlass"."inbox_leased_near"(p_most, v_now) l limit p_most)
        union all
        (select m.topic::varchar, m.status::integer, m.retry_count::integer
           from "windlass"."inbox" m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit p_most)
        union all
        select f.topic, f.status, f.retry_count
          from step
         cross join lateral (
               select m.topic, m.status, m.retry_count
                 from "windlass"."inbox" m
                where m.status = 3 and m.topic = step.topic
                order by m.ended_at desc, m.id desc
                limit p_most) f
        union all
        select w.topic, w.status, w.retry_count from "windlass"."inbox_waiting_sample"(p_most) w),
    counted as (
        select s.topic,
               count(*) filter (where s.status = 4) as waiting,
               count(*) filter (where s.status = 1) as in_progress,
               count(*) filter (where s.status = 2) as done,
               count(*) filter (where s.status = 3) as failed,
               round(avg(s.retry_count), 2) as average_retries
          from seen s
         group by s.topic)
    select coalesce(pending.topic, counted.topic), coalesce(pending.messages, 0), coalesce(counted.waiting, 0),
           coalesce(counted.in_progress, 0), coalesce(counted.done, 0), coalesce(counted.failed, 0), counted.average_retries,
           coalesce(pending.due, 0), floor(extract(epoch from v_now - pending.oldest) * 1000)::bigint,
           exists (select from looked p where p.more) or exists (select from step where step.topic is not null and step.number > 1000)
      from pending
      full join counted on counted.topic = pending.topic
     order by 1;
end
$sql$;

-- Up to p_most messages that wait for their turn: a queue whose messages do has an index of them.
create or replace function "windlass"."inbox_waiting_sample"(p_most integer)
    returns table (topic varchar, status integer, retry_count integer)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query
    select m.topic::varchar, m.status::integer, m.retry_count::integer from "windlass"."inbox" m where m.status = 4 limit p_most;
end
$sql$;

-- The leases that have not run out: how many, at most p_most, when the first and the last of them do, and for how long they have been held on
-- average.
create or replace function "windlass"."inbox_leases"(
    p_most integer default 1000,
    out active          bigint,
    out earliest_expiry timestamptz,
    out latest_expiry   timestamptz,
    out average_age_ms  bigint
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_span record;
    v_end  bigint;
    v_last timestamptz;
begin
    perform "windlass".windlass_check_most(p_most);
    select count(*), min(l.locked_until), max(l.locked_until), (extract(epoch from avg(v_now - l.claimed_at)) * 1000)::bigint
      into active, earliest_expiry, latest_expiry, average_age_ms
      from "windlass"."inbox_leased_near"(p_most, v_now, v_now) l;
    v_end := pg_stat_get_xact_tuples_returned($name$"windlass"."inbox_leased"$name$::regclass) + 5000;
    for v_span in select s.* from "windlass".windlass_spans(v_now) s where s.until > latest_expiry
                   order by s.since desc loop
        exit when v_last is not null
            or pg_stat_get_xact_tuples_returned($name$"windlass"."inbox_leased"$name$::regclass) > v_end;
        v_last := (select m.locked_until
                     from "windlass"."inbox" m
                    where m.status = 1 and m.locked_until > greatest(v_span.since, latest_expiry) and m.locked_until <= v_span.until
                    order by m.locked_until desc
                    limit 1);
    end loop;
    latest_expiry := greatest(latest_expiry, v_last);
end
$sql$;

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
create or replace function "windlass"."inbox_begin"(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_lease        interval,
    p_max_attempts integer,
    p_hash         text default null,
    p_arrival      boolean default true
) returns table (outcome smallint, attempt integer, remaining bigint, differs boolean)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_hash     bytea := decode(p_hash, 'hex');
    v_start    timestamptz := pg_postmaster_start_time();
    v_now      timestamptz;
    v_row      "windlass"."inbox_seen";
    v_locked   "windlass"."inbox_seen";
    v_mine     boolean;
    v_inserted boolean;
begin
    perform "windlass".windlass_check_lease(p_lease);
    differs := false;
    for v_try in 1 .. 3 loop
        select s.* into v_row from "windlass"."inbox_seen" s where s.source = p_source and s.message_id = p_message_id;
        exit when found;
        v_inserted := "windlass"."inbox_begin_new"(p_source, p_message_id, p_owner, p_lease, v_hash);
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
      from "windlass"."inbox_seen" s
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
          from "windlass"."inbox_seen" s
          left join lateral (select m.status, m.locked_until from "windlass"."inbox" m where m.id = s.id limit 1) m on true
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
            outcome := "windlass"."inbox_begin_again"(p_source, p_message_id, p_owner, p_lease, attempt >= p_max_attempts, p_max_attempts);
            attempt := attempt + 1;
        end if;
    else
        remaining := ceil(extract(epoch from v_row.state_at - v_now) * 1000);
        if v_row.state_at <= v_now then
            outcome := "windlass"."inbox_begin_again"(p_source, p_message_id, p_owner, p_lease, false, p_max_attempts);
        end if;
    end if;
    if v_mine and p_arrival then
        update "windlass"."inbox_seen" s
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
create or replace function "windlass"."inbox_begin_new"(
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
    insert into "windlass"."inbox_seen"
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
create or replace function "windlass"."inbox_begin_again"(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_lease        interval,
    p_used_up      boolean,
    p_max_attempts integer
) returns smallint
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    if p_used_up then
        update "windlass"."inbox_seen" s
           set lease_expiries = s.lease_expiries + 1, status = 3, owner_token = null, locked_until = null, state_at = v_now,
               last_error = 'its lease ran out at the last of ' || p_max_attempts
                            || ' attempts: processing it may have ended the process'
         where s.source = p_source and s.message_id = p_message_id;
        return 3;
    end if;
    update "windlass"."inbox_seen" s
       set lease_expiries = s.lease_expiries + s.status, status = 1, owner_token = p_owner, state_at = v_now, claimed_at = v_now,
           locked_until = v_now + p_lease
     where s.source = p_source and s.message_id = p_message_id;
    return 0;
end
$sql$;

-- Renews the leases of attempts that have not run out; one row for each, in the order of the arrays: whether it did; null if somebody
-- has the row locked, or a trigger or a constraint of the user's refuses it, so that it has to be asked again.
create or replace function "windlass"."inbox_renew"(
    p_sources     text[],
    p_message_ids text[],
    p_owners      uuid[],
    p_lease       interval
) returns table (renewed boolean)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_held record;
begin
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    for v_held in select * from unnest(p_sources, p_message_ids, p_owners) as e (source, message_id, owner_token) loop
        perform 1
           from "windlass"."inbox_seen" s
          where s.source = v_held.source and s.message_id = v_held.message_id and s.owner_token = v_held.owner_token
            and s.locked_until > clock_timestamp()
            for update skip locked;
        if found then
            begin
                update "windlass"."inbox_seen" s
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
                  from "windlass"."inbox_seen" s
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
create or replace function "windlass"."inbox_mark_done"(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_processed_by text default null,
    p_again        boolean default false
) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
begin
    update "windlass"."inbox_seen" s
       set status = 2, locked_until = null, processed_by = p_processed_by,
           state_at = case when s.locked_until is null then s.state_at else clock_timestamp() end
     where s.source = p_source and s.message_id = p_message_id and s.owner_token = p_owner
       and (s.locked_until is not null or p_again and s.status + 0 = 2);
    return found;
end
$sql$;

-- Ends an attempt, and the message as failed. Returns false if the attempt was lost to somebody else.
create or replace function "windlass"."inbox_mark_failed"(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_error        text,
    p_processed_by text default null
) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
begin
    update "windlass"."inbox_seen" s
       set status = 3, locked_until = null, processed_by = p_processed_by, last_error = left(p_error, 2048),
           state_at = case when s.locked_until is null then s.state_at else clock_timestamp() end
     where s.source = p_source and s.message_id = p_message_id and s.owner_token = p_owner and s.status + 0 in (1, 3);
    return found;
end
$sql$;

-- Ends an attempt that failed. The message can be begun again after p_delay, or has failed if that was the last attempt.
-- Returns 0 or 3, or null if the attempt was lost to somebody else.
create or replace function "windlass"."inbox_mark_abandoned"(
    p_source       text,
    p_message_id   text,
    p_owner        uuid,
    p_error        text,
    p_delay        interval,
    p_max_attempts integer,
    p_processed_by text default null
) returns smallint
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_last boolean;
begin
    select s.retry_count + s.lease_expiries + 1 >= p_max_attempts into v_last
      from "windlass"."inbox_seen" s
     where s.source = p_source and s.message_id = p_message_id and s.owner_token = p_owner and s.locked_until is not null
       for update;
    if not found then
        return null;
    end if;
    update "windlass"."inbox_seen" s
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
create or replace function "windlass"."inbox_clean_guards"(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_rows   tid[] := '{}';
    v_status integer;
begin
    foreach v_status in array array[2, 1, 0] loop
        v_rows := v_rows || array(select s.ctid
                                    from "windlass"."inbox_seen" s
                                   where s.status = v_status and s.state_at < v_before
                                     and (s.locked_until is null or s.locked_until < v_before)
                                   order by s.state_at
                                   limit p_limit - cardinality(v_rows)
                                     for update skip locked);
    end loop;
    return "windlass".windlass_delete($name$"windlass"."inbox_seen"$name$, v_rows);
end
$sql$;

-- The inbox as a queue: messages are stored with a topic, and the dispatcher hands them to handlers. Its verbs are those of a queue.

-- Writes one message for the queue, unless the inbox knows it. Returns whether it was new, and whether its hash differs from
-- that of the first arrival. It waits for the commit of whoever is enqueueing the same key, and for nobody else.
create or replace function "windlass"."inbox_enqueue"(
    p_source     text,
    p_message_id text,
    p_topic      text,
    p_payload    text,
    p_headers    jsonb default null,
    p_hash       text default null,
    p_due_at     timestamptz default null,
    p_delay      interval default null,
    p_expires_at timestamptz default null,
    p_notify     boolean default true,
    out fresh    boolean,
    out differs  boolean
)
    language plpgsql
as $sql$
begin
    select e.fresh, e.differs into fresh, differs
      from "windlass"."inbox_enqueue_all"(array[p_source], array[p_message_id], array[p_topic], array[p_payload],
                                        array[p_headers::text], array[p_hash], array[p_due_at], array[p_delay],
                                        array[p_expires_at], p_notify) e;
end
$sql$;

-- Writes many in one round trip; one row for each, in the order of the arrays. An array of optional values may be null as a
-- whole. Of several with one key the first is written. Keys are taken in their order, so that two batches cannot deadlock. Who
-- gives the ids, and repeats a call whose answer was lost, is told again what was new.
--
-- What the inbox knows stays what it is, done or failed or in progress: this takes no lock on it that a mark would have to
-- wait for, and waits for no lock on it. Only a message that somebody began without the queue is another matter, because nobody
-- may ever come back to it: what was brought waits as a copy in the queue, and adopt() makes it ready if that attempt failed or
-- was not heard of again; at once, if that is known by now.
create or replace function "windlass"."inbox_enqueue_all"(
    p_sources     text[],
    p_message_ids text[],
    p_topics      text[],
    p_payloads    text[],
    p_headers     text[] default null,
    p_hashes      text[] default null,
    p_due_ats     timestamptz[] default null,
    p_delays      interval[] default null,
    p_expires_ats timestamptz[] default null,
    p_notify      boolean default true,
    p_ids         uuid[] default null
) returns table (fresh boolean, differs boolean)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_now timestamptz;
    v_ids uuid[];
    v_new uuid[];
begin
    perform "windlass".windlass_check_lengths(
        cardinality(p_topics), coalesce(cardinality(p_sources), -1), coalesce(cardinality(p_message_ids), -1),
        coalesce(cardinality(p_payloads), -1), cardinality(p_headers), cardinality(p_hashes), cardinality(p_due_ats),
        cardinality(p_delays), cardinality(p_expires_ats), cardinality(p_ids));
    if p_due_ats is not null and p_delays is not null or p_expires_ats is not null then
        perform "windlass".windlass_check_times(e.due_at, e.delay, e.expires_at)
           from unnest(p_due_ats, p_delays, p_expires_ats) as e (due_at, delay, expires_at);
    end if;
    perform pg_current_xact_id();
    v_ids := coalesce(p_ids, array(select "windlass".windlass_new_id() as id from unnest(p_topics) order by id));
    loop
        v_now := clock_timestamp();
        with entered as (
            insert into "windlass"."inbox_seen" (source, message_id, id, first_seen_at, last_seen_at, hash)
            select distinct on (e.source collate "C", e.message_id collate "C")
                   e.source, e.message_id, e.id, v_now, v_now, decode(e.hash, 'hex')
              from unnest(p_sources, p_message_ids, v_ids, p_hashes) with ordinality as e (source, message_id, id, hash, place)
              left join lateral (
                   select true as seen
                     from "windlass"."inbox_seen" k
                    where k.source = e.source and k.message_id = e.message_id
                    limit 1) k on true
             where k.seen is null
             order by e.source collate "C", e.message_id collate "C", e.place
            on conflict (source, message_id) do nothing
            returning id)
        select coalesce(array_agg(entered.id), '{}') into v_new from entered;
        if cardinality(v_new) > 0 then
            insert into "windlass"."inbox"
                (id, created_at, next_attempt_at, due_at, expires_at, topic, source, message_id, headers, payload)
            select e.id, v_now, greatest(v_now, coalesce(e.due_at, v_now + e.delay)), coalesce(e.due_at, v_now + e.delay),
                   e.expires_at, e.topic, e.source, e.message_id, e.headers::jsonb, e.payload
              from unnest(v_ids, p_topics, p_sources, p_message_ids, p_payloads, p_headers, p_due_ats, p_delays, p_expires_ats)
                   as e (id, topic, source, message_id, payload, headers, due_at, delay, expires_at)
             where cardinality(v_new) = cardinality(v_ids) or e.id = any (v_new);
        end if;
        exit when cardinality(v_new) = cardinality(v_ids);
        exit when "windlass"."inbox_enqueue_known"(p_sources, p_message_ids, v_ids, p_topics, p_payloads, p_headers, p_hashes,
                                                 p_due_ats, p_delays, p_expires_ats); -- else one was forgotten this moment
    end loop;
    if p_notify then
        perform pg_notify('windlass.windlass.inbox', 'ready ' || t.topic) from (select distinct unnest(p_topics) as topic) t;
    end if;
    if cardinality(v_new) = cardinality(v_ids) then
        return query select true, false from unnest(v_ids);
        return;
    end if;
    return query
    select coalesce(m.id = e.id, false), coalesce(m.hash <> decode(e.hash, 'hex'), false)
      from unnest(p_sources, p_message_ids, v_ids, p_hashes) with ordinality as e (source, message_id, id, hash, place)
      left join lateral (
           select k.id, k.hash
             from "windlass"."inbox_seen" k
            where k.source = e.source and k.message_id = e.message_id
            limit 1) m on true
     order by e.place;
end
$sql$;

-- What becomes of messages that have been seen before: see enqueue_all. Returns false if one is not known any more: it was
-- forgotten this moment.
create or replace function "windlass"."inbox_enqueue_known"(
    p_sources     text[],
    p_message_ids text[],
    p_ids         uuid[],
    p_topics      text[],
    p_payloads    text[],
    p_headers     text[],
    p_hashes      text[],
    p_due_ats     timestamptz[],
    p_delays      interval[],
    p_expires_ats timestamptz[]
) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_known  boolean := true;
    v_entry  record;
    v_id     uuid;
    v_status smallint;
    v_taken  "windlass"."inbox_seen";
    v_waits  boolean;
begin
    for v_entry in
        select distinct on (e.source collate "C", e.message_id collate "C")
               e.source, e.message_id, e.id, e.topic, e.payload, e.headers::jsonb as headers, decode(e.hash, 'hex') as hash,
               coalesce(e.due_at, v_now + e.delay) as due_at, e.expires_at
          from unnest(p_sources, p_message_ids, p_ids, p_topics, p_payloads, p_headers, p_hashes, p_due_ats, p_delays, p_expires_ats)
               with ordinality
               as e (source, message_id, id, topic, payload, headers, hash, due_at, delay, expires_at, place)
         order by e.source collate "C", e.message_id collate "C", e.place
    loop
        select s.id, s.status into v_id, v_status
          from "windlass"."inbox_seen" s
         where s.source = v_entry.source and s.message_id = v_entry.message_id;
        if not found then
            v_known := false;
        elsif v_id is null and v_status in (0, 1) then
            v_taken := "windlass"."inbox_take_key"(v_entry.source, v_entry.message_id, v_entry.id, v_now, v_entry.hash, null);
            v_waits := v_taken.source is null;
            insert into "windlass"."inbox"
                (id, created_at, next_attempt_at, due_at, expires_at, status, awaited, retry_count, lease_expiries, requeues, topic,
                 source, message_id, last_error, hash, headers, payload)
            values (v_entry.id, coalesce(v_taken.first_seen_at, v_now), greatest(v_now, v_entry.due_at, v_taken.state_at),
                    v_entry.due_at, v_entry.expires_at, case when v_waits then 4 else 0 end, v_waits, coalesce(v_taken.retry_count, 0),
                    coalesce(v_taken.lease_expiries, 0), coalesce(v_taken.requeues, 0), v_entry.topic, v_entry.source,
                    v_entry.message_id, v_taken.last_error, case when v_waits then v_entry.hash end, v_entry.headers, v_entry.payload)
            on conflict do nothing;
        elsif v_id is distinct from v_entry.id then
            perform 1
               from "windlass"."inbox_seen" s
              where s.source = v_entry.source and s.message_id = v_entry.message_id and s.status + 0 is distinct from 1
                for update skip locked;
            if found then
                update "windlass"."inbox_seen" s
                   set last_seen_at = v_now, hash = coalesce(s.hash, v_entry.hash)
                 where s.source = v_entry.source and s.message_id = v_entry.message_id;
            end if;
        end if;
    end loop;
    return v_known;
end
$sql$;

-- Gives a message that was begun without the queue to its row in the queue, if that attempt failed or was not heard of again. Returns
-- what is known of its attempts, that last one counted, and until when it rests; nothing if it was not given. An attempt whose lease
-- ran out may be alive after an outage: it counts only when the server has been up for p_quiet or, without that, for as long as the
-- lease was.
create or replace function "windlass"."inbox_take_key"(
    p_source     text,
    p_message_id text,
    p_id         uuid,
    p_seen_at    timestamptz,
    p_hash       bytea,
    p_quiet      interval
) returns "windlass"."inbox_seen"
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_seen "windlass"."inbox_seen";
begin
    select s.* into v_seen
      from "windlass"."inbox_seen" s
     where s.source = p_source and s.message_id = p_message_id
       and (s.status + 0 = 0
            or s.locked_until <= v_now
               and pg_postmaster_start_time() + coalesce(p_quiet, s.locked_until - s.claimed_at) <= v_now)
       for update skip locked;
    if found then
        update "windlass"."inbox_seen" s
           set id = p_id, status = null, state_at = null, locked_until = null, owner_token = null,
               last_seen_at = greatest(s.last_seen_at, p_seen_at), hash = coalesce(s.hash, p_hash)
         where s.source = p_source and s.message_id = p_message_id;
        v_seen.lease_expiries := v_seen.lease_expiries + v_seen.status;
        v_seen.state_at := case v_seen.status when 0 then v_seen.state_at end;
    end if;
    return v_seen;
end
$sql$;

-- Looks at the copies that wait. If the attempt without the queue failed or was not heard of again, or the inbox has forgotten it,
-- a copy is made ready, and nodes are told; if the message has ended, or the queue has it, it is dropped; what is going on, or is
-- locked, stays. Returns how many are ready.
create or replace function "windlass"."inbox_adopt"(p_quiet interval, p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
    set lock_timeout = '20ms'
as $sql$
declare
    v_count integer := 0;
    v_entry record;
    v_taken "windlass"."inbox_seen";
begin
    if not exists (select from "windlass"."inbox" w where w.status = 4) then
        return 0;
    end if;
    perform pg_current_xact_id();
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    delete from "windlass"."inbox" r
     where r.ctid = any (array(
               select w.ctid
                 from "windlass"."inbox" w
                cross join lateral (
                      select
                        from "windlass"."inbox_seen" s
                       where s.source = w.source and s.message_id = w.message_id
                         and (s.id is not null or s.status + 0 in (2, 3))
                       limit 1) ended
                where w.status = 4
                limit p_limit
                  for update of w skip locked));
    for v_entry in
        select w.id, w.source, w.message_id, w.created_at, w.hash, s.seen
          from "windlass"."inbox" w
          left join lateral (
               select true as seen, s.status, s.locked_until
                 from "windlass"."inbox_seen" s
                where s.source = w.source and s.message_id = w.message_id
                limit 1) s on true
         where w.status = 4 and (s.seen is null or s.status = 0 or s.locked_until <= clock_timestamp())
         limit p_limit
           for update of w skip locked
    loop
        begin
            if v_entry.seen is null then
                insert into "windlass"."inbox_seen" (source, message_id, first_seen_at, last_seen_at, status, state_at)
                values (v_entry.source, v_entry.message_id, v_entry.created_at, v_entry.created_at, 0, clock_timestamp())
                on conflict do nothing;
            end if;
            v_taken := "windlass"."inbox_take_key"(v_entry.source, v_entry.message_id, v_entry.id, v_entry.created_at, v_entry.hash,
                                                 p_quiet);
            if v_taken.source is not null then
                update "windlass"."inbox" w
                   set status = 0, awaited = false, created_at = v_taken.first_seen_at, hash = null, last_error = v_taken.last_error,
                       next_attempt_at = greatest(clock_timestamp(), w.due_at, v_taken.state_at), requeues = v_taken.requeues,
                       retry_count = v_taken.retry_count, lease_expiries = v_taken.lease_expiries
                 where w.id = v_entry.id;
                v_count := v_count + 1;
            end if;
        exception
            when others or assert_failure then
                null; -- somebody is writing this key, or it is refused: it keeps no other from becoming ready
        end;
    end loop;
    if v_count > 0 then
        perform pg_notify('windlass.windlass.inbox', 'ready');
    end if;
    return v_count;
end
$sql$;

-- Forgets queued messages that the caller has locked and is about to delete, with the copies that wait under their keys. Returns
-- their ids, without those whose memory somebody else has locked.
create or replace function "windlass"."inbox_delete_seen"(p_ids uuid[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_free tid[];
    v_held uuid[];
begin
    v_free := array(select s.ctid
                      from "windlass"."inbox" m
                     cross join lateral (
                           select s.ctid
                             from "windlass"."inbox_seen" s
                            where s.source = m.source and s.message_id = m.message_id and s.id = m.id
                            limit 1
                              for update skip locked) s
                     where m.id = any (p_ids));
    delete from "windlass"."inbox_seen" s where s.ctid = any (v_free);
    v_held := array(select m.id
                      from "windlass"."inbox" m
                     cross join lateral (
                           select
                             from "windlass"."inbox_seen" s
                            where s.source = m.source and s.message_id = m.message_id and s.id = m.id
                            limit 1) s
                     where m.id = any (p_ids));
    if exists (select from "windlass"."inbox" w where w.status = 4) then
        delete from "windlass"."inbox" c
         where c.ctid = any (array(
                   select w.ctid
                     from "windlass"."inbox" m
                    cross join lateral (
                          select w.ctid
                            from "windlass"."inbox" w
                           where w.source = m.source and w.message_id = m.message_id and w.status = 4
                           limit 1
                             for update skip locked) w
                    where m.id = any (p_ids) and m.id <> all (v_held)));
    end if;
    return array(select unnest(p_ids) except select unnest(v_held));
end
$sql$;

-- What operators do to all that the inbox has seen, whether it was queued or not, by source and id. What is queued alone has the
-- verbs of a queue too.

-- What is known of one message, with its content if it is queued.
create or replace function "windlass"."inbox_find_key"(p_source text, p_message_id text) returns table (
    source         varchar,
    message_id     varchar,
    id             uuid,
    topic          varchar,
    status         smallint,
    hash           bytea,
    first_seen_at  timestamptz,
    last_seen_at   timestamptz,
    claimed_at     timestamptz,
    locked_until   timestamptz,
    ended_at       timestamptz,
    retry_count    integer,
    lease_expiries integer,
    requeues       smallint,
    processed_by   varchar,
    last_error     varchar,
    payload        text
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
begin
    return query
    select s.source::varchar, s.message_id::varchar, s.id, m.topic::varchar, coalesce(s.status, m.status, 2::smallint)::smallint,
           s.hash::bytea, s.first_seen_at, s.last_seen_at, coalesce(m.claimed_at, s.claimed_at)::timestamptz,
           coalesce(m.locked_until, s.locked_until)::timestamptz,
           coalesce(m.ended_at, case when s.status in (2, 3) then s.state_at end)::timestamptz,
           coalesce(m.retry_count, s.retry_count)::integer, coalesce(m.lease_expiries, s.lease_expiries)::integer,
           coalesce(m.requeues, s.requeues)::smallint,
           case when s.id is null then s.processed_by else m.processed_by end,
           case when s.id is null then s.last_error else m.last_error end, m.payload
      from "windlass"."inbox_seen" s
      left join lateral (select q.* from "windlass"."inbox" q where q.id = s.id limit 1) m on true
     where s.source = p_source and s.message_id = p_message_id;
end
$sql$;

-- The ids in the queue of these messages, and of the copies that wait under their keys.
create or replace function "windlass"."inbox_ids"(p_sources text[], p_message_ids text[]) returns uuid[]
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
begin
    if p_sources is null and p_message_ids is null then
        return null;
    end if;
    perform "windlass".windlass_check_lengths(coalesce(cardinality(p_sources), -1), coalesce(cardinality(p_message_ids), -1));
    return array(select i.id
                   from unnest(p_sources, p_message_ids) as k (source, message_id)
                  cross join lateral (
                        (select s.id from "windlass"."inbox_seen" s
                          where s.source = k.source and s.message_id = k.message_id and s.id is not null
                          limit 1)
                        union all
                        (select w.id from "windlass"."inbox" w
                          where w.source = k.source and w.message_id = k.message_id and w.status = 4
                          limit 1)) i);
end
$sql$;

-- Makes a queued message a step of a join; see attach(). A copy that waits is none yet: the attempt without the queue may do the work.
create or replace function "windlass"."inbox_attach_key"(p_join_id uuid, p_source text, p_message_id text) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_id uuid := (select s.id from "windlass"."inbox_seen" s where s.source = p_source and s.message_id = p_message_id);
begin
    if v_id is null then
        perform "windlass".windlass_refuse('a message that is queued', 'one that is not', 'Enqueue it first, in the same transaction or before.');
    end if;
    return "windlass"."inbox_attach"(p_join_id, array[v_id]);
end
$sql$;

-- Messages without their content, as list() of the queue, and with them those that are not queued, if no topic is given. Of a state
-- they come together by their time; of all states, first what is queued, then the others by their states. The next page begins after
-- the last one: its time, its id if it is queued, else its state, and its key.
create or replace function "windlass"."inbox_list_seen"(
    p_limit            integer,
    p_status           integer default null,
    p_topic            text default null,
    p_source           text default null,
    p_from             timestamptz default null,
    p_until            timestamptz default null,
    p_error            text default null,
    p_after_at         timestamptz default null,
    p_after_id         uuid default null,
    p_after_status     integer default null,
    p_after_source     text default null,
    p_after_message_id text default null
) returns setof "windlass"."inbox_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
declare
    v_from    timestamptz := coalesce(p_from, '-infinity');
    v_until   timestamptz := coalesce(p_until, 'infinity');
    v_guarded boolean := p_after_source is not null and p_after_id is null;
    v_source  text := case when v_guarded then p_after_source else '' end; -- those that are queued come first of a time
    v_message text := case when v_guarded then p_after_message_id else '' end;
    v_after   timestamptz := coalesce(p_after_at, '-infinity');
    v_before  timestamptz := coalesce(p_after_at, 'infinity');
    v_count   integer := 0;
begin
    if p_status is null then
        if not v_guarded then
            return query
            select q.* from "windlass"."inbox_list"(p_limit, null, p_topic, p_source, p_from, p_until, p_error, p_after_at, p_after_id) q;
            get diagnostics v_count = row_count;
            v_after := '-infinity';
        end if;
        if v_count < p_limit and p_topic is null then
            return query
            select g.*
              from "windlass"."inbox_guarded" g
             where (g.status, g.state_at, g.source, g.message_id)
                   > (case when v_guarded then p_after_status else -1 end, v_after, v_source, v_message)
               and g.created_at >= v_from and g.created_at < v_until
               and (p_source is null or g.source = p_source)
               and (p_error is null or position(lower(p_error) in lower(g.last_error)) > 0)
             order by g.status, g.state_at, g.source, g.message_id
             limit p_limit - v_count;
        end if;
    elsif p_status in (0, 1, 4) then
        return query
        select l.*
          from (select q.*
                  from "windlass"."inbox_list"(
                           p_limit, p_status, p_topic, p_source, p_from, p_until, p_error, p_after_at,
                           case when v_guarded then 'ffffffff-ffff-ffff-ffff-ffffffffffff' else p_after_id end) q
                 union all
                (select g.*
                   from "windlass"."inbox_guarded" g
                  where p_topic is null and g.status = p_status
                    and g.state_at >= v_from and g.state_at < v_until
                    and (g.state_at, g.source, g.message_id) > (v_after, v_source, v_message)
                    and (p_source is null or g.source = p_source)
                    and (p_error is null or position(lower(p_error) in lower(g.last_error)) > 0)
                  order by g.state_at, g.source, g.message_id
                  limit p_limit)) l
         order by l.state_at, l.id, l.source, l.message_id
         limit p_limit;
    else
        return query
        select l.*
          from (select q.*
                  from "windlass"."inbox_list"(
                           p_limit, p_status, p_topic, p_source, p_from, p_until, p_error, p_after_at,
                           case when v_guarded then '00000000-0000-0000-0000-000000000000' else p_after_id end) q
                 union all
                (select g.*
                   from "windlass"."inbox_guarded" g
                  where p_topic is null and g.status = p_status
                    and g.state_at >= v_from and g.state_at < v_until and g.state_at <= v_before
                    and (g.state_at < v_before or (g.source, g.message_id) > (v_source, v_message))
                    and (p_source is null or g.source = p_source)
                    and (p_error is null or position(lower(p_error) in lower(g.last_error)) > 0)
                  order by g.state_at desc, g.source, g.message_id
                  limit p_limit)) l
         order by l.state_at desc, l.id desc nulls last, l.source, l.message_id
         limit p_limit;
    end if;
end
$sql$;

-- Changes failed messages: 'requeue' makes those ready again that are queued, and lets the others be begun again; 'purge' deletes them,
-- and the inbox, which has forgotten them, would process them if they arrived again. Those of the keys, or up to p_limit that fit the
-- rest, or of all if p_all says so; see requeue() and purge() of the queue. It is recorded as one action.
create or replace function "windlass"."inbox_change_seen"(
    p_verb        text,
    p_by          text,
    p_sources     text[] default null,
    p_message_ids text[] default null,
    p_topic       text default null,
    p_source      text default null,
    p_from        timestamptz default null,
    p_until       timestamptz default null,
    p_error       text default null,
    p_limit       integer default 1000,
    p_action      bigint default null,
    p_all         boolean default false,
    p_reset       boolean default true
) returns table (action bigint, messages integer, reached timestamptz)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := "windlass".windlass_action_until(p_action, p_until);
    v_ids   uuid[] := "windlass"."inbox_ids"(p_sources, p_message_ids);
    v_rows  tid[] := '{}';
    v_count integer;
begin
    if (p_verb in ('requeue', 'purge')) is not true then
        perform "windlass".windlass_refuse('requeue or purge', p_verb, 'Give one of them as p_verb.');
    end if;
    perform "windlass".windlass_check_choice(p_by, v_ids, coalesce(p_topic, p_source, p_from::text, p_until::text, p_error) is not null,
                                           p_limit, p_all);
    if v_ids is not null then
        v_rows := array(select s.ctid
                          from (select distinct u.source collate "C" as source, u.message_id collate "C" as message_id
                                  from unnest(p_sources, p_message_ids) as u (source, message_id)
                                 order by 1, 2) k
                         cross join lateral (
                               select s.ctid
                                 from "windlass"."inbox_seen" s
                                where s.source = k.source and s.message_id = k.message_id and s.status + 0 = 3
                                limit 1
                                  for update) s);
    elsif p_topic is null then
        v_rows := array(select s.ctid
                          from "windlass"."inbox_seen" s
                         where s.status = 3 and s.state_at >= v_from and s.state_at < v_until
                           and (p_source is null or s.source = p_source)
                           and (p_error is null or position(lower(p_error) in lower(s.last_error)) > 0)
                         order by s.state_at
                         limit p_limit
                           for update skip locked);
    end if;
    v_count := cardinality(v_rows);
    if p_verb = 'requeue' then
        update "windlass"."inbox_seen" s
           set status = 0, owner_token = null, state_at = clock_timestamp(), processed_by = null, lease_expiries = 0,
               retry_count = case when p_reset then 0 else s.retry_count end, requeues = least(s.requeues + 1, 32767)
         where s.ctid = any (v_rows);
    else
        with forgotten as (
            delete from "windlass"."inbox_seen" s where s.ctid = any (v_rows) returning s.source, s.message_id)
        delete from "windlass"."inbox" c
         where c.ctid = any (array(
                   select w.ctid
                     from forgotten f
                    cross join lateral (
                          select w.ctid
                            from "windlass"."inbox" w
                           where w.source = f.source and w.message_id = f.message_id and w.status = 4
                           limit 1
                             for update skip locked) w));
    end if;
    action := "windlass".windlass_record(
        'inbox', p_action, p_by, p_verb, v_count, null,
        jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error,
                           'reset', case p_verb when 'requeue' then p_reset end,
                           'keys', (select jsonb_agg(k.source || ' ' || k.message_id)
                                      from unnest(p_sources[1:100], p_message_ids[1:100]) as k (source, message_id))));
    messages := v_count;
    if v_ids is not null or v_count < p_limit then
        if p_verb = 'requeue' then
            select v_count + q.messages, q.reached into messages, reached
              from "windlass"."inbox_requeue"(p_by, v_ids, p_topic, p_source, p_from, p_until, p_error,
                                            greatest(p_limit - v_count, 1), action, p_all, p_reset) q;
        else
            select v_count + q.messages, q.reached into messages, reached
              from "windlass"."inbox_purge"(p_by, v_ids, p_topic, p_source, p_from, p_until, p_error,
                                          greatest(p_limit - v_count, 1), action, p_all) q;
        end if;
    end if;
    return next;
end
$sql$;

-- Removes payload and headers of queued messages that have ended; everything else stays. Returns how many.
create or replace function "windlass"."inbox_erase_seen"(p_by text, p_sources text[], p_message_ids text[]) returns integer
    language plpgsql
as $sql$
begin
    return "windlass"."inbox_erase"(p_by, "windlass"."inbox_ids"(p_sources, p_message_ids));
end
$sql$;

insert into "windlass".windlass_version (table_name, component, version, min_compatible) values ('inbox', 'inbox', 1, 1);

-- A queue. One state machine:
--
--   4 waiting --(its turn has come)--> 0 ready --claim--> 1 in progress --ack--> 2 done
--                                        ^  |                |   |
--                                        |  +---- expire ----|---+--fail--> 3 failed --requeue--> 0 ready
--                                        +--abandon, release, reap
--
--   0 ready, 4 waiting --cancel--> 5 cancelled          4 waiting --expire--> 3 failed
--
-- The check is the invariant: a message has a lease exactly while it is in progress, and an end exactly when it has ended. What concerns
-- one column is said by its domain: PostgreSQL reads every check of a table again for each statement, and a dozen of them took two
-- thirds of the time of an insert. The token of the last owner stays with a message that has ended: who repeats an ack whose answer was lost is
-- told that it holds.
create table "windlass"."work" (
    id              uuid         not null,             -- time-ordered, so that the index grows at one end
    created_at      timestamptz  not null,
    next_attempt_at timestamptz  not null,             -- never earlier than the moment the message became ready
    due_at          timestamptz,                       -- as the user wrote it; retries move next_attempt_at only
    expires_at      timestamptz,
    claimed_at      "windlass".windlass_time,            -- when the attempt began that is going on, or was the last
    locked_until    "windlass".windlass_time,
    ended_at        "windlass".windlass_time,
    erased_at       timestamptz,
    owner_token     uuid,
    retry_count     "windlass".windlass_count not null default 0,
    lease_expiries  "windlass".windlass_count not null default 0, -- apart from retries: a neighbour may have killed the process
    crashes         "windlass".windlass_small_count not null default 0, -- leases that ran out after the start of the handler was written down
    requeues        "windlass".windlass_small_count not null default 0,
    status          "windlass".windlass_status not null default 0,
    priority        "windlass".windlass_priority not null default 4, -- 0 to 9: those with the higher one are claimed first
    started         boolean      not null default false, -- the start of its handler was written down, in this attempt
    awaited         boolean      not null default false, -- something has to be done when it ends; others pay nothing for it
    keyed           boolean      not null default false, -- it is claimed in the turn of its key
    topic           "windlass".windlass_name not null,
    source          varchar(255) collate "C",          -- where it came from
    correlation_id  varchar(255),
    processed_by    varchar(100),
    last_error      varchar(2048),
    headers         "windlass".windlass_headers,
    payload         text         not null,
    constraint "work_pk" primary key (id),
    constraint "work_state_check" check ((status = 1) = (locked_until is not null) and (status in (2, 3, 5)) = (ended_at is not null))
) with (
    -- Every message leaves two or three dead rows behind; the default (a fifth of the table) comes too late for a queue.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- Ready messages by topic and priority, then by time: a node looks only at topics it has a handler and room for, so a paused,
-- saturated or unknown topic with any backlog costs the others nothing.
create index "work_ready" on "windlass"."work" (topic, priority, next_attempt_at, id) where status = 0 and not keyed;
create index "work_leased" on "windlass"."work" (locked_until) where status = 1;
create index "work_expiring" on "windlass"."work" (expires_at) where status in (0, 4) and expires_at is not null;
create index "work_ended_at" on "windlass"."work" (status, ended_at) where ended_at is not null;
create index "work_failed" on "windlass"."work" (topic, ended_at, id) where status = 3;

-- Attempts that failed. Successes write nothing here. No foreign key: it would cost every deleted message a look.
create table "windlass"."work_failure" (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),                           -- unknown when a lease ran out
    error      varchar(2048)
);
create index "work_failure_of" on "windlass"."work_failure" (message_id, failed_at);

-- A queue whose messages can be members of joins. One that is none pays nothing for it.
alter table "windlass"."work"
    add column joined boolean not null default false,
    add constraint "work_joined_check" check (awaited or not joined);

-- Makes messages members of a join. One that has ended counts at once; also one that is gone, if the join was started before it was
-- written. Whoever repeats a call changes nothing. Returns how many are new.
create or replace function "windlass"."work_attach"(p_join_id uuid, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids     uuid[];
    v_unknown uuid[];
    v_ended   uuid[];
begin
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."work_lock"(p_ids, array[0, 1, 2, 3, 4, 5]);
    perform 1 from "windlass".windlass_join j where j.id = p_join_id for update;
    perform "windlass".windlass_join_known(p_join_id);
    if cardinality(v_ids) < cardinality(p_ids) then
        v_unknown := array(
            select unnest(p_ids)
            except select unnest(v_ids)
            except select g.message_id from "windlass".windlass_join_gone g where g.message_id = any (p_ids)
            except select c.message_id from "windlass".windlass_join_member c where c.join_id = p_join_id and c.message_id = any (p_ids));
        if cardinality(v_unknown) > 0 then
            perform "windlass".windlass_refuse('ids of messages of ' || 'work', v_unknown[1]::text,
                                             'Attach a message in the transaction that writes it, or start the join before it is written.');
        end if;
    end if;
    v_ids := "windlass".windlass_join_enter(p_join_id, 'work', array(select distinct i.id from unnest(p_ids) as i (id)));
    if cardinality(v_ids) > 0 then
        update "windlass"."work" m set joined = true, awaited = true where m.id = any (v_ids) and m.status + 0 <> 2;
        for v_status in 1 .. 2 loop
            v_ended := array(
                select m.id from "windlass"."work" m
                 where m.id = any (v_ids) and case m.status when 2 then 1 when 3 then 2 when 5 then 2 end = v_status
                 union
                select g.message_id from "windlass".windlass_join_gone g where g.message_id = any (v_ids) and g.status = v_status);
            if cardinality(v_ended) > 0 then
                perform "windlass".windlass_join_count(v_ended, v_status, p_join_id);
            end if;
        end loop;
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Makes messages that the caller has just written members of their joins; what was first under a deduplication key, in their place.
create or replace function "windlass"."work_enter_joins"(p_ids uuid[], p_join_ids uuid[], p_originals uuid[]) returns void
    language plpgsql
as $sql$
declare
    v_join  uuid;
    v_known uuid[];
begin
    if p_originals is not null then
        perform "windlass"."work_lock"(p_originals, array[0, 1, 2, 3, 4, 5]);
    end if;
    perform 1 from "windlass".windlass_join j where j.id = any (p_join_ids) order by j.id desc for update;
    for v_join in select distinct e.join_id from unnest(p_join_ids) as e (join_id) where e.join_id is not null loop
        perform "windlass".windlass_join_enter(v_join, 'work', array(
            select e.id
              from unnest(p_ids, p_join_ids, p_originals) as e (id, join_id, original)
             where e.join_id = v_join and e.original is null));
        v_known := array(
            select distinct e.original
              from unnest(p_join_ids, p_originals) as e (join_id, original)
             where e.join_id = v_join and e.original is not null);
        if cardinality(v_known) > 0 then
            perform "windlass"."work_attach"(v_join, v_known);
        end if;
    end loop;
end
$sql$;

-- Counts messages that end, if they are members of joins.
create or replace function "windlass"."work_joined_ended"(p_ids uuid[], p_status smallint) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_joined uuid[] := array(select m.id from "windlass"."work" m where m.id = any (p_ids) and m.joined);
begin
    if cardinality(v_joined) > 0 then
        perform "windlass".windlass_join_count(v_joined, case p_status when 2 then 1 else 2 end);
    end if;
end
$sql$;

-- Failed messages are to be handled once more: where their joins are pending, the failed steps are taken back.
create or replace function "windlass"."work_joined_reopened"(p_ids uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_joined uuid[] := array(select m.id from "windlass"."work" m where m.id = any (p_ids) and m.joined);
begin
    if cardinality(v_joined) > 0 then
        perform "windlass".windlass_join_take_back(v_joined);
    end if;
end
$sql$;

-- Notes how messages ended that are about to be deleted, while a join is pending to which they could still be attached.
create or replace function "windlass"."work_note_gone"(p_ids uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    if exists (select from "windlass".windlass_join j where j.status = 0) then
        insert into "windlass".windlass_join_gone (message_id, gone_at, status)
        select m.id, clock_timestamp(), case m.status when 2 then 1 else 2 end from "windlass"."work" m where m.id = any (p_ids)
        on conflict (message_id) do nothing;
    end if;
end
$sql$;

-- A queue in which a unique key names one message of a topic at most that has not ended.
alter table "windlass"."work"
    add column unique_key "windlass".windlass_name;

create unique index "work_key" on "windlass"."work" (topic, unique_key) where unique_key is not null and status < 2;

-- The message that has a unique key.
create or replace function "windlass"."work_find_key"(p_topic text, p_unique_key text) returns setof "windlass"."work"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query
    select m.* from "windlass"."work" m where m.topic = p_topic and m.unique_key = p_unique_key and m.status < 2;
end
$sql$;

-- Cancels the message that has a unique key, unless somebody has claimed it. Returns whether it did: then it is never handled.
create or replace function "windlass"."work_cancel_key"(p_topic text, p_unique_key text) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return "windlass"."work_cancel"(array(select m.id from "windlass"."work_find_key"(p_topic, p_unique_key) m)) = 1;
end
$sql$;

-- Gives failed messages, which the caller has locked, their unique keys back, and returns all but those whose key another has by now.
create or replace function "windlass"."work_reopen_keys"(p_ids uuid[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[] := p_ids;
    v_id  uuid;
begin
    foreach v_id in array array(select m.id
                                  from "windlass"."work" m
                                 where m.id = any (p_ids) and m.unique_key is not null
                                 order by m.id) loop
        begin
            update "windlass"."work" m set status = 0, ended_at = null, owner_token = null where m.id = v_id;
        exception
            when unique_violation then
                v_ids := array_remove(v_ids, v_id);
        end;
    end loop;
    return v_ids;
end
$sql$;

-- The work queue: items with priorities, limits, progress and results. A topic is the name of a queue here.
--
-- Items with a key are claimed in the turn of their key, so that none has to wait for all the others of another key; and a limit for
-- each key can be set. They are not in the index of the ready ones, but in one of their own.
alter table "windlass"."work"
    add column cancel_asked_at timestamptz,            -- somebody wants it to stop while it is in progress
    add column progress        "windlass".windlass_percent,
    add column type            "windlass".windlass_name not null, -- by this its handler is chosen
    add column turn_key        "windlass".windlass_name,
    add column progress_text   varchar(2048),
    add column result          text,
    add constraint "work_turn_check" check (keyed = (turn_key is not null) and status <> 4);

-- By a number that has nothing to do with the name, keys are spread evenly: a claim begins its round anywhere.
create index "work_turns" on "windlass"."work" (topic, hashtext(turn_key), turn_key, priority desc, next_attempt_at, id)
    where status = 0 and keyed;

-- Keys of which nothing is due are in that index too. Whether there is another tells this one. Only who names priority >= 0 can use it: it
-- would be the wrong one for a step from key to key, and the planner may not know.
create index "work_turns_due" on "windlass"."work" (topic, next_attempt_at) where status = 0 and keyed and priority >= 0;

-- Items as they are listed: without their content.
create view "windlass"."work_listed" with (security_invoker = true) as
select m.id, m.topic, m.type, m.source, m.status, m.priority, m.keyed, m.turn_key, m.unique_key, m.correlation_id, m.created_at,
       m.due_at, m.next_attempt_at, m.expires_at, m.claimed_at, m.locked_until, m.ended_at, m.erased_at, m.cancel_asked_at,
       m.processed_by, m.retry_count, m.lease_expiries, m.requeues, m.progress, m.progress_text, m.last_error
  from "windlass"."work" m;

-- The same under the names that work queues usually have.
create view "windlass"."work_items" with (security_invoker = true) as
select m.id, m.topic as queue, m.type,
       case m.status when 0 then 'queued' when 1 then 'running' when 2 then 'completed' when 3 then 'failed' else 'cancelled' end as state,
       m.priority, m.next_attempt_at as run_at, m.owner_token as claimed_by, m.locked_until as lease_expires_at,
       m.claimed_at as started_at, m.created_at, greatest(m.created_at, m.claimed_at, m.cancel_asked_at, m.ended_at) as updated_at,
       m.ended_at, m.retry_count, m.progress, m.progress_text, m.result, m.last_error, m.payload
  from "windlass"."work" m;

-- A queue whose messages are claimed by topic. What its verbs have in common stands with those for messages in progress.

-- Takes up to p_limit ready and due messages, at most p_places[i] of topic p_topics[i] and about p_bytes of payload, for
-- p_lease; the first one whatever its size. Without topics, of whatever topic there is, in random order, so that a full one
-- cannot keep the others waiting. Expired messages are left to expire(); paused topics are left alone, and of limited ones only as
-- many are taken as their limits leave.
--
-- Of a topic, the priorities of p_priorities come one after the other. With p_ageing that one comes first whose oldest message has
-- waited longest, where each step of priority counts as if it had waited for so much longer.
--
-- Under an open snapshot the dead entries of claimed messages stay in the index, and every claim would step over all of
-- them. So a claimer gives, for each topic and each priority, the position (next_attempt_at, id) up to which it knows that nothing
-- is left; the arrays have those of the first topic first.
-- How it knows: let F be the number of a claim's transaction that reached position P. Whoever stamped a message at or before
-- P did so before that claim read its clock, and had its own transaction number by then, so that number is below F. Once a
-- later claim from the old bound reaches past P in a snapshot with xmin > F, all of those transactions had ended in that
-- snapshot, and the claim has seen what they committed. What a claim itself makes ready, and takes, has a later stamp than
-- it can prove: it gets the time that the claim has read before it had its number.
--
-- With p_each it takes them one by one, and leaves those that a constraint or a trigger of the user's refuses; up to a thousand
-- of each topic. If all are refused, it fails as the last one did.
create or replace function "windlass"."work_claim"(
    p_owner      uuid,
    p_lease      interval,
    p_limit      integer,
    p_topics     text[] default null,
    p_places     integer[] default null,
    p_after_ats  timestamptz[] default null,
    p_after_ids  uuid[] default null,
    p_bytes      bigint default null,
    p_each       boolean default false,
    p_priorities integer[] default array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
    p_ageing     interval default null
) returns setof "windlass"."work"
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now     timestamptz := clock_timestamp();
    v_proved  timestamptz := v_now;
    v_bytes   bigint := coalesce(p_bytes, 9223372036854775807);
    v_most    bigint := p_limit;
    v_topics  text[];
    v_places  integer[];
    v_allowed integer[];
    v_paused  text[];
    v_limited text[];
    v_ids     uuid[] := '{}';
    v_keyed   uuid[] := '{}';
    v_found   record;
    v_counts  jsonb := '{}';
    v_size    bigint := 0;
    v_taken   uuid[] := '{}';
    v_refused uuid;
begin
    perform "windlass".windlass_check_lease(p_lease);
    if p_topics is not null then
        perform "windlass".windlass_check_lengths(cardinality(p_topics), cardinality(p_places));
        perform "windlass".windlass_check_lengths(cardinality(p_topics) * cardinality(p_priorities), cardinality(p_after_ats),
                                                cardinality(p_after_ids));
    end if;
    v_topics := coalesce(p_topics, array(select t from (select distinct "windlass"."work_ready_topics"() as t) r order by random()));
    v_places := coalesce(p_places, array_fill(p_limit, array[cardinality(v_topics)]));
    select coalesce(array_agg(t.topic) filter (where t.paused_at is not null), '{}'),
           array_agg(t.topic) filter (where num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0)
      into v_paused, v_limited
      from "windlass".windlass_topic t
     where t.queue = 'work';
    if v_limited && v_topics then
        v_places := "windlass"."work_limited_places"(v_topics, v_places, v_limited);
        v_now := clock_timestamp();
    end if;
    v_allowed := v_places;
    if p_each then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
        v_most := v_most + 1000;
        v_bytes := 9223372036854775807;
        v_places := array(select least(p.places, p_limit) + 1000 from unnest(v_places) with ordinality as p (places, number) order by p.number);
    end if;
    if exists (select
                 from unnest(v_topics) as want (topic)
                cross join lateral (
                      select
                        from "windlass"."work" m
                       where m.status = 0 and m.keyed and m.priority >= 0 and m.topic = want.topic and m.next_attempt_at <= v_now
                       limit 1) m) then
        select p.ids, p.places, v_bytes - p.bytes
          into v_keyed, v_places, v_bytes
          from "windlass"."work_pick_keyed"(v_topics, v_places, v_most, v_bytes, v_paused, v_now) p;
    end if;
    v_ids := v_keyed || array(
        select s.id
          from (select f.id, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
                  from unnest(v_topics, v_places) with ordinality as want (topic, places, number)
                 cross join lateral (
                       select r.id, r.size
                         from (select l.priority, (want.number - 1) * cardinality(p_priorities) + l.number as place
                                 from unnest(p_priorities) with ordinality as l (priority, number)
                                order by case when p_ageing is not null then
                                              (select o.next_attempt_at
                                                 from "windlass"."work" o
                                                where o.status = 0 and not o.keyed and o.topic = want.topic and o.priority = l.priority
                                                  and o.next_attempt_at <= v_now
                                                  and (o.next_attempt_at, o.id)
                                                      > (coalesce(p_after_ats[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '-infinity'),
                                                         coalesce(p_after_ids[(want.number - 1) * cardinality(p_priorities) + l.number],
                                                                  '00000000-0000-0000-0000-000000000000'))
                                                order by o.next_attempt_at, o.id
                                                limit 1) - l.priority * p_ageing end, l.number) level
                        cross join lateral (
                              select m.id, octet_length(m.payload) as size
                                from "windlass"."work" m
                               where m.status = 0
                                 and not m.keyed
                                 and m.topic = want.topic
                                 and m.priority = level.priority
                                 and m.next_attempt_at <= v_now
                                 and (m.next_attempt_at, m.id)
                                     > (coalesce(p_after_ats[level.place], '-infinity'),
                                        coalesce(p_after_ids[level.place], '00000000-0000-0000-0000-000000000000'))
                                 and (m.expires_at is null or m.expires_at > v_now)
                               order by m.next_attempt_at, m.id
                               limit want.places
                                 for update skip locked) r
                        limit want.places) f
                 where want.topic <> all (v_paused)
                 limit v_most - cardinality(v_keyed)) s
         where p_each or s.before is null or s.before < v_bytes);
    if cardinality(v_ids) = 0 then
-- many at once: each time, it calls itself.
        declare
            v_expired boolean := exists (select
                                           from "windlass"."work" m
                                          where m.status = 1 and m.locked_until <= v_now and m.topic <> all (v_paused)
                                            and (p_topics is null or m.topic = any (p_topics)));
        begin
            if "windlass"."work_reap"(p_lease, p_watched => true) > 0 and v_expired then
                return query
                select c.*
                  from "windlass"."work_claim"(p_owner, p_lease, p_limit, p_topics, p_places, p_after_ats, p_after_ids, p_bytes, p_each,
                                             p_priorities, p_ageing) c;
                return;
            end if;
        end;
    end if;
    if p_each then
        for v_found in
            select m.id, m.topic, octet_length(m.payload) as size
              from unnest(v_ids) with ordinality as p (id, number)
              join "windlass"."work" m on m.id = p.id
             order by p.number
        loop
            exit when cardinality(v_taken) >= p_limit or v_size >= p_bytes;
            continue when coalesce((v_counts ->> v_found.topic)::integer, 0)
                          >= v_allowed[array_position(v_topics, v_found.topic)];
            begin
                update "windlass"."work" m
                   set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
                       next_attempt_at = least(m.next_attempt_at, v_proved)
                 where m.id = v_found.id;
                v_taken := v_taken || v_found.id;
                v_counts := v_counts || jsonb_build_object(v_found.topic, coalesce((v_counts ->> v_found.topic)::integer, 0) + 1);
                v_size := v_size + v_found.size;
            exception when others or assert_failure then
                v_refused := v_found.id;
            end;
        end loop;
        v_ids := case when cardinality(v_taken) = 0 and v_refused is not null then array[v_refused] else v_taken end;
    end if;
    if v_limited && v_topics then
        perform "windlass"."work_note_starts"(v_ids, v_limited, v_now);
    end if;
    return query
    update "windlass"."work" m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
           next_attempt_at = least(m.next_attempt_at, v_proved)
     where m.id = any (v_ids)
    returning m.*; -- once more for those that were taken one by one; and if all were refused, it fails in the words of who refuses
end
$sql$;

-- How many of these topics may be claimed, where they have limits. Whoever learns it holds the rows of the limits until its commit, so that
-- the next one counts what it has taken. A topic whose row somebody else holds for longer than a moment gets no place now.
create or replace function "windlass"."work_limited_places"(p_topics text[], p_places integer[], p_limited text[]) returns integer[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '20ms'
as $sql$
declare
    v_places integer[] := p_places;
    v_topic  text;
    v_limit  "windlass".windlass_topic;
    v_now    timestamptz;
    v_room   integer;
begin
    for v_topic in select l.topic from unnest(p_limited) as l (topic) where l.topic = any (p_topics) order by l.topic loop
        begin
            select t.* into v_limit from "windlass".windlass_topic t where t.queue = 'work' and t.topic = v_topic for update;
        exception
            when lock_not_available then
                v_places[array_position(p_topics, v_topic)] := 0;
                continue;
        end;
        if current_setting('transaction_isolation') <> 'read committed' then -- no new snapshot: who counts with an old one has to fail
            update "windlass".windlass_topic t set topic = t.topic where t.queue = 'work' and t.topic = v_topic;
        end if;
        v_now := clock_timestamp();
        v_room := v_places[array_position(p_topics, v_topic)];
        if v_limit.max_running is not null then
            v_room := least(v_room, v_limit.max_running - cardinality("windlass"."work_in_progress"(v_topic, v_now)));
        end if;
        if v_limit.rate is not null then
            delete from "windlass".windlass_start s
             where s.queue = 'work' and s.topic = v_topic and s.started_at <= v_now - v_limit.rate_period;
            v_room := least(v_room, v_limit.rate - (select coalesce(sum(s.messages), 0)
                                                      from "windlass".windlass_start s
                                                     where s.queue = 'work' and s.topic = v_topic));
        end if;
        v_places[array_position(p_topics, v_topic)] := greatest(v_room, 0);
    end loop;
    return v_places;
end
$sql$;

-- The messages of a topic that are in progress. Those whose lease has run out are not: their rows are locked, so that no renewal that is
-- under way can bring them back. One that cannot be locked is being renewed, or ends; it counts.
create or replace function "windlass"."work_in_progress"(p_topic text, p_now timestamptz) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_live    uuid[];
    v_expired uuid[];
begin
    select coalesce(array_agg(m.id) filter (where m.locked_until > p_now), '{}'), array_agg(m.id) filter (where m.locked_until <= p_now)
      into v_live, v_expired
      from "windlass"."work" m
     where m.status = 1 and m.locked_until > p_now - interval '10 minutes' and m.topic = p_topic; -- no renewal takes that long
    if v_expired is not null then
        v_live := v_live || array(
            select unnest(v_expired)
            except
            select unnest(array(select m.id
                                  from "windlass"."work" m
                                 where m.id = any (v_expired) and (m.locked_until <= p_now or m.locked_until is null)
                                   for update skip locked)));
    end if;
    return v_live;
end
$sql$;

-- Notes what begins of topics that have a rate; their limits are locked.
create or replace function "windlass"."work_note_starts"(p_ids uuid[], p_limited text[], p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    insert into "windlass".windlass_start (queue, topic, started_at, messages)
    select 'work', m.topic, p_now, count(*)
      from "windlass"."work" m
     where m.id = any (p_ids)
       and m.topic in (select t.topic
                         from "windlass".windlass_topic t
                        where t.queue = 'work' and t.topic = any (p_limited) and t.rate is not null)
     group by m.topic;
end
$sql$;

-- The topics that have ready messages, due or not: one step in the index for each.
create or replace function "windlass"."work_ready_topics"() returns setof text
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with recursive step (topic) as (
        (select m.topic
           from "windlass"."work" m
          where m.status = 0 and not m.keyed and m.topic is not null
          order by m.topic
          limit 1)
        union all
        select (select m.topic
                  from "windlass"."work" m
                 where m.status = 0 and not m.keyed and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
    return query
    with recursive step (topic) as (
        (select m.topic
           from "windlass"."work" m
          where m.status = 0 and m.keyed and m.topic is not null
          order by m.topic
          limit 1)
        union all
        select (select m.topic
                  from "windlass"."work" m
                 where m.status = 0 and m.keyed and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
end
$sql$;

-- How many milliseconds until the next ready message of these topics is due, at most a day; zero or less when one is due
-- now, null when there is none. The bounds are those of claim.
create or replace function "windlass"."work_next_due"(
    p_topics     text[],
    p_after_ats  timestamptz[],
    p_after_ids  uuid[],
    p_priorities integer[] default array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
) returns bigint
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_due bigint;
begin
    v_due := (
        select ceil(extract(epoch from min(least(f.next_attempt_at, v_now + interval '1 day')) - v_now) * 1000)
          from unnest(p_topics) with ordinality as want (topic, number)
         cross join unnest(p_priorities) with ordinality as level (priority, number)
         cross join lateral (
               select m.next_attempt_at
                 from "windlass"."work" m
                where m.status = 0
                  and not m.keyed
                  and m.topic = want.topic
                  and m.priority = level.priority
                  and (m.next_attempt_at, m.id) > (p_after_ats[(want.number - 1) * cardinality(p_priorities) + level.number],
                                                   p_after_ids[(want.number - 1) * cardinality(p_priorities) + level.number])
                  and (m.expires_at is null or m.expires_at > v_now)
                order by m.next_attempt_at, m.id
                limit 1) f
         where want.topic not in (select t.topic
                                    from "windlass".windlass_topic t
                                   where t.queue = 'work' and t.paused_at is not null));
    return least(v_due, (
        select min(greatest(250, ceil(extract(epoch from least(f.next_attempt_at, v_now + interval '1 day') - v_now) * 1000)))
          from unnest(p_topics) as want (topic)
         cross join lateral (
               select m.next_attempt_at
                 from "windlass"."work" m
                where m.status = 0 and m.keyed and m.priority >= 0 and m.topic = want.topic
                order by m.next_attempt_at
                limit 1) f
         where want.topic not in (select t.topic
                                    from "windlass".windlass_topic t
                                   where t.queue = 'work' and t.paused_at is not null)));
    return v_due;
end
$sql$;

-- What there is to do in this queue, for whoever has nothing to do and would rather not ask one question after the other. It changes
-- nothing and waits for nobody, not even for one who rewrites the table, so that one statement can ask it of all queues. Without
-- p_topics it does not look for due messages; with p_others it also names the topics besides these that have ready ones.
create or replace function "windlass"."work_look"(p_topics text[] default null, p_others boolean default false)
    returns "windlass".windlass_look
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '100ms'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_look "windlass".windlass_look;
begin
    if p_topics is not null then
        v_look.due_in := "windlass"."work_next_due"(
            p_topics, array_fill('-infinity'::timestamptz, array[cardinality(p_topics) * cardinality(array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0])]),
            array_fill('00000000-0000-0000-0000-000000000000'::uuid, array[cardinality(p_topics) * cardinality(array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0])]));
    end if;
    v_look.expires_in := (select ceil(extract(epoch from least(m.expires_at, v_now + interval '1 day') - v_now) * 1000)
                            from "windlass"."work" m
                           where m.status in (0, 4) and m.expires_at is not null
                           order by m.expires_at
                           limit 1);
    v_look.leased := exists (select from "windlass"."work" m where m.status = 1 and m.locked_until is not null);
    if p_others and p_topics is not null then
        v_look.others := array(select t.topic from "windlass"."work_ready_topics"() as t (topic) except select unnest(p_topics));
    end if;
    return v_look;
end
$sql$;

-- Ends messages whose expiry has passed as failed, ready ones and such that wait for their turn. Returns how many.
create or replace function "windlass"."work_expire"(p_limit integer default 1000) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[];
begin
    v_ids := array(select r.id
                     from "windlass"."work" r
                    where r.status in (0, 4) and r.expires_at is not null and r.expires_at <= v_now
                    order by r.expires_at
                    limit p_limit
                      for update skip locked);
    return "windlass"."work_maintain"('expire', v_ids);
end
$sql$;

-- Deletes what has been done or cancelled for longer than p_keep. Returns how many.
create or replace function "windlass"."work_clean"(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
as $sql$
begin
    return (select c.deleted from "windlass"."work_clean_after"(p_keep, p_limit, '-infinity') c);
end
$sql$;

-- The same for those who delete many in a row: of what is done, it looks only at what ended at p_after or later, and tells how far it has
-- come. Under an open snapshot the entries of what has been deleted stay in the index, and whoever begins at the start steps over
-- them. What was locked, or was committed very late, is left behind: begin at the start now and then.
create or replace function "windlass"."work_clean_after"(
    p_keep  interval,
    p_limit integer,
    p_after timestamptz,
    out deleted integer,
    out reached timestamptz
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_ids    uuid[];
begin
    select coalesce(array_agg(l.id), '{}'), max(l.ended_at)
      into v_ids, reached
      from (select r.id, r.ended_at
              from "windlass"."work" r
             where r.status = 2 and r.id is not null and r.ended_at >= p_after and r.ended_at < v_before
             order by r.ended_at
             limit p_limit
               for update skip locked) l;
    v_ids := v_ids || array(select r.id
                              from "windlass"."work" r
                             where r.status = 5 and r.id is not null and r.ended_at < v_before
                             order by r.ended_at
                             limit p_limit - cardinality(v_ids)
                               for update skip locked);
    deleted := "windlass"."work_maintain"('clean', v_ids);
end
$sql$;

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
create or replace function "windlass"."work_ack"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text default null,
    p_keep         boolean default true,
    p_notify       boolean default true,
    p_again        boolean default true
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."work_change_held"(case when p_keep then 'ack' else 'delete' end, p_ids, p_owners,
                                        p_processed_by => p_processed_by, p_notify => p_notify, p_again => p_again);
end
$sql$;

-- Returns messages to ready after a failed attempt, which is counted and kept in the history unless p_counted says otherwise. A
-- null delay means min(2^retry_count s, 60 s).
create or replace function "windlass"."work_abandon"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_delays       interval[] default null,
    p_errors       text[] default null,
    p_processed_by text default null,
    p_counted      boolean[] default null
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_delays), cardinality(p_errors), cardinality(p_counted));
    return "windlass"."work_change_held"('abandon', p_ids, p_owners, p_processed_by => p_processed_by, p_delays => p_delays,
                                        p_errors => p_errors, p_flags => p_counted);
end
$sql$;

-- Returns messages to ready without counting an attempt: the owner is shutting down or cannot handle them. Other nodes are
-- told.
create or replace function "windlass"."work_release"(
    p_ids    uuid[],
    p_owners uuid[],
    p_delay  interval default '0 s'
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."work_change_held"('release', p_ids, p_owners, p_delays => array[p_delay]);
end
$sql$;

-- Ends messages as failed; they are not claimed again. Under an ordering key, the others wait until it is requeued, purged or
-- passed over, unless p_block says otherwise.
create or replace function "windlass"."work_fail"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_errors       text[] default null,
    p_processed_by text default null,
    p_block        boolean[] default null,
    p_notify       boolean default true
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_errors), cardinality(p_block));
    return "windlass"."work_change_held"('fail', p_ids, p_owners, p_processed_by => p_processed_by, p_errors => p_errors,
                                        p_flags => p_block, p_notify => p_notify);
end
$sql$;

-- Renews the leases that have not run out.
create or replace function "windlass"."work_heartbeat"(
    p_ids    uuid[],
    p_owners uuid[],
    p_lease  interval
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_lease(p_lease);
    return "windlass"."work_change_held"('heartbeat', p_ids, p_owners, p_delays => array[p_lease], p_leave => true);
end
$sql$;

-- Writes down that the handlers of these messages start now. If their lease runs out after that, it is held against them.
create or replace function "windlass"."work_start"(
    p_ids    uuid[],
    p_owners uuid[]
) returns "windlass".windlass_answer
    language plpgsql
as $sql$
begin
    return "windlass"."work_change_held"('start', p_ids, p_owners, p_leave => true);
end
$sql$;

-- Gives back all that a claim took whose answer was lost or could not be read: to ready, without counting an attempt, or, with
-- a reason why it cannot be read, as failed. Tells how many, and how many are left because somebody has them locked, or because
-- they are refused: ask for them again. None at all may mean that the claim is not committed yet.
create or replace function "windlass"."work_give_back"(
    p_owner uuid,
    p_error text default null,
    out given       integer,
    out left_locked integer
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_ids uuid[] := array(select m.id
                            from "windlass"."work" m
                           where m.status = 1 and m.locked_until > clock_timestamp() and m.owner_token = p_owner);
begin
    given := 0;
    left_locked := 0;
    if cardinality(v_ids) > 0 then
        select s.changed, cardinality(s.locked)
          into given, left_locked
          from "windlass"."work_change_held"(case when p_error is null then 'release' else 'fail' end, v_ids, array[p_owner],
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
create or replace function "windlass"."work_change_held"(
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
) returns "windlass".windlass_answer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
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
    v_answer  "windlass".windlass_answer;
begin
    if cardinality(p_ids) <> cardinality(v_owners) then
        raise exception 'expected one owner, or one for each of % messages, got %', cardinality(p_ids), cardinality(p_owners)
            using errcode = 'invalid_parameter_value', hint = 'Give the owner tokens in the order of the ids.';
    end if;
    if p_leave then
        set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    end if;
    begin
        v_done := "windlass"."work_change_all"(p_verb, p_ids, p_ids, v_owners, p_processed_by, p_delays, p_errors, p_flags, p_notify,
                                          p_pass_on);
    exception
        when others or assert_failure then
            if sqlstate <> '55P03' and not p_leave then
                raise;
            end if;
            v_done := '{}';
            v_free := array(select m.id from "windlass"."work" m where m.id = any (p_ids) order by m.id for update skip locked);
            foreach v_awaited in array array[false, true] loop
                v_part := array(select m.id from "windlass"."work" m where m.id = any (v_free) and m.awaited = v_awaited);
                begin
                    v_done := v_done || "windlass"."work_change_all"(p_verb, v_part, p_ids, v_owners, p_processed_by, p_delays,
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
                    v_done := v_done || "windlass"."work_change_all"(p_verb, array[v_id], p_ids, v_owners, p_processed_by, p_delays,
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
                v_done := "windlass"."work_change_all"(p_verb, array[v_refused], p_ids, v_owners, p_processed_by, p_delays, p_errors,
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
                  left join "windlass"."work" m on m.id = c.id and m.id = any (p_ids)) e;
    else
        v_answer := (cardinality(v_done), '{}', '{}');
    end if;
    return v_answer;
end
$sql$;

-- Changes those of p_only that their owners hold; what is said of each stands in the order of p_ids. Fails if somebody holds a
-- row for longer than a moment, or, where p_patient says that the caller has locked them, than a second. Returns the ids that it changed.
create or replace function "windlass"."work_change_all"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
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
                update "windlass"."work" m
                   set status = 2, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited)
            select coalesce(array_agg(done.id), '{}'), array_agg(done.id) filter (where done.awaited)
              into v_ids, v_awaited from done;
            if v_awaited is not null then
                perform "windlass"."work_ended"(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
            end if;
        when 'delete' then
            v_ids := '{}';
            if p_pass_on then -- else all of them are awaited, as a rule
                with done as (
                    delete from "windlass"."work" m
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
                          join "windlass"."work" m on m.id = c.id
                         where m.id = any (p_only) and m.owner_token = c.owner_token and m.locked_until is not null
                           for update of m) l;
                if v_awaited is not null then
                    perform "windlass"."work_ended"(v_awaited, 2::smallint, '{}', p_pass_on, p_notify);
                    delete from "windlass"."work" m where m.id = any (v_awaited);
                    v_ids := v_ids || v_awaited;
                end if;
            end if;
            if v_tried is not null then
                delete from "windlass"."work_failure" h where h.message_id = any (v_tried);
            end if;
            perform "windlass".windlass_join_note_done(v_ids);
        when 'abandon' then
            perform pg_current_xact_id();
            with failed as (
                update "windlass"."work" m
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
                insert into "windlass"."work_failure" (message_id, failed_at, attempt, node, error)
                select failed.id, clock_timestamp(), failed.attempt, left(p_processed_by, 100), left(failed.error, 2048)
                  from failed
                 where failed.counted)
            select coalesce(array_agg(failed.id), '{}') into v_ids from failed;
            perform "windlass"."work_end_asked"(v_ids);
        when 'release' then
            perform pg_current_xact_id();
            with released as (
                update "windlass"."work" m
                   set status = 0, owner_token = null, locked_until = null,
                       next_attempt_at = greatest(
                           clock_timestamp() + coalesce(p_delays[1], interval '0'),
                           case when m.next_attempt_at > m.claimed_at then m.next_attempt_at end) -- put off by a trigger of the user's
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id)
            select coalesce(array_agg(released.id), '{}') into v_ids from released;
            perform "windlass"."work_end_asked"(v_ids);
            if cardinality(v_ids) > 0 then
                perform pg_notify('windlass.windlass.work', 'ready');
            end if;
        when 'fail' then
            with ended as (
                update "windlass"."work" m
                   set status = 3, locked_until = null, ended_at = clock_timestamp(), processed_by = p_processed_by,
                       last_error = coalesce(left(c.error, 2048), m.last_error)
                  from (select * from unnest(p_ids, p_owners, p_errors) as u (id, owner_token, error) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token and m.locked_until is not null
                returning m.id, m.awaited, m.ended_at, m.retry_count, c.error),
            recorded as (
                insert into "windlass"."work_failure" (message_id, failed_at, attempt, node, error)
                select ended.id, ended.ended_at, ended.retry_count + 1, left(p_processed_by, 100), left(ended.error, 2048)
                  from ended)
            select coalesce(array_agg(ended.id), '{}'), array_agg(ended.id) filter (where ended.awaited)
              into v_ids, v_awaited from ended;
            if v_awaited is not null then
                perform "windlass"."work_ended"(
                    v_awaited, 3::smallint,
                    array(select u.id from unnest(p_ids, p_flags) as u (id, block) where u.block is not false),
                    p_pass_on, p_notify);
            end if;
        when 'heartbeat' then
            with kept as (
                update "windlass"."work" m
                   set locked_until = clock_timestamp() + p_delays[1]
                  from (select * from unnest(p_ids, p_owners) as u (id, owner_token) order by u.id) c
                 where m.id = any (p_only) and m.id = c.id and m.owner_token = c.owner_token
                   and m.locked_until > clock_timestamp()
                returning m.id)
            select coalesce(array_agg(kept.id), '{}') into v_ids from kept;
        when 'start' then
            with begun as (
                update "windlass"."work" m
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
create or replace function "windlass"."work_reap"(
    p_quiet   interval,
    p_limit   integer default 1000,
    p_watched boolean default false
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer;
begin
    if v_now < pg_postmaster_start_time() + p_quiet
       or p_watched and not "windlass"."work_is_calm"(p_quiet) then
        return 0;
    end if;
    v_count := "windlass"."work_maintain"('reap', array(
        select r.id
          from "windlass"."work" r
         where r.status = 1 and r.id is not null and r.locked_until <= v_now
         order by r.locked_until
         limit p_limit
           for update skip locked));
    if v_count > 0 then
        perform pg_notify('windlass.windlass.work', 'ready');
    end if;
    return v_count;
end
$sql$;

-- What has to be done to messages that the caller has locked: reap, expire or clean; see windlass_each. Returns how many.
create or replace function "windlass"."work_maintain"(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
as $sql$
begin
    return "windlass".windlass_each(
        'select ' || $name$"windlass"."work_maintain_all"$name$ || '(' || quote_literal(p_verb) || ', $1::uuid[])', p_ids::text[]);
end
$sql$;

create or replace function "windlass"."work_maintain_all"(p_verb text, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids   uuid[];
    v_count integer;
begin
    case p_verb
        when 'reap' then
            with reaped as (
                update "windlass"."work" m
                   set status = 0, owner_token = null, locked_until = null, lease_expiries = m.lease_expiries + 1,
                       crashes = least(m.crashes + m.started::integer, 32767), next_attempt_at = clock_timestamp()
                 where m.id = any (p_ids)
                returning m.id, m.next_attempt_at, m.retry_count),
            recorded as (
                insert into "windlass"."work_failure" (message_id, failed_at, attempt, error)
                select reaped.id, reaped.next_attempt_at, reaped.retry_count + 1, 'its lease ran out' from reaped)
            select coalesce(array_agg(reaped.id), '{}') into v_ids from reaped;
            v_count := cardinality(v_ids);
            perform "windlass"."work_end_asked"(v_ids);
        when 'expire' then
            v_count := "windlass"."work_end_unclaimed"(p_ids, 3::smallint, 'expired before it was handled');
        when 'clean' then
            v_count := "windlass"."work_remove"(p_ids);
    end case;
    return v_count;
end
$sql$;

-- Deletes messages that the caller has locked, with their history. Returns how many.
create or replace function "windlass"."work_remove"(p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_count integer;
    v_tried uuid[];
begin
    perform "windlass"."work_note_gone"(p_ids);
    with removed as (
        delete from "windlass"."work" m
         where m.id = any (p_ids)
        returning m.id, m.status = 3 or m.retry_count + m.lease_expiries + m.requeues > 0 as tried)
    select count(*), array_agg(removed.id) filter (where removed.tried) into v_count, v_tried from removed;
    if v_tried is not null then
        delete from "windlass"."work_failure" h where h.message_id = any (v_tried);
    end if;
    return v_count;
end
$sql$;

-- Does what has to be done when messages end for which something has to be done (awaited), in the same transaction. Called after
-- their rows have been changed, or locked and not deleted yet.
create or replace function "windlass"."work_ended"(
    p_ids      uuid[],
    p_status   smallint,
    p_blocking uuid[],
    p_pass_on  boolean,
    p_notify   boolean
) returns void
    language plpgsql
as $sql$
begin
    perform "windlass"."work_joined_ended"(p_ids, p_status);
end
$sql$;

-- Ends messages that nobody has claimed; the caller has locked them. Returns how many.
create or replace function "windlass"."work_end_unclaimed"(p_ids uuid[], p_status smallint, p_reason text) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_waiting uuid[] := array(select m.id from "windlass"."work" m where m.id = any (p_ids) and m.status + 0 = 4);
    v_count   integer;
    v_awaited uuid[];
begin
    with ended as (
        update "windlass"."work" m
           set status = p_status, ended_at = clock_timestamp(), last_error = coalesce(p_reason, m.last_error)
         where m.id = any (p_ids)
        returning m.id, m.awaited)
    select count(*), array_agg(ended.id) filter (where ended.awaited) into v_count, v_awaited from ended;
    if v_awaited is not null then
        perform "windlass"."work_ended"(array(select unnest(v_awaited) except select unnest(v_waiting)), p_status, '{}', true, true);
        perform "windlass"."work_ended"(array(select unnest(v_awaited) intersect select unnest(v_waiting)), p_status, '{}', false,
                                       true);
    end if;
    return v_count;
end
$sql$;

-- Whether living owners have had the time to renew: somebody has been here again and again, and the last interruption lies
-- p_quiet back. Owners renew every third of a lease; so after two thirds without anybody, leases may have run out for no fault
-- of theirs. A server that was away, or has just become the primary, was not here. A clock that was set back is an interruption,
-- too; what was noted by the clock before does not count.
create or replace function "windlass"."work_is_calm"(p_quiet interval) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_watch "windlass".windlass_watch;
begin
    select w.* into v_watch from "windlass".windlass_watch w where w.queue = 'work';
    if v_watch.seen_at between v_now - p_quiet / 10 and v_now + p_quiet then
        return v_watch.quiet_until <= v_now;
    end if;
    perform 1 from "windlass".windlass_watch w where w.queue = 'work' for update skip locked;
    if found then -- else whoever has it locked is here, too
        update "windlass".windlass_watch w
           set seen_at = v_now,
               quiet_until = case when w.seen_at between v_now - p_quiet * 2 / 3 and v_now + p_quiet then w.quiet_until
                                  else v_now + p_quiet end
         where w.queue = 'work'
        returning w.* into v_watch;
    end if;
    return v_watch.quiet_until <= v_now;
end
$sql$;

-- Locks those of the ids that are in one of these states. Whoever has one locked is waited for, in the order of the ids and with none
-- locked that is not in these states, so that two who want the same cannot deadlock; and a message that has left them meanwhile is
-- not kept locked, as PostgreSQL would: its owner could not renew it.
create or replace function "windlass"."work_lock"(p_ids uuid[], p_states integer[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
    v_id  uuid;
begin
    begin
        v_ids := array(select m.id
                         from "windlass"."work" m
                        where m.id = any (p_ids) and m.status + 0 = any (p_states)
                        order by m.id
                          for update skip locked);
        if not exists (select
                         from "windlass"."work" m
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
                select m.id from "windlass"."work" m where m.id = any (p_ids) and m.status + 0 = any (p_states) order by m.id
            loop
                perform 1 from "windlass"."work" m where m.id = v_id and m.status + 0 = any (p_states) for update;
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

insert into "windlass".windlass_watch (queue, seen_at, quiet_until)
values ('work', clock_timestamp(), '-infinity')
on conflict do nothing;

-- What programs and operators do to messages of a queue that nobody is handling. What an operator does is recorded in the same
-- transaction: who, when, what, and to how many messages.

-- One message, in whatever state.
create or replace function "windlass"."work_find"(p_id uuid) returns setof "windlass"."work"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query select m.* from "windlass"."work" m where m.id = p_id;
end
$sql$;

-- The attempts of a message that failed, the oldest first.
create or replace function "windlass"."work_failures"(p_id uuid) returns setof "windlass"."work_failure"
    language plpgsql
    stable
as $sql$
begin
    return query select h.* from "windlass"."work_failure" h where h.message_id = p_id order by h.failed_at;
end
$sql$;

-- Ends messages that nobody has claimed as cancelled; they are gone at once unless p_keep says otherwise. Returns how many;
-- others, claimed or ended, stay as they are.
create or replace function "windlass"."work_cancel"(p_ids uuid[], p_keep boolean default true) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."work_lock"(p_ids, array[0, 4]);
    if p_keep or exists (select from "windlass"."work" m where m.id = any (v_ids) and m.awaited) then
        perform "windlass"."work_end_unclaimed"(v_ids, 5::smallint, null);
    end if;
    if not p_keep and "windlass"."work_remove"(v_ids) < cardinality(v_ids) then -- what cannot be deleted now is cancelled all the same
        perform "windlass"."work_end_unclaimed"(
            array(select m.id from "windlass"."work" m where m.id = any (v_ids) and m.status + 0 in (0, 4)), 5::smallint, null);
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Moves the due time of messages that nobody has claimed: to p_due_at, or p_delay from now, or now. Returns how many.
create or replace function "windlass"."work_reschedule"(
    p_ids    uuid[],
    p_due_at timestamptz default null,
    p_delay  interval default null,
    p_notify boolean default true
) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
    v_now timestamptz;
    v_due timestamptz;
begin
    perform "windlass".windlass_check_ids(p_ids);
    perform "windlass".windlass_check_times(p_due_at, p_delay);
    v_ids := "windlass"."work_lock"(p_ids, array[0, 4]);
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    v_due := coalesce(p_due_at, v_now + p_delay, v_now);
    update "windlass"."work" m
       set due_at = v_due, next_attempt_at = greatest(v_now, v_due)
     where m.id = any (v_ids);
    if p_notify and cardinality(v_ids) > 0 then
        perform pg_notify('windlass.windlass.work', 'ready');
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
create or replace function "windlass"."work_list"(
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
) returns setof "windlass"."work_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
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
    if p_status = 0 then
        return query
        select r.*
          from (select f.*
                  from unnest(case when p_topic is null then array(select distinct "windlass"."work_ready_topics"())
                                   else array[p_topic] end) t (topic)
                 cross join unnest(array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]) level (priority)
                 cross join lateral (
                       select m.*
                         from "windlass"."work_listed" m
                        where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                          and m.next_attempt_at >= v_from and m.next_attempt_at <= v_to
                          and (m.next_attempt_at, m.id) > (v_after, v_first)
                          and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                        order by m.next_attempt_at, m.id
                        limit p_limit) f
                 union all
                select m.*
                  from "windlass"."work_listed" m
                 where m.status = 0 and m.keyed and (p_topic is null or m.topic = p_topic)
                   and m.next_attempt_at >= v_from and m.next_attempt_at <= v_to
                   and (m.next_attempt_at, m.id) > (v_after, v_first)
                   and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)) r
         where p_source is null
         order by r.next_attempt_at, r.id
         limit p_limit;
        return;
    end if;
    if p_status is null then
        return query
        select m.*
          from "windlass"."work_listed" m
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
          from unnest(case when p_topic is null then array(select distinct "windlass"."work_ready_topics"()) else array[p_topic] end) t (topic)
         cross join unnest(array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]) level (priority)
         cross join lateral (
               select m.*
                 from "windlass"."work_listed" m
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
          from "windlass"."work_listed" m
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
          from "windlass"."work_listed" m
         where m.status = 3 and m.topic = p_topic
           and m.ended_at >= v_from and m.ended_at < v_until and (m.ended_at, m.id) < (v_before, v_last)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ended_at desc, m.id desc
         limit p_limit;
    else
        return query
        select m.*
          from "windlass"."work_listed" m
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
create or replace function "windlass"."work_pick_failed"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_from  timestamptz := coalesce(p_from, '-infinity');
    v_until timestamptz := "windlass".windlass_action_until(p_action, p_until);
    v_ids   uuid[];
begin
    perform "windlass".windlass_check_choice(p_by, p_ids, coalesce(p_topic, p_source, p_from::text, p_until::text, p_error) is not null,
                                           p_limit, p_all);
    if p_ids is not null then
        v_ids := "windlass"."work_lock"(p_ids, array[3]);
        return array(select m.id from "windlass"."work" m where m.id = any (v_ids) and (m.erased_at is null or not p_whole));
    elsif p_topic is not null then
        return array(select m.id
                       from "windlass"."work" m
                      where m.status = 3 and m.topic = p_topic and m.ended_at >= v_from and m.ended_at < v_until
                        and (p_source is null or m.source = p_source)
                        and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                        and (m.erased_at is null or not p_whole)
                      order by m.ended_at, m.id
                      limit p_limit
                        for update skip locked);
    end if;
    return array(select m.id
                   from "windlass"."work" m
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
create or replace function "windlass"."work_requeue"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now     timestamptz;
    v_ids     uuid[];
    v_waiting uuid[] := '{}';
begin
    v_ids := "windlass"."work_pick_failed"(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, true);
    messages := cardinality(v_ids);
    reached := (select max(m.ended_at) from "windlass"."work" m where m.id = any (v_ids));
    perform pg_current_xact_id();
    v_ids := "windlass"."work_reopen_keys"(v_ids);
    messages := cardinality(v_ids);
    perform "windlass"."work_joined_reopened"(v_ids);
    update "windlass"."work" m
       set cancel_asked_at = null, progress = null, progress_text = null, result = null
     where m.id = any (v_ids);
    v_now := clock_timestamp();
    update "windlass"."work" m
       set status = case when m.id = any (v_waiting) then 4 else 0 end, owner_token = null,
           next_attempt_at = greatest(v_now, m.due_at), ended_at = null, processed_by = null, lease_expiries = 0, crashes = 0,
           retry_count = case when p_reset then 0 else m.retry_count end,
           requeues = least(m.requeues + 1, 32767),
           expires_at = case when m.expires_at > v_now then m.expires_at end
     where m.id = any (v_ids);
    if messages > 0 then
        perform pg_notify('windlass.windlass.work', 'ready');
    end if;
    action := "windlass".windlass_record('work', p_action, p_by, 'requeue', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error,
                                     'reset', p_reset));
    return next;
end
$sql$;

-- Deletes failed messages and their history. Otherwise as requeue.
create or replace function "windlass"."work_purge"(
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    v_ids := "windlass"."work_pick_failed"(p_by, p_ids, p_topic, p_source, p_from, p_until, p_error, p_limit, p_action, p_all, false);
    reached := (select max(m.ended_at) from "windlass"."work" m where m.id = any (v_ids));
    messages := "windlass"."work_remove"(v_ids);
    action := "windlass".windlass_record('work', p_action, p_by, 'purge', messages, p_ids,
                  jsonb_build_object('topic', p_topic, 'source', p_source, 'from', p_from, 'until', p_until, 'error', p_error));
    return next;
end
$sql$;

-- Removes payload and headers of messages that have ended; everything else stays. Returns how many.
create or replace function "windlass"."work_erase"(p_by text, p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids uuid[];
begin
    perform "windlass".windlass_check_by(p_by);
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."work_lock"(p_ids, array[2, 3, 5]);
    update "windlass"."work" m set result = null, progress_text = null where m.id = any (v_ids);
    v_ids := "windlass"."work_lock"(p_ids, array[2, 3, 5]);
    v_ids := array(select m.id from "windlass"."work" m where m.id = any (v_ids) and m.erased_at is null);
    update "windlass"."work" m set payload = '', headers = null, erased_at = clock_timestamp() where m.id = any (v_ids);
    perform "windlass".windlass_record('work', null, p_by, 'erase', cardinality(v_ids), p_ids, '{}');
    return cardinality(v_ids);
end
$sql$;

-- Stops claims of a topic, everywhere; handlers that are at work finish. Returns whether it was not paused before.
create or replace function "windlass"."work_pause_topic"(p_by text, p_topic text, p_reason text default null) returns boolean
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    if p_topic is null or btrim(p_topic) = '' then
        perform "windlass".windlass_refuse('a topic', case when p_topic is null then 'null' else 'blank text' end,
                                         'Topics are paused one by one.');
    end if;
    insert into "windlass".windlass_topic as t (queue, topic, paused_at, paused_by, reason)
    values ('work', p_topic, clock_timestamp(), p_by, nullif(left(p_reason, 2048), ''))
    on conflict (queue, topic) do update
       set paused_at = excluded.paused_at, paused_by = excluded.paused_by, reason = excluded.reason
     where t.paused_at is null;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('work', null, p_by, 'pause', 0, null, jsonb_build_object('topic', p_topic, 'reason', p_reason));
    perform pg_notify('windlass.windlass.work', 'topics');
    return true;
end
$sql$;

-- Lets a topic be claimed again. Returns whether it was paused.
create or replace function "windlass"."work_resume_topic"(p_by text, p_topic text) returns boolean
    language plpgsql
as $sql$
begin
    perform "windlass".windlass_check_by(p_by);
    delete from "windlass".windlass_topic t
     where t.queue = 'work' and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) = 0;
    if not found then
        update "windlass".windlass_topic t
           set paused_at = null, paused_by = null, reason = null
         where t.queue = 'work' and t.topic = p_topic and t.paused_at is not null;
    end if;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('work', null, p_by, 'resume', 0, null, jsonb_build_object('topic', p_topic));
    perform pg_notify('windlass.windlass.work', 'topics');
    return true;
end
$sql$;

-- Limits a topic over all nodes: how many are in progress at once, how many of each key, and how many begin within any time of this
-- length. What is left out is not limited. Whatever is in progress goes on. Returns whether that is a change.
create or replace function "windlass"."work_limit_topic"(
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
    perform "windlass".windlass_check_by(p_by);
    perform "windlass".windlass_check_limit(p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period);
    if p_max_per_key is not null and not true then
        perform "windlass".windlass_refuse('a limit without p_max_per_key, since messages of ' || 'work' || ' have no keys',
                                         p_max_per_key::text, 'Leave p_max_per_key out.');
    end if;
    if num_nonnulls(p_max_running, p_max_per_key, p_rate) > 0 then
        insert into "windlass".windlass_topic as t (queue, topic, max_running, max_per_key, rate, rate_period)
        values ('work', p_topic, p_max_running, p_max_per_key, p_rate, p_rate_period)
        on conflict (queue, topic) do update
           set max_running = excluded.max_running, max_per_key = excluded.max_per_key, rate = excluded.rate,
               rate_period = excluded.rate_period
         where (t.max_running, t.max_per_key, t.rate, t.rate_period)
               is distinct from (excluded.max_running, excluded.max_per_key, excluded.rate, excluded.rate_period);
    else
        delete from "windlass".windlass_topic t where t.queue = 'work' and t.topic = p_topic and t.paused_at is null;
        if not found then
            update "windlass".windlass_topic t
               set max_running = null, max_per_key = null, rate = null, rate_period = null
             where t.queue = 'work' and t.topic = p_topic and num_nonnulls(t.max_running, t.max_per_key, t.rate) > 0;
        end if;
    end if;
    if not found then
        return false;
    end if;
    perform "windlass".windlass_record('work', null, p_by, 'limit', 0, null,
                jsonb_build_object('topic', p_topic, 'running', p_max_running, 'perKey', p_max_per_key, 'rate', p_rate,
                                   'period', p_rate_period));
    perform pg_notify('windlass.windlass.work', 'topics');
    return true;
end
$sql$;

-- The topics that are paused or limited.
create or replace function "windlass"."work_decided_topics"() returns table (
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
      from "windlass".windlass_topic t
     where t.queue = 'work'
     order by t.topic;
end
$sql$;

-- What operators did, the latest first. The next page begins before the last one's number.
create or replace function "windlass"."work_actions"(p_limit integer, p_before bigint default null)
    returns setof "windlass".windlass_action
    language plpgsql
    stable
as $sql$
begin
    return query
    select a.*
      from "windlass".windlass_action a
     where a.queue = 'work' and (p_before is null or a.id < p_before)
     order by a.id desc
     limit p_limit;
end
$sql$;

-- What can be seen of a queue from outside, by whoever may read it. Nothing is claimed, locked or changed here. Each number is counted along
-- an index and up to a limit, so that it costs on a table of ten million messages what it costs on a small one.

-- How much there is of each state. No count goes beyond p_most, which then means that many or more.
--
--   ready            due now, paused or not           overdue         of these, due for more than five minutes
--   delayed          ready, and due later             oldest_ready_ms since when the oldest of these has been due
--   in_progress      leased, whether or not in time   stuck           of these, see windlass_is_stuck
--
-- With tens of thousands of topics, or with as many dead entries, not everything is looked at. Then "more_topics" is true, and there may be more
-- of what is ready, overdue and delayed, and an older one.
--
-- While a snapshot is open anywhere, the entries of what was claimed and ended stay in the indexes, and whoever begins at the oldest
-- steps over all of them. So everything here looks near to now first, in spans that grow, and ends when it has met some thousand entries
-- more than it has found: what is further away is not found then, until the snapshot is closed.
create or replace function "windlass"."work_measure"(
    p_most integer,
    out ready           bigint,
    out delayed         bigint,
    out waiting         bigint,
    out in_progress     bigint,
    out failed          bigint,
    out overdue         bigint,
    out stuck           bigint,
    out oldest_ready_ms bigint,
    out more_topics     boolean
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    select least(coalesce(sum(p.due), 0), p_most), least(coalesce(sum(p.overdue), 0), p_most), least(coalesce(sum(p.later), 0), p_most),
           floor(extract(epoch from v_now - min(p.oldest)) * 1000), coalesce(bool_or(p.more), false)
      into ready, overdue, delayed, oldest_ready_ms, more_topics
      from "windlass"."work_pending"(p_most, null, v_now) p;
    select least(count(*), p_most),
           least(count(*) filter (where "windlass".windlass_is_stuck(v_now, l.claimed_at, l.locked_until, null)), p_most)
      into in_progress, stuck
      from "windlass"."work_leased_near"(p_most, v_now) l;
    failed := (select count(*)
                 from (select from "windlass"."work" m where m.status = 3 and m.ended_at is not null limit p_most) c);
    waiting := 0;
end
$sql$;

-- Messages in progress whose lease ends after p_since and up to p_until, those first whose lease ends or has ended near to p_now: up to p_most
-- whose lease goes on, and of others up to p_most of each span, so that many that have just run out hide none that did so long ago.
create or replace function "windlass"."work_leased_near"(
    p_most  integer,
    p_now   timestamptz,
    p_since timestamptz default '-infinity',
    p_until timestamptz default 'infinity'
)
    returns table (id uuid, topic varchar, retry_count integer, lease_expiries integer, claimed_at timestamptz, locked_until timestamptz)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_span record;
    v_end  bigint;
    v_left integer;
    v_rows integer;
begin
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.since >= p_since and s.until <= p_until loop
        if v_end is null or v_span.until = p_now then -- so much for what is to come, and for what is past
            v_end := pg_stat_get_xact_tuples_returned($name$"windlass"."work_leased"$name$::regclass) + 5000 + 2 * p_most::bigint;
        end if;
        if v_left is null or v_span.until <= p_now then
            v_left := p_most;
        end if;
        continue when v_left = 0
            or pg_stat_get_xact_tuples_returned($name$"windlass"."work_leased"$name$::regclass) > v_end;
        return query
        select m.id, m.topic::varchar, m.retry_count::integer, m.lease_expiries::integer, m.claimed_at::timestamptz,
               m.locked_until::timestamptz
          from "windlass"."work" m
         where m.status = 1 and m.locked_until > v_span.since and m.locked_until <= v_span.until
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many ready messages there are: due, of these due for more than five minutes, due later; and since when the oldest is due. With p_topics a
-- row for each of so many topics, with up to p_most of each; else some rows for all topics, with about p_most in all. A last row says
-- with "more" that topics were left out: there are more, or a look at them would cost too much.
--
-- Topics that are much worked on have entries in the index of which nothing is left; they are counted near to now first, see due. The others
-- are taken as they come in the index, many at once: ten thousand topics of one message cost what one of ten thousand does. Where one
-- has many, it is counted alone and stepped over. What lies between topics that were lately worked on comes first: it has few entries
-- of which nothing is left. If the look ends before it has seen all, some of the rest are looked at one by one, see pending_rest.
create or replace function "windlass"."work_pending"(p_most integer, p_topics integer, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, more boolean)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_entries bigint  := coalesce(200 * p_topics::bigint, 20000 + p_most::bigint);
    v_topics  integer := coalesce(p_topics, 2147483647);
    v_busy    text[]  := array(select l.topic from "windlass"."work_lately"(p_now) l where l.is_busy);
    v_sums    bigint[] := array[0, 0, 0];
    v_from    text    := '';
    v_cut     text;
    v_size    integer;
    v_small   bigint;
    v_met     bigint;
    v_gap     record;
begin
    more := false;
    for topic, due, overdue, later, oldest in
        select case when p_topics is not null then b.topics[1] end, d.*
          from (select v_busy as topics where p_topics is null
                union all
                select array[u.topic] from unnest(v_busy) as u (topic) where p_topics is not null) b
         cross join lateral "windlass"."work_pending_busy"(b.topics, p_most, p_now) d loop
        v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
        v_topics := v_topics - 1;
        return next;
    end loop;
    for v_gap in select g.* from "windlass"."work_pending_gaps"(p_now) g loop
        v_from := v_gap.since;
        v_size := 100;
        loop
            if v_entries <= 0 or v_topics <= 0 then
                select null, 0, 0, 0, null, true into topic, due, overdue, later, oldest, more;
                if p_topics is null then
                    select r.due, r.overdue, r.later, r.oldest into due, overdue, later, oldest
                      from "windlass"."work_pending_rest"(v_gap.turn, v_from, p_now) r;
                end if;
                return next;
                return;
            end if;
            v_met := "windlass"."work_pending_met"();
            v_small := 0;
            for topic, due, overdue, later, oldest, v_cut in
                select p.* from "windlass"."work_pending_part"(v_from, v_gap.until, v_size, p_topics is not null, p_now) p loop
                if due + later > 0 then
                    v_small := v_small + due + later;
                    v_topics := v_topics - 1;
                    return next;
                end if;
            end loop;
            v_entries := v_entries + v_met - "windlass"."work_pending_met"();
            exit when v_cut is null;
            select d.* into due, overdue, later, oldest
              from "windlass"."work_pending_of"(v_cut, p_most, case when p_topics is null then v_sums else '{0,0,0}' end, p_now) d;
            topic := case when p_topics is not null then v_cut end;
            v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
            v_topics := v_topics - 1;
            return next;
            v_from := v_cut || E'\x01'; -- comes next
            v_size := case when v_small >= v_size / 2 then least(2 * v_size, 10000, greatest(v_topics, 100)) else 100 end;
        end loop;
    end loop;
end
$sql$;

-- The pieces in which the topics are taken that are not much worked on: from which one on, and before which one. First what lies between those
-- that were lately worked on, then these.
create or replace function "windlass"."work_pending_gaps"(p_now timestamptz) returns table (since text, until text, turn integer)
    language plpgsql
    stable
as $sql$
begin
    return query
    with lately as materialized (
        select l.topic collate "C" as topic, l.is_busy from "windlass"."work_lately"(p_now) l),
    gap as (
        select '' as since, coalesce(min(l.topic), repeat(E'\U0010ffff', 256)) as until, 1 as turn -- comes after every topic
          from lately l
         union all
        select l.topic || E'\x01', lead(l.topic, 1, repeat(E'\U0010ffff', 256)) over (order by l.topic), 1 from lately l
         union all
        select l.topic, l.topic || E'\x01', 2 from lately l where not l.is_busy)
    select g.since, g.until, g.turn from gap g order by g.turn, g.since collate "C";
end
$sql$;

-- What there is of those topics that pending has not come to, in this turn from topic p_from on: at least so much. A thousand messages are counted of
-- each of those that the statistics of the table name, the most frequent first, then of those that were lately worked on, each near to
-- now first; until 20,000 entries were met.
create or replace function "windlass"."work_pending_rest"(
    p_turn integer,
    p_from text,
    p_now  timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end   bigint := "windlass"."work_pending_met"() + 20000;
    v_topic text;
    v_found record;
begin
    due := 0;
    overdue := 0;
    later := 0;
    for v_topic in
        with lately as materialized (
            select l.topic, l.is_busy from "windlass"."work_lately"(p_now) l)
        select r.topic
          from (select k.topic, 1 as turn, k.place
                  from pg_class c
                  join pg_namespace n on n.oid = c.relnamespace
                  join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'topic'
                 cross join unnest(s.most_common_vals::text::text[] || s.histogram_bounds::text::text[])
                            with ordinality as k (topic, place)
                 where c.oid = $name$"windlass"."work"$name$::regclass
                   and k.topic not in (select l.topic from lately l)
                 union all
                select l.topic, 2, 0 from lately l where not l.is_busy) r
         where r.turn > p_turn or (r.turn = p_turn and r.topic collate "C" >= p_from)
         order by r.turn, r.place, r.topic collate "C" loop
        exit when "windlass"."work_pending_met"() >= v_end;
        select d.* into v_found from "windlass"."work_pending_busy"(array[v_topic], 1000, p_now) d;
        due := due + v_found.due;
        overdue := overdue + v_found.overdue;
        later := later + v_found.later;
        oldest := least(oldest, v_found.oldest);
    end loop;
end
$sql$;

-- Topics that were lately worked on, in their order, and which of them are those that it was most often.
create or replace function "windlass"."work_lately"(p_now timestamptz) returns table (topic text, is_busy boolean)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    return query
    select w.topic::text, row_number() over (order by count(*) desc, w.topic) <= 20
      from ((select m.topic from "windlass"."work" m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit 60)
            union all
            (select m.topic from "windlass"."work" m where m.status = 3 and m.ended_at is not null order by m.ended_at desc limit 20)
            union all
            (select l.topic from "windlass"."work_leased_near"(20, p_now) l limit 20)) w
     group by w.topic
     order by w.topic collate "C";
end
$sql$;

-- How many entries this transaction has met in the indexes of ready messages, with those of which nothing is left.
create or replace function "windlass"."work_pending_met"() returns bigint
    language plpgsql
    stable
as $sql$
declare
    v_met bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."work_ready"$name$::regclass);
begin
    v_met := v_met + pg_stat_get_xact_tuples_returned($name$"windlass"."work_turns_due"$name$::regclass);
    return v_met;
end
$sql$;

-- The p_size ready messages from topic p_from on and before p_until that come first in the index, as in pending. Those of the last of these topics
-- are left out if there may be more: it is the "cut", of which every row tells. A row may be of no message. With p_each a row for each topic.
create or replace function "windlass"."work_pending_part"(p_from text, p_until text, p_size integer, p_each boolean, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, cut text)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $sql$
begin
    return query
    with plain as materialized (
        select m.topic, m.next_attempt_at
          from "windlass"."work" m
         where m.status = 0 and not m.keyed and m.topic >= p_from and m.topic < p_until
         order by m.topic, m.priority, m.next_attempt_at, m.id
         limit p_size),
    keyed as materialized (
        select m.topic, m.next_attempt_at
          from "windlass"."work" m
         where m.status = 0 and m.keyed and m.priority >= 0 and m.topic >= p_from and m.topic < p_until
         order by m.topic, m.next_attempt_at
         limit p_size),
    part as materialized (
        select p.* from plain p union all select k.* from keyed k)
    select case when p_each then m.topic::text end,
           count(*) filter (where m.next_attempt_at <= p_now),
           count(*) filter (where m.next_attempt_at <= p_now - interval '5 minutes'),
           count(*) filter (where m.next_attempt_at > p_now),
           min(m.next_attempt_at) filter (where m.next_attempt_at <= p_now),
           c.topic::text
      from (select least((select case when count(*) = p_size then max(p.topic) end from plain p),
                         (select case when count(*) = p_size then max(k.topic) end from keyed k)) as topic) c
      left join part m on m.topic < c.topic or c.topic is null
     group by 1, 6;
    return;
    return query
    with part as materialized (
        select m.topic, m.next_attempt_at
          from "windlass"."work" m
         where m.status = 0 and not m.keyed and m.topic >= p_from and m.topic < p_until
         order by m.topic, m.priority, m.next_attempt_at, m.id
         limit p_size)
    select case when p_each then m.topic::text end,
           count(*) filter (where m.next_attempt_at <= p_now),
           count(*) filter (where m.next_attempt_at <= p_now - interval '5 minutes'),
           count(*) filter (where m.next_attempt_at > p_now),
           min(m.next_attempt_at) filter (where m.next_attempt_at <= p_now),
           c.topic::text
      from (select case when count(*) = p_size then max(p.topic) end as topic from part p) c
      left join part m on m.topic < c.topic or c.topic is null
     group by 1, 6;
end
$sql$;

-- Ready messages of one topic, as in pending, up to p_most of each with those that were counted already.
create or replace function "windlass"."work_pending_of"(
    p_topic   text,
    p_most    integer,
    p_counted bigint[],
    p_now     timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_since timestamptz := p_now - interval '5 minutes';
    v_young timestamptz;
begin
    select d.messages, d.oldest into overdue, oldest
      from "windlass"."work_due_between"(array[p_topic], '-infinity', v_since, greatest(p_most - p_counted[2], 0)::integer) d;
    select d.messages + overdue, d.oldest into due, v_young
      from "windlass"."work_due_between"(array[p_topic], v_since, p_now, greatest(p_most - p_counted[1] - overdue, 0)::integer) d;
    oldest := least(oldest, v_young);
    later := (select d.messages
                from "windlass"."work_due_between"(array[p_topic], p_now, 'infinity', greatest(p_most - p_counted[3], 0)::integer) d);
end
$sql$;

-- The same of topics together that are much worked on.
create or replace function "windlass"."work_pending_busy"(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
as $sql$
begin
    select d.ready, d.overdue, d.oldest into due, overdue, oldest from "windlass"."work_due"(p_topics, p_most, p_now) d;
    later := (select d.messages from "windlass"."work_due_between"(p_topics, p_now, 'infinity', p_most) d);
end
$sql$;

-- How many ready messages of these topics are due, and how many for more than five minutes, at most p_most; and since when the oldest is.
create or replace function "windlass"."work_due"(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz default clock_timestamp(),
    out ready   bigint,
    out overdue bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."work_ready"$name$::regclass) + 5000 + 2 * p_most::bigint
                     + 12 * cardinality(p_topics) * cardinality(array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    v_old  boolean;
    v_span record;
    v_due  record;
begin
    ready := 0;
    overdue := 0;
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.until <= p_now loop
        v_old := v_span.until <= p_now - interval '5 minutes';
        select d.* into v_due
          from "windlass"."work_due_between"(p_topics, v_span.since, v_span.until,
                                            p_most - case when v_old then overdue else ready end::integer) d;
        ready := least(ready + v_due.messages, p_most);
        overdue := overdue + case when v_old then v_due.messages else 0 end;
        oldest := least(oldest, v_due.oldest);
        exit when pg_stat_get_xact_tuples_returned($name$"windlass"."work_ready"$name$::regclass) > v_end;
    end loop;
end
$sql$;

-- How many ready messages of these topics became or become due after p_since and up to p_until, at most p_most, which may be none, and when
-- the first of them does.
create or replace function "windlass"."work_due_between"(
    p_topics text[],
    p_since  timestamptz,
    p_until  timestamptz,
    p_most   integer,
    out messages bigint,
    out oldest   timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    messages := (select count(*)
                   from (select
                           from unnest(p_topics) as t (topic)
                          cross join unnest(array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]) as level (priority)
                          cross join lateral (
                                select
                                  from "windlass"."work" m
                                 where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                                   and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                                 limit p_most) f
                          limit p_most) c);
    if messages > 0 or p_most = 0 then -- else the same entries would be gone over again, to find nothing
        oldest := (select min(f.next_attempt_at)
                     from unnest(p_topics) as t (topic)
                    cross join unnest(array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]) as level (priority)
                    cross join lateral (
                          select m.next_attempt_at
                            from "windlass"."work" m
                           where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                             and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                           order by m.next_attempt_at, m.id
                           limit 1) f);
    end if;
    messages := least(p_most, messages
        + (select count(*)
             from (select
                     from unnest(p_topics) as t (topic)
                    cross join lateral (
                          select
                            from "windlass"."work" m
                           where m.status = 0 and m.keyed and m.priority >= 0 and m.topic = t.topic
                             and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                           limit p_most) f
                    limit p_most) c));
    oldest := least(oldest, (select min(f.next_attempt_at)
                               from unnest(p_topics) as t (topic)
                              cross join lateral (
                                    select m.next_attempt_at
                                      from "windlass"."work" m
                                     where m.status = 0 and m.keyed and m.priority >= 0 and m.topic = t.topic
                                       and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                                     order by m.next_attempt_at
                                     limit 1) f));
end
$sql$;

-- Messages in progress that nobody seems to look after, the oldest first, without their content: see windlass_is_stuck. With p_older
-- also those whose lease has just run out, and those whose attempt began that long ago.
create or replace function "windlass"."work_stuck"(p_limit integer default 1000, p_older interval default null)
    returns setof "windlass"."work_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_ids uuid[] := array(select l.id
                            from "windlass"."work_leased_near"(p_limit, v_now, '-infinity',
                                                              case when p_older is null then v_now else 'infinity' end) l
                           where "windlass".windlass_is_stuck(v_now, l.claimed_at, l.locked_until, p_older)
                           order by l.claimed_at, l.id
                           limit p_limit);
begin
    return query
    select m.* from "windlass"."work_listed" m where m.id = any (v_ids) order by m.claimed_at, m.id;
end
$sql$;

-- Messages whose leases have run out p_least times or more, the most often first: among p_most in progress, p_most of each topic that are due,
-- but for those with keys, and the p_most that failed last. With more than a thousand topics, those that are due are looked at in some only,
-- and a notice says so.
create or replace function "windlass"."work_lapsed"(p_least integer default 2, p_most integer default 1000)
    returns setof "windlass"."work_listed"
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[];
    v_since  timestamptz[];
    v_more   boolean;
    v_ids    uuid[];
begin
    perform "windlass".windlass_check_most(p_most);
    select coalesce(array_agg(p.topic) filter (where p.oldest is not null), '{}'),
           coalesce(array_agg(p.oldest) filter (where p.oldest is not null), '{}'), bool_or(p.more)
      into v_topics, v_since, v_more
      from "windlass"."work_pending"(1, 1000, v_now) p;
    if v_more then
        raise notice 'there are more topics than were looked at';
    end if;
    v_ids := array(
        select l.id
          from (select n.id, n.lease_expiries from "windlass"."work_leased_near"(p_most, v_now) n
                union all
                select d.id, d.lease_expiries
                  from "windlass"."work_lately"(v_now) b
                 cross join lateral "windlass"."work_due_near"(b.topic, p_most, v_now) d
                 where b.is_busy
                union all
                select m.id, m.lease_expiries
                  from (select * from unnest(v_topics, v_since) as u (topic, since)
                         where u.topic not in (select b.topic from "windlass"."work_lately"(v_now) b where b.is_busy)) t
                 cross join unnest(array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]) as level (priority)
                 cross join lateral (
                       select d.id, d.lease_expiries::integer
                         from "windlass"."work" d
                        where d.status = 0 and not d.keyed -- as rows: the index of the times alone would be the wrong one
                          and (d.topic, d.priority, d.next_attempt_at) >= (t.topic, level.priority, t.since)
                          and (d.topic, d.priority, d.next_attempt_at) <= (t.topic, level.priority, v_now)
                        limit p_most) m
                union all
                (select m.id, m.lease_expiries::integer
                   from "windlass"."work" m
                  where m.status = 3 and m.ended_at is not null
                  order by m.ended_at desc
                  limit p_most)) l
         where l.lease_expiries >= p_least
         order by l.lease_expiries desc, l.id
         limit p_most);
    return query
    select m.* from "windlass"."work_listed" m where m.id = any (v_ids) order by m.lease_expiries desc, m.id;
end
$sql$;

-- Up to p_most messages of a topic that are due, those first that became it last.
create or replace function "windlass"."work_due_near"(p_topic text, p_most integer, p_now timestamptz)
    returns table (id uuid, lease_expiries integer)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name$"windlass"."work_ready"$name$::regclass) + 5000 + 2 * p_most::bigint;
    v_left integer := p_most;
    v_rows integer;
    v_span record;
begin
    for v_span in select s.* from "windlass".windlass_spans(p_now) s where s.until <= p_now loop
        exit when v_left = 0 or pg_stat_get_xact_tuples_returned($name$"windlass"."work_ready"$name$::regclass) > v_end;
        return query
        select f.id, f.lease_expiries::integer
          from unnest(array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]) as level (priority)
         cross join lateral (
               select m.id, m.lease_expiries
                 from "windlass"."work" m
                where m.status = 0 and not m.keyed and m.topic = p_topic and m.priority = level.priority
                  and m.next_attempt_at > v_span.since and m.next_attempt_at <= v_span.until
                limit v_left) f
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many messages of each topic are in which state, how many of the ready ones are due and since when, and how often messages were tried
-- again on average.
--
-- Of each topic, ready and failed ones are counted up to p_most. Those in progress, those that wait and those that are done are in no order
-- of their topics: of all topics together up to p_most are counted that are in progress, that wait, that were done last. The average is that
-- of all these but the ready ones; it is null where there are none.
create or replace function "windlass"."work_totals"(p_most integer default 1000) returns table (
    topic           varchar,
    ready           bigint,
    waiting         bigint,
    in_progress     bigint,
    done            bigint,
    failed          bigint,
    average_retries numeric,
    due             bigint,
    oldest_due_ms   bigint,
    more_topics     boolean
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    return query
    with recursive step (topic, number) as (
        (select m.topic::varchar, 1 from "windlass"."work" m where m.status = 3 order by m.topic limit 1)
        union all
        select (select m.topic::varchar from "windlass"."work" m where m.status = 3 and m.topic > step.topic order by m.topic limit 1),
               step.number + 1
          from step
         where step.topic is not null and step.number <= 1000),
    looked as materialized (
        select p.* from "windlass"."work_pending"(p_most, 1000, v_now) p),
    pending as (
        select p.topic::varchar, least(sum(p.due + p.later), p_most)::bigint as messages, least(sum(p.due), p_most)::bigint as due,
               min(p.oldest) as oldest
          from looked p
         where p.due + p.later > 0
         group by p.topic),
    seen as (
        (select l.topic, 1 as status, l.retry_count from "windlass"."work_leased_near"(p_most, v_now) l limit p_most)
        union all
        (select m.topic::varchar, m.status::integer, m.retry_count::integer
           from "windlass"."work" m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit p_most)
        union all
        select f.topic, f.status, f.retry_count
          from step
         cross join lateral (
               select m.topic, m.status, m.retry_count
                 from "windlass"."work" m
                where m.status = 3 and m.topic = step.topic
                order by m.ended_at desc, m.id desc
                limit p_most) f
        union all
        select w.topic, w.status, w.retry_count from "windlass"."work_waiting_sample"(p_most) w),
    counted as (
        select s.topic,
               count(*) filter (where s.status = 4) as waiting,
               count(*) filter (where s.status = 1) as in_progress,
               count(*) filter (where s.status = 2) as done,
               count(*) filter (where s.status = 3) as failed,
               round(avg(s.retry_count), 2) as average_retries
          from seen s
         group by s.topic)
    select coalesce(pending.topic, counted.topic), coalesce(pending.messages, 0), coalesce(counted.waiting, 0),
           coalesce(counted.in_progress, 0), coalesce(counted.done, 0), coalesce(counted.failed, 0), counted.average_retries,
           coalesce(pending.due, 0), floor(extract(epoch from v_now - pending.oldest) * 1000)::bigint,
           exists (select from looked p where p.more) or exists (select from step where step.topic is not null and step.number > 1000)
      from pending
      full join counted on counted.topic = pending.topic
     order by 1;
end
$sql$;

-- Up to p_most messages that wait for their turn: a queue whose messages do has an index of them.
create or replace function "windlass"."work_waiting_sample"(p_most integer)
    returns table (topic varchar, status integer, retry_count integer)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
end
$sql$;

-- The leases that have not run out: how many, at most p_most, when the first and the last of them do, and for how long they have been held on
-- average.
create or replace function "windlass"."work_leases"(
    p_most integer default 1000,
    out active          bigint,
    out earliest_expiry timestamptz,
    out latest_expiry   timestamptz,
    out average_age_ms  bigint
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_span record;
    v_end  bigint;
    v_last timestamptz;
begin
    perform "windlass".windlass_check_most(p_most);
    select count(*), min(l.locked_until), max(l.locked_until), (extract(epoch from avg(v_now - l.claimed_at)) * 1000)::bigint
      into active, earliest_expiry, latest_expiry, average_age_ms
      from "windlass"."work_leased_near"(p_most, v_now, v_now) l;
    v_end := pg_stat_get_xact_tuples_returned($name$"windlass"."work_leased"$name$::regclass) + 5000;
    for v_span in select s.* from "windlass".windlass_spans(v_now) s where s.until > latest_expiry
                   order by s.since desc loop
        exit when v_last is not null
            or pg_stat_get_xact_tuples_returned($name$"windlass"."work_leased"$name$::regclass) > v_end;
        v_last := (select m.locked_until
                     from "windlass"."work" m
                    where m.status = 1 and m.locked_until > greatest(v_span.since, latest_expiry) and m.locked_until <= v_span.until
                    order by m.locked_until desc
                    limit 1);
    end loop;
    latest_expiry := greatest(latest_expiry, v_last);
end
$sql$;

-- The work queue: how items are written, taken in the turn of their keys, followed, stopped, and how their results are kept. The
-- other verbs are those of every queue.

-- Writes an item of a queue; its type says which handler it is for. It can run from p_run_at on, or after p_delay. Of a unique key there
-- is one item in a queue at most that has not ended: a second one leaves it as it is, or, if p_replace says so, takes the place of the
-- one that is still queued; one that is running goes on without the key then. Returns the id of the item that stands.
create or replace function "windlass"."work_enqueue"(
    p_queue          text,
    p_type           text,
    p_payload        text,
    p_priority       integer default 4,
    p_run_at         timestamptz default null,
    p_delay          interval default null,
    p_turn_key       text default null,
    p_unique_key     text default null,
    p_replace        boolean default false,
    p_correlation_id text default null,
    p_headers        jsonb default null,
    p_expires_at     timestamptz default null,
    p_id             uuid default null,
    p_notify         boolean default true,
    p_join_id        uuid default null
) returns uuid
    language plpgsql
as $sql$
begin
    return ("windlass"."work_enqueue_all"(
        array[coalesce(p_id, "windlass".windlass_new_id())], array[p_queue], array[p_type], array[p_payload], array[p_priority],
        case when p_run_at is not null then array[p_run_at] end, case when p_delay is not null then array[p_delay] end,
        case when p_turn_key is not null then array[p_turn_key] end, case when p_unique_key is not null then array[p_unique_key] end,
        array[p_replace], case when p_correlation_id is not null then array[p_correlation_id] end,
        case when p_headers is not null then array[p_headers::text] end,
        case when p_expires_at is not null then array[p_expires_at] end, p_notify,
        case when p_join_id is not null then array[p_join_id] end))[1];
end
$sql$;

-- Writes many items in one round trip. An array of optional values may be null as a whole. Returns the ids of the items that stand, in
-- the order of the arrays. Those with a unique key are written in the order of their keys, so that two calls cannot deadlock.
create or replace function "windlass"."work_enqueue_all"(
    p_ids             uuid[],
    p_queues          text[],
    p_types           text[],
    p_payloads        text[],
    p_priorities      integer[] default null,
    p_run_ats         timestamptz[] default null,
    p_delays          interval[] default null,
    p_turn_keys       text[] default null,
    p_unique_keys     text[] default null,
    p_replaces        boolean[] default null,
    p_correlation_ids text[] default null,
    p_headers         text[] default null,
    p_expires_ats     timestamptz[] default null,
    p_notify          boolean default true,
    p_join_ids        uuid[] default null
) returns uuid[]
    language plpgsql
as $sql$
declare
    v_now       timestamptz;
    v_ids       uuid[] := coalesce(p_ids, array(select "windlass".windlass_new_id() from unnest(p_queues)));
    v_stand     uuid[] := v_ids;
    v_originals uuid[];
    v_each      record;
begin
    perform "windlass".windlass_check_lengths(
        cardinality(p_queues), coalesce(cardinality(p_types), -1), coalesce(cardinality(p_payloads), -1), cardinality(p_ids),
        cardinality(p_priorities), cardinality(p_run_ats), cardinality(p_delays), cardinality(p_turn_keys), cardinality(p_unique_keys),
        cardinality(p_replaces), cardinality(p_correlation_ids), cardinality(p_headers), cardinality(p_expires_ats),
        cardinality(p_join_ids));
    if num_nulls(variadic p_queues || p_types || p_payloads) > 0 then
        perform "windlass".windlass_refuse('a queue, a type and a payload for each item', null, 'A payload may be empty, but not null.');
    end if;
    perform "windlass".windlass_refuse('a priority from 0 to 9', p.priority::text, 'Leave it out for 4.')
       from unnest(p_priorities) as p (priority)
      where p.priority not between 0 and 9;
    if p_run_ats is not null and p_delays is not null or p_expires_ats is not null then
        perform "windlass".windlass_check_times(e.run_at, e.delay, e.expires_at)
           from unnest(p_run_ats, p_delays, p_expires_ats) as e (run_at, delay, expires_at);
    end if;
    perform pg_current_xact_id();
    v_now := clock_timestamp();
    insert into "windlass"."work"
        (id, created_at, next_attempt_at, due_at, expires_at, priority, topic, type, correlation_id, headers, payload, keyed, turn_key,
         awaited, joined)
    select e.id, v_now, greatest(v_now, coalesce(e.run_at, v_now + e.delay)), coalesce(e.run_at, v_now + e.delay), e.expires_at,
           coalesce(e.priority, 4), e.queue, e.type, nullif(e.correlation_id, ''), e.headers::jsonb, e.payload,
           e.turn_key is not null, e.turn_key, e.join_id is not null, e.join_id is not null
      from unnest(v_ids, p_queues, p_types, p_payloads, p_priorities, p_run_ats, p_delays, p_turn_keys, p_unique_keys,
                  p_correlation_ids, p_headers, p_expires_ats, p_join_ids)
           as e (id, queue, type, payload, priority, run_at, delay, turn_key, unique_key, correlation_id, headers, expires_at, join_id)
     where e.unique_key is null;
    if p_unique_keys is not null then
        for v_each in
            select e.*
              from unnest(v_ids, p_queues, p_types, p_payloads, p_priorities, p_run_ats, p_delays, p_turn_keys, p_unique_keys,
                          p_replaces, p_correlation_ids, p_headers, p_expires_ats, p_join_ids) with ordinality
                   as e (id, queue, type, payload, priority, run_at, delay, turn_key, unique_key, replace, correlation_id, headers,
                         expires_at, join_id, place)
             where e.unique_key is not null
             order by e.queue collate "C", e.unique_key collate "C", e.place
        loop
            v_stand[v_each.place] := "windlass"."work_enqueue_unique"(
                v_each.id, v_each.queue, v_each.type, v_each.payload, coalesce(v_each.priority, 4), v_each.run_at, v_each.delay,
                v_each.turn_key, v_each.unique_key, coalesce(v_each.replace, false), v_each.correlation_id, v_each.headers::jsonb,
                v_each.expires_at, v_each.join_id is not null);
        end loop;
        v_originals := array(select nullif(e.stands, e.id) from unnest(v_ids, v_stand) with ordinality as e (id, stands, place)
                              order by e.place);
    end if;
    if p_join_ids is not null then
        perform "windlass"."work_enter_joins"(v_ids, p_join_ids, v_originals);
    end if;
    if p_notify then
        perform pg_notify('windlass.windlass.work', 'ready ' || q.queue) from (select distinct unnest(p_queues) as queue) q;
    end if;
    return v_stand;
end
$sql$;

-- Writes one item under a unique key. Of several at once, one writes it, and the others wait for its commit. Returns the id of the item
-- that stands.
create or replace function "windlass"."work_enqueue_unique"(
    p_id             uuid,
    p_queue          text,
    p_type           text,
    p_payload        text,
    p_priority       integer,
    p_run_at         timestamptz,
    p_delay          interval,
    p_turn_key       text,
    p_unique_key     text,
    p_replace        boolean,
    p_correlation_id text,
    p_headers        jsonb,
    p_expires_at     timestamptz,
    p_joined         boolean
) returns uuid
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_now   timestamptz;
    v_found uuid;
begin
    loop
        if p_replace then
            select m.id into v_found
              from "windlass"."work" m
             where m.topic = p_queue and m.unique_key = p_unique_key and m.status < 2
               for update;
            if found and "windlass"."work_cancel"(array[v_found], false) = 0 then
                update "windlass"."work" m set unique_key = null where m.id = v_found; -- somebody has it in progress
            end if;
        else -- without a lock: who finds one keeps nobody waiting
            select m.id into v_found
              from "windlass"."work" m
             where m.topic = p_queue and m.unique_key = p_unique_key and m.status < 2;
            if found then
                return v_found;
            end if;
        end if;
        v_now := clock_timestamp();
        insert into "windlass"."work"
            (id, created_at, next_attempt_at, due_at, expires_at, priority, topic, type, correlation_id, headers, payload, keyed, turn_key,
             unique_key, awaited, joined)
        values (p_id, v_now, greatest(v_now, coalesce(p_run_at, v_now + p_delay)), coalesce(p_run_at, v_now + p_delay), p_expires_at,
                p_priority, p_queue, p_type, nullif(p_correlation_id, ''), p_headers, p_payload, p_turn_key is not null, p_turn_key,
                p_unique_key, p_joined, p_joined)
        on conflict (topic, unique_key) where unique_key is not null and status < 2 do nothing;
        if found then
            return p_id;
        end if; -- else somebody has just written it
    end loop;
end
$sql$;

-- Picks and locks items with keys, at most p_places of each queue and p_most of all. Up to half of both is left to items without keys that
-- are due. Keys take turns, from a random one on: each gives one, or the fiftieth part of many, and more as long as there is room, but no
-- more than its limit leaves; the row of the limit is locked by the caller. Returns the ids, the places that are left, and the size of the
-- payloads.
create or replace function "windlass"."work_pick_keyed"(
    p_topics text[],
    p_places integer[],
    p_most   bigint,
    p_bytes  bigint,
    p_paused text[],
    p_now    timestamptz,
    out ids    uuid[],
    out places integer[],
    out bytes  bigint
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_start   bigint := floor(random() * 4294967296)::bigint - 2147483648;
    v_odd     integer := (random() < 0.5)::integer; -- of one place, each kind gets half as well
    v_others  integer[];
    v_share   bigint;
    v_per_key integer;
    v_busy    jsonb;
    v_quota   integer;
    v_room    bigint;
    v_low     bigint;
    v_found   uuid[];
    v_size    bigint;
    v_before  integer;
begin
    ids := '{}';
    places := p_places;
    bytes := 0;
    v_others := array(select case when want.topic = any (p_paused) then 0
                                  else least((want.places::bigint + v_odd) / 2, (
                                       select count(*)
                                         from generate_series(0, 9) as level (priority)
                                        cross join lateral (
                                              select
                                                from "windlass"."work" m
                                               where m.status = 0 and not m.keyed and m.topic = want.topic
                                                 and m.priority = level.priority and m.next_attempt_at <= p_now
                                               limit want.places / 2 + 1) m)) end
                        from unnest(p_topics, p_places) with ordinality as want (topic, places, number)
                       order by want.number);
    v_share := p_most - least((p_most + v_odd) / 2, (select sum(o) from unnest(v_others) as o));
    for i in 1 .. cardinality(p_topics) loop
        continue when p_topics[i] = any (p_paused);
        v_per_key := (select t.max_per_key from "windlass".windlass_topic t where t.queue = 'work' and t.topic = p_topics[i]);
        v_busy := '{}';
        if v_per_key is not null then
            v_found := "windlass"."work_in_progress"(p_topics[i], p_now);
            select coalesce(jsonb_object_agg(b.turn_key, b.items), '{}') into v_busy
              from (select m.turn_key, count(*) as items
                      from "windlass"."work" m
                     where m.id = any (v_found) and m.keyed
                     group by m.turn_key) b;
        end if;
        v_quota := greatest(1, least(places[i] - v_others[i], v_share) / 50);
        loop
            v_before := cardinality(ids);
            foreach v_low in array array[v_start, -2147483648] loop -- from there to the end, and from the beginning to there
                v_room := least(places[i] - v_others[i], v_share - cardinality(ids));
                exit when v_room <= 0 or bytes >= p_bytes;
                with recursive turn (number, key) as (
                    (select hashtext(m.turn_key), m.turn_key
                       from "windlass"."work" m
                      where m.status = 0 and m.keyed and m.topic = p_topics[i] and hashtext(m.turn_key) >= v_low
                      order by hashtext(m.turn_key), m.turn_key
                      limit 1)
                    union all
                    select n.number, n.turn_key
                      from turn
                     cross join lateral (
                           select hashtext(m.turn_key) as number, m.turn_key
                             from "windlass"."work" m
                            where m.status = 0 and m.keyed and m.topic = p_topics[i]
                              and (hashtext(m.turn_key), m.turn_key) > (turn.number, turn.key)
                            order by hashtext(m.turn_key), m.turn_key
                            limit 1) n
                     where v_low = v_start or n.number < v_start)
                select coalesce(array_agg(s.id), '{}'), coalesce(sum(s.size), 0)
                  into v_found, v_size
                  from (select f.id, f.size, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
                          from (select t.number, t.key from turn t where v_low = v_start or t.number < v_start) turn
                         cross join lateral (
                               select m.id, octet_length(m.payload) as size
                                 from "windlass"."work" m
                                where m.status = 0
                                  and m.keyed
                                  and m.topic = p_topics[i]
                                  and hashtext(m.turn_key) = turn.number
                                  and m.turn_key = turn.key
                                  and m.next_attempt_at <= p_now
                                  and (m.expires_at is null or m.expires_at > p_now)
                                  and m.id <> all (ids)
                                order by m.priority desc, m.next_attempt_at, m.id
                                limit greatest(0, least(v_quota, v_per_key - coalesce((v_busy ->> turn.key)::integer, 0)))
                                  for update skip locked) f
                         limit v_room) s
                 where s.before is null or bytes + s.before < p_bytes;
                ids := ids || v_found;
                places[i] := places[i] - cardinality(v_found);
                bytes := bytes + v_size;
                if v_per_key is not null and cardinality(v_found) > 0 then
                    v_busy := v_busy || (
                        select jsonb_object_agg(b.turn_key, b.items + coalesce((v_busy ->> b.turn_key)::integer, 0))
                          from (select m.turn_key, count(*) as items
                                  from "windlass"."work" m
                                 where m.id = any (v_found)
                                 group by m.turn_key) b);
                end if;
            end loop;
            exit when cardinality(ids) = v_before;
            v_quota := least(v_quota * 2, 1000000);
        end loop;
    end loop;
end
$sql$;

-- Renews leases as heartbeat does, and writes down how far the work has come, where that is known. Tells besides which items are to be
-- cancelled: their handlers should stop.
create or replace function "windlass"."work_heartbeat_with_progress"(
    p_ids      uuid[],
    p_owners   uuid[],
    p_lease    interval,
    p_progress integer[] default null,
    p_texts    text[] default null,
    out changed   integer,
    out locked    uuid[],
    out lost      uuid[],
    out cancelled uuid[]
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_progress), cardinality(p_texts));
    select h.changed, h.locked, h.lost into changed, locked, lost from "windlass"."work_heartbeat"(p_ids, p_owners, p_lease) h;
    if p_progress is not null or p_texts is not null then
        update "windlass"."work" m
           set progress = coalesce(c.progress, m.progress), progress_text = coalesce(left(c.text, 2048), m.progress_text)
          from unnest(p_ids, p_progress, p_texts) as c (id, progress, text)
         where m.id = c.id and m.id <> all (locked) and m.id <> all (lost) and (c.progress is not null or c.text is not null);
    end if;
    cancelled := array(select m.id from "windlass"."work" m where m.id = any (p_ids) and m.cancel_asked_at is not null);
end
$sql$;

-- Ends items as completed, as ack does, and keeps what they came to, where that is known.
create or replace function "windlass"."work_complete"(
    p_ids          uuid[],
    p_owners       uuid[],
    p_results      text[],
    p_progress     integer[] default null,
    p_texts        text[] default null,
    p_processed_by text default null,
    p_keep         boolean default true
) returns "windlass".windlass_answer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_answer "windlass".windlass_answer;
begin
    perform "windlass".windlass_check_lengths(cardinality(p_ids), cardinality(p_results), cardinality(p_progress), cardinality(p_texts));
    v_answer := "windlass"."work_ack"(p_ids, p_owners, p_processed_by, p_keep);
    if p_keep then
        update "windlass"."work" m
           set result = coalesce(c.result, m.result), progress = coalesce(c.progress, m.progress),
               progress_text = coalesce(left(c.text, 2048), m.progress_text)
          from unnest(p_ids, p_results, p_progress, p_texts) as c (id, result, progress, text)
         where m.id = c.id and m.id <> all (v_answer.locked) and m.id <> all (v_answer.lost)
           and num_nonnulls(c.result, c.progress, c.text) > 0;
    end if;
    return v_answer;
end
$sql$;

-- Cancels items: those that are queued at once; the handlers of those in progress are asked to stop, and what they give back ends as
-- cancelled. Returns how many there are of both; others have ended.
create or replace function "windlass"."work_stop"(p_ids uuid[]) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_ids   uuid[];
    v_asked integer;
begin
    perform "windlass".windlass_check_ids(p_ids);
    v_ids := "windlass"."work_lock"(p_ids, array[0, 1]);
    update "windlass"."work" m
       set cancel_asked_at = coalesce(m.cancel_asked_at, clock_timestamp())
     where m.id = any (v_ids) and m.status + 0 = 1;
    get diagnostics v_asked = row_count;
    if v_asked > 0 then
        perform pg_notify('windlass.windlass.work', 'cancel');
    end if;
    return v_asked + "windlass"."work_cancel"(v_ids);
end
$sql$;

-- Ends those of items that have come back to ready, in the transaction of the caller, that were to be cancelled.
create or replace function "windlass"."work_end_asked"(p_ids uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $sql$
declare
    v_asked uuid[] := array(select m.id from "windlass"."work" m where m.id = any (p_ids) and m.cancel_asked_at is not null);
begin
    if cardinality(v_asked) > 0 then
        perform "windlass"."work_end_unclaimed"(v_asked, 5::smallint, null);
    end if;
end
$sql$;

insert into "windlass".windlass_version (table_name, component, version, min_compatible) values ('work', 'work', 1, 1);

-- Leases and permits. A row is free when it has no holder or its time has run out; nothing has to be swept for that.
--
--   free --acquire--> held --renew--> held          held --release, expiry--> free
--
-- A holder is one acquisition, not a process: whoever comes late with an old one finds nothing to change.
--
-- Every client must be able to read what is stored. So texts have a character other than white space, as Java sees it
-- (String.isBlank), and do not end with a space, which SQL Server does not tell apart; times lie within the years 1 to 9999.

-- One for all names, and never set back: a row that is cleaned away and made again goes on with greater tokens. No cache, or
-- two sessions would hand out their numbers in the wrong order.
create sequence "windlass"."lease_token" cache 1 no cycle;

create table "windlass"."lease" (
    name          varchar(255) collate "C" not null,
    slot          integer      not null,               -- 0: the lease of this name; 1 and up: permits of its semaphore
    holder        uuid,                                -- null when it has been released
    owner         varchar(255) not null,               -- who holds it or held it last, for people
    fencing_token bigint       not null,
    acquired_at   timestamptz  not null,
    expires_at    timestamptz  not null,               -- or when it was released
    awaited_until timestamptz,                         -- until then somebody wants to be told of a release
    constraint "lease_pk" primary key (name, slot),
    constraint "lease_name_check" check (
        name ~ '[^\t-\r\u001c-\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]' and right(name, 1) <> ' '),
    constraint "lease_owner_check" check (
        owner ~ '[^\t-\r\u001c-\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]' and right(owner, 1) <> ' '),
    constraint "lease_slot_check" check (slot >= 0),
    constraint "lease_time_check" check (
        acquired_at between '0001-01-01 00:00+00' and '9999-12-31 00:00+00'
        and expires_at between '0001-01-01 00:00+00' and '9999-12-31 00:00+00'),
    constraint "lease_fencing_token_check" check (fencing_token > 0)
) with (
    -- Few rows that change often. No index on what changes, and room in the page: no renewal touches an index then.
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1
);

-- Who takes a permit holds the semaphore's row until the commit, so that permits are counted one after another.
create table "windlass"."lease_semaphore" (
    name          varchar(255) collate "C" not null,
    permits       integer      not null,               -- as the last one who took a permit said
    used_at       timestamptz  not null,
    awaited_until timestamptz,
    constraint "lease_semaphore_pk" primary key (name),
    constraint "lease_semaphore_name_check" check (
        name ~ '[^\t-\r\u001c-\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]' and right(name, 1) <> ' '),
    constraint "lease_semaphore_count_check" check (permits > 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

-- Leases as they are listed.
create view "windlass"."lease_listed" with (security_invoker = true) as
select l.name, l.slot, l.owner, l.fencing_token, l.acquired_at, l.expires_at,
       l.holder is not null and l.expires_at > clock_timestamp() as held, l.awaited_until
  from "windlass"."lease" l;

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
create or replace function "windlass"."lease_check_text"(p_what text, p_text text) returns void
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
create or replace function "windlass"."lease_check"(
    p_name     text,
    p_holder   uuid,
    p_owner    text,
    p_duration interval,
    p_wait     interval default null
) returns void
    language plpgsql
as $sql$
begin
    perform "windlass"."lease_check_text"('a lease', p_name);
    perform "windlass"."lease_check_text"('the owner', p_owner);
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
create or replace function "windlass"."lease_acquire"(
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
    v_lease "windlass"."lease";
begin
    perform "windlass"."lease_check"(p_name, p_holder, p_owner, p_duration, p_wait);
    server_time := clock_timestamp();
    perform 1
       from "windlass"."lease" l
      where l.name = p_name and l.slot = 0 and (l.holder is null or l.expires_at <= server_time or l.holder = p_holder)
        for update skip locked;
    acquired := found;
    server_time := clock_timestamp();
    if acquired then
        update "windlass"."lease" l
           set holder = p_holder, owner = p_owner, acquired_at = server_time, expires_at = server_time + p_duration,
               fencing_token = case when l.holder = p_holder then l.fencing_token
                                    else nextval($name$"windlass"."lease_token"$name$) end
         where l.name = p_name and l.slot = 0
        returning l.* into v_lease;
    else
        select l.* into v_lease from "windlass"."lease" l where l.name = p_name and l.slot = 0;
        if not found then
            -- An insert would wait for another of the same name; whoever cannot have this lock would be second.
            if pg_try_advisory_xact_lock(hashtextextended(p_name, $name$"windlass"."lease"$name$::regclass::oid::bigint)) then
                server_time := clock_timestamp();
                insert into "windlass"."lease" as l (name, slot, holder, owner, fencing_token, acquired_at, expires_at)
                values (p_name, 0, p_holder, p_owner, nextval($name$"windlass"."lease_token"$name$), server_time,
                        server_time + p_duration)
                on conflict do nothing
                returning l.* into v_lease;
                acquired := found;
            end if;
        elsif v_lease.holder is null or v_lease.expires_at <= server_time then
            v_lease := null;
        elsif p_wait is not null and (v_lease.awaited_until >= server_time + p_wait * 0.9) is not true then
            perform 1
               from "windlass"."lease" l
              where l.name = p_name and l.slot = 0 and l.holder = v_lease.holder
                for update skip locked;
            if found then
                update "windlass"."lease" l
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
create or replace function "windlass"."lease_acquire_permit"(
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
    v_permit "windlass"."lease";
begin
    perform "windlass"."lease_check"(p_name, p_holder, p_owner, p_duration, p_wait);
    if (p_permits between 1 and 10000) is not true then
        raise exception 'expected 1 to 10000 permits, got %', coalesce(p_permits::text, 'null')
            using errcode = 'invalid_parameter_value', hint = 'Give p_permits: how many may be taken at once.';
    end if;
    server_time := clock_timestamp();
    if "windlass"."lease_taken_permits"(p_name, p_holder, server_time) < p_permits or (p_wait is not null and not exists (
            select from "windlass"."lease_semaphore" s where s.name = p_name and s.awaited_until >= server_time + p_wait * 0.9)) then
        begin
            insert into "windlass"."lease_semaphore" as s (name, permits, used_at)
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
        v_slot := "windlass"."lease_free_permit"(p_name, p_permits, p_holder, server_time);
        server_time := clock_timestamp(); -- not before the one who had it gave it back
        if v_slot is null and p_wait is not null then
            update "windlass"."lease_semaphore" s
               set awaited_until = greatest(s.awaited_until, server_time + p_wait)
             where s.name = p_name;
        end if;
    end if;
    acquired := v_slot is not null;
    if acquired then
        insert into "windlass"."lease" as l (name, slot, holder, owner, fencing_token, acquired_at, expires_at)
        values (p_name, v_slot, p_holder, p_owner, nextval($name$"windlass"."lease_token"$name$), server_time,
                server_time + p_duration)
        on conflict (name, slot) do update
           set holder = excluded.holder, owner = excluded.owner, acquired_at = excluded.acquired_at,
               expires_at = excluded.expires_at,
               fencing_token = case when l.holder = p_holder then l.fencing_token else excluded.fencing_token end
        returning l.* into v_permit;
    elsif "windlass"."lease_taken_permits"(p_name, p_holder, server_time) >= p_permits then
        select l.* into v_permit
          from "windlass"."lease" l
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
create or replace function "windlass"."lease_taken_permits"(p_name text, p_holder uuid, p_now timestamptz) returns integer
    language plpgsql
as $sql$
begin
    return (select count(*)
              from "windlass"."lease" l
             where l.name = p_name and l.slot > 0 and l.holder <> p_holder and l.expires_at > p_now);
end
$sql$;

-- Finds a permit that its caller, who holds the semaphore's row, can take, and returns its number; null if there is none, or
-- somebody has locked it. The row of the permit is locked then, if there is one.
--
-- What counts is the holder, not the clock: others may have holders in fewer than p_permits rows. Only whoever holds the
-- semaphore's row gives a row a holder; so the count can be too great when it is used, never too small. A permit that has run out
-- is in the way until somebody takes its row, or its holder away from it, having locked it.
create or replace function "windlass"."lease_free_permit"(p_name text, p_permits integer, p_holder uuid, p_now timestamptz)
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
      from "windlass"."lease" l
     where l.name = p_name and l.slot > 0 and l.holder = p_holder
       for update skip locked;
    if not found then
        if exists (select from "windlass"."lease" l where l.name = p_name and l.slot > 0 and l.holder = p_holder) then
            return null;
        end if;
        select l.slot into v_slot
          from "windlass"."lease" l
         where l.name = p_name and l.slot between 1 and p_permits and (l.holder is null or l.expires_at <= p_now)
         order by l.holder is null desc, l.slot
         limit 1
           for update skip locked;
    end if;
    if not found then
        select min(n.slot) into v_slot
          from generate_series(1, p_permits) as n (slot)
         where not exists (select from "windlass"."lease" l where l.name = p_name and l.slot = n.slot);
    end if;
    -- More than p_permits only after others have said a greater number.
    v_excess := (select count(*)
                   from "windlass"."lease" l
                  where l.name = p_name and l.slot > 0 and l.slot <> v_slot and l.holder is not null) - p_permits + 1;
    if v_excess > 0 then
        update "windlass"."lease" l
           set holder = null
         where l.name = p_name
           and l.slot = any (array(select o.slot
                                     from "windlass"."lease" o
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
create or replace function "windlass"."lease_renew"(
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
    perform "windlass"."lease_check"(e.name, e.holder, 'owner', e.duration)
       from unnest(p_names, p_holders, p_durations) as e (name, holder, duration);
    select array_agg(k.holder || k.name), array_agg(k.slot)
      into v_locked, v_slots
      from (select l.name, l.slot, l.holder
              from "windlass"."lease" l
             where l.name = any (p_names) and l.holder = any (p_holders)
               for update skip locked) k;
    v_slots := array(select v_slots[array_position(v_locked, e.holder || e.name)]
                       from unnest(p_names, p_holders) with ordinality as e (name, holder, place)
                      order by e.place);
    server_time := clock_timestamp();
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    begin
        v_ends := "windlass"."lease_extend"(p_names, v_slots, p_durations, server_time);
    exception
        when others or assert_failure then
            for v_place in 1 .. cardinality(p_names) loop
                begin
                    v_ends[v_place] := ("windlass"."lease_extend"(p_names[v_place:v_place], v_slots[v_place:v_place],
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
           or not exists (select from "windlass"."lease" l where l.name = p_names[v_place] and l.holder = p_holders[v_place]) then
            return next;
        end if;
    end loop;
end
$sql$;

-- Extends leases whose rows the caller has locked; a slot of null is left out. Answers, in the order of the arrays, until when;
-- null for those that have run out.
create or replace function "windlass"."lease_extend"(p_names text[], p_slots integer[], p_durations interval[], p_now timestamptz)
    returns timestamptz[]
    language plpgsql
as $sql$
declare
    v_end  timestamptz;
    v_ends timestamptz[];
begin
    -- One by one: for a join of the arrays, the planner knows no better than to compare each with each.
    for v_place in 1 .. cardinality(p_names) loop
        update "windlass"."lease" l
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
create or replace function "windlass"."lease_release"(p_name text, p_holder uuid) returns boolean
    language plpgsql
as $sql$
declare
    v_now     timestamptz;
    v_slot    integer;
    v_awaited timestamptz;
begin
    select l.slot, l.awaited_until into v_slot, v_awaited
      from "windlass"."lease" l
     where l.name = p_name and l.holder = p_holder
       for update skip locked;
    if not found then
        return case when exists (select from "windlass"."lease" l where l.name = p_name and l.holder = p_holder)
                    then null else false end;
    end if;
    if v_slot > 0 then
        -- Whoever has just counted this permit has said by now whether he waits for it; or he has the row, and may be about to.
        select s.awaited_until into v_awaited from "windlass"."lease_semaphore" s where s.name = p_name for update skip locked;
        v_awaited := case when found then v_awaited else 'infinity' end;
    end if;
    v_now := clock_timestamp();
    update "windlass"."lease" l
       set holder = null, expires_at = least(l.expires_at, v_now)
     where l.name = p_name and l.slot = v_slot;
    if v_awaited > v_now then
        perform pg_notify('windlass.windlass.lease', 'ready ' || p_name);
    end if;
    return true;
end
$sql$;

-- What is known of the lease of a name: who holds it, or held it last.
create or replace function "windlass"."lease_find"(p_name text) returns setof "windlass"."lease_listed"
    language plpgsql
    stable
as $sql$
begin
    return query select l.* from "windlass"."lease_listed" l where l.name = p_name and l.slot = 0;
end
$sql$;

-- The same for all names, permits of semaphores among them, in the order of the names.
create or replace function "windlass"."lease_list"() returns setof "windlass"."lease_listed"
    language plpgsql
    stable
as $sql$
begin
    return query select l.* from "windlass"."lease_listed" l order by l.name, l.slot;
end
$sql$;

-- The leases and permits that somebody holds: how many, and when the first and the last of them run out; of the first p_most by their names.
-- There is no index of their times, since every renewal would have to change it.
create or replace function "windlass"."lease_active"(
    p_most integer default 1000,
    out active          bigint,
    out earliest_expiry timestamptz,
    out latest_expiry   timestamptz
)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
begin
    perform "windlass".windlass_check_most(p_most);
    select count(*), min(l.expires_at), max(l.expires_at)
      into active, earliest_expiry, latest_expiry
      from (select c.* from "windlass"."lease_listed" c order by c.name, c.slot limit p_most) l
     where l.held;
end
$sql$;

-- The leases and semaphores that somebody waits for, of the first p_most of each by their names: who holds the lease, since when and until
-- when; how many of how many permits are held. Who waits is not stored, only until when somebody wants to be told of a release.
create or replace function "windlass"."lease_contention"(p_most integer default 1000) returns table (
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
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform "windlass".windlass_check_most(p_most);
    return query
    select l.name, l.owner, l.acquired_at, l.expires_at, l.held::integer::bigint, null::integer, l.awaited_until
      from (select c.* from "windlass"."lease_listed" c order by c.name, c.slot limit p_most) l
     where l.slot = 0 and l.awaited_until > v_now
     union all
    select s.name, null, null, null,
           (select count(*) from "windlass"."lease_listed" l where l.name = s.name and l.slot > 0 and l.held), s.permits, s.awaited_until
      from (select c.* from "windlass"."lease_semaphore" c order by c.name limit p_most) s
     where s.awaited_until > v_now
     order by 1;
end
$sql$;

-- Deletes what has been free for longer than the retention. Returns how many rows.
create or replace function "windlass"."lease_clean"(p_retention interval, p_limit integer) returns integer
    language plpgsql
    set lock_timeout = '1s'
as $sql$
declare
    v_old   timestamptz := clock_timestamp() - p_retention;
    v_count integer;
begin
    v_count := "windlass".windlass_delete($name$"windlass"."lease"$name$, array(
        select o.ctid
          from "windlass"."lease" o
         where o.expires_at < v_old
         limit p_limit
           for update skip locked));
    return greatest(v_count, "windlass".windlass_delete($name$"windlass"."lease_semaphore"$name$, array(
        select o.ctid
          from "windlass"."lease_semaphore" o
         where o.used_at < v_old
           and not exists (select from "windlass"."lease" l where l.name = o.name and l.slot > 0)
         limit p_limit
           for update skip locked)));
end
$sql$;

insert into "windlass".windlass_version (table_name, component, version, min_compatible) values ('lease', 'lease', 1, 1);
