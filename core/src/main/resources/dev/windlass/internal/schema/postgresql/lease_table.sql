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
create sequence {schema}.{lease_token} cache 1 no cycle;

create table {schema}.{lease} (
    name          varchar(255) collate "C" not null,
    slot          integer      not null,               -- 0: the lease of this name; 1 and up: permits of its semaphore
    holder        uuid,                                -- null when it has been released
    owner         varchar(255) not null,               -- who holds it or held it last, for people
    fencing_token bigint       not null,
    acquired_at   timestamptz  not null,
    expires_at    timestamptz  not null,               -- or when it was released
    awaited_until timestamptz,                         -- until then somebody wants to be told of a release
    constraint {lease_pk} primary key (name, slot),
    constraint {lease_name_check} check (
        name ~ '[^\t-\r\u001c-\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]' and right(name, 1) <> ' '),
    constraint {lease_owner_check} check (
        owner ~ '[^\t-\r\u001c-\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]' and right(owner, 1) <> ' '),
    constraint {lease_slot_check} check (slot >= 0),
    constraint {lease_time_check} check (
        acquired_at between '0001-01-01 00:00+00' and '9999-12-31 00:00+00'
        and expires_at between '0001-01-01 00:00+00' and '9999-12-31 00:00+00'),
    constraint {lease_fencing_token_check} check (fencing_token > 0)
) with (
    -- Few rows that change often. No index on what changes, and room in the page: no renewal touches an index then.
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1
);

-- Who takes a permit holds the semaphore's row until the commit, so that permits are counted one after another.
create table {schema}.{lease_semaphore} (
    name          varchar(255) collate "C" not null,
    permits       integer      not null,               -- as the last one who took a permit said
    used_at       timestamptz  not null,
    awaited_until timestamptz,
    constraint {lease_semaphore_pk} primary key (name),
    constraint {lease_semaphore_name_check} check (
        name ~ '[^\t-\r\u001c-\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]' and right(name, 1) <> ' '),
    constraint {lease_semaphore_count_check} check (permits > 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

-- Leases as they are listed.
create view {schema}.{lease_listed} with (security_invoker = true) as
select l.name, l.slot, l.owner, l.fencing_token, l.acquired_at, l.expires_at,
       l.holder is not null and l.expires_at > clock_timestamp() as held, l.awaited_until
  from {schema}.{lease} l;
