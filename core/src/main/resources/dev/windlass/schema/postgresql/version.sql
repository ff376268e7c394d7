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
