-- What has been applied to this schema, one row for each version of each component. The newest row of a component tells
-- its version and the oldest program version that can still work with it.
-- Whoever owns a schema that is there need not have the right to create one, which "if not exists" would ask for.
do $sql$
begin
    if not exists (select from pg_namespace where nspname = {schema_name}) then
        create schema {schema};
    end if;
end
$sql$;

create table if not exists {schema}.windlass_version (
    table_name     varchar(63)  not null,
    component      varchar(63)  not null,
    version        integer      not null,
    min_compatible integer      not null,
    applied_at     timestamptz  not null default clock_timestamp(),
    applied_by     varchar(255) not null default current_user,
    primary key (table_name, component, version)
);

-- When somebody last looked after each queue, and until when no lease of it is taken for expired. See reap.
create table if not exists {schema}.windlass_watch (
    queue       varchar(63) not null primary key,
    seen_at     timestamptz not null,
    quiet_until timestamptz not null
) with (fillfactor = 50);

-- Refuses an argument: says what was expected, what came and what to do. Never with what may be content: errors are logged.
create or replace function {schema}.windlass_refuse(p_expected text, p_got text, p_hint text) returns void
    language plpgsql
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
