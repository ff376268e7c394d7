-- The inbox: what has arrived, and what became of it. One row for each message of a source, one state machine:
--
--   0 ready --begin, claim--> 1 in progress --mark done, ack--> 2 done
--     ^                         |   |
--     |                         |   +--mark dead, fail, attempts used up--> 3 dead --revive--> 0 ready
--     +--abandon, release, reap-+
--
-- A row with a topic is work for the dispatcher, and has an id by which it is claimed and completed. A row without one only
-- guards against a second processing; whoever received the message processes it, and names it by its key.
--
-- The token of whoever ended a message stays with it: who repeats his last word, because the answer was lost, is told the
-- truth.
create table {schema}.{inbox} (
    source          varchar(255) collate "C" not null, -- byte order: cheap to compare, and case-sensitive everywhere
    message_id      varchar(255) collate "C" not null,
    id              uuid,                              -- of queued messages only: others need no second unique index
    first_seen_at   timestamptz  not null,
    last_seen_at    timestamptz  not null,
    next_attempt_at timestamptz  not null,             -- never earlier than the moment the message became ready
    due_at          timestamptz,                       -- as the user wrote it; retries move next_attempt_at only
    begun_at        timestamptz,                       -- the last attempt
    locked_until    timestamptz,
    ended_at        timestamptz,
    owner_token     uuid,
    retry_count     integer      not null default 0,   -- attempts that failed, since it was revived perhaps
    lease_expiries  integer      not null default 0,   -- attempts nobody heard of again
    revivals        smallint     not null default 0,
    status          smallint     not null default 0,
    topic           varchar(255) collate "C",
    processed_by    varchar(100),
    last_error      varchar(2048),
    hash            bytea,
    headers         jsonb,
    payload         text,
    constraint {inbox_pk} primary key (source, message_id),
    constraint {inbox_key_check} check (btrim(source) <> '' and btrim(message_id) <> ''),
    constraint {inbox_queue_check} check ((topic is null) = (id is null) and (topic is null) = (payload is null)
                                      and btrim(topic) <> ''),
    constraint {inbox_hash_check} check (length(hash) = 32),
    constraint {inbox_headers_check} check (jsonb_typeof(headers) = 'object'), -- or no claim that meets it can be read
    constraint {inbox_lease_check} check ((status = 1) = (locked_until is not null)
                                      and (status <> 1 or owner_token is not null and begun_at is not null)
                                      and (status <> 0 or owner_token is null)),
    constraint {inbox_end_check} check ((status in (2, 3)) = (ended_at is not null) and status between 0 and 3)
) with (
    -- Every message leaves one or two dead rows behind; the default (a fifth of the table) comes too late for a queue.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- A row that only guards pays for the primary key twice (begin, mark), for inbox_begun once and for inbox_done once.
create unique index {inbox_id} on {schema}.{inbox} (id) where id is not null;
create index {inbox_ready} on {schema}.{inbox} (topic, next_attempt_at, id) where status = 0 and topic is not null;
create index {inbox_leased} on {schema}.{inbox} (locked_until) where status = 1 and id is not null;
create index {inbox_begun} on {schema}.{inbox} (begun_at) where status = 1 and id is null;
create index {inbox_done} on {schema}.{inbox} (ended_at) where status = 2;
create index {inbox_dead} on {schema}.{inbox} (ended_at, source, message_id) where status = 3;
