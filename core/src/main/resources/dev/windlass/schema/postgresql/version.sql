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

-- Deletes rows that the caller has locked. All at once; and if one is refused, by a trigger or a constraint of the user's, or
-- something behind one is locked, one by one: it stays, and the others go. Only what is refused for all is an error. Returns how
-- many.
create or replace function {schema}.windlass_delete(p_table regclass, p_rows tid[]) returns integer
    language plpgsql
    set lock_timeout = '5ms'
as $sql$
declare
    v_delete  text := 'delete from ' || p_table::text || ' where ctid = any ($1)';
    v_count   integer;
    v_sum     integer := 0;
    v_waits   integer := 0;
    v_refused tid;
    v_row     tid;
begin
    set constraints all immediate; -- what a deferred trigger refuses is known now, and not at the commit
    begin
        execute v_delete using p_rows;
        get diagnostics v_count = row_count;
        return v_count;
    exception
        when others or assert_failure then
            null;
    end;
    foreach v_row in array p_rows loop
        begin
            execute v_delete using array[v_row];
            get diagnostics v_count = row_count;
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
        execute v_delete using array[v_refused]; -- fails in the words of who refuses it
    end if;
    return v_sum;
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
