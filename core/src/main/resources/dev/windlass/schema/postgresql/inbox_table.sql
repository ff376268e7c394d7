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
    expires_at      timestamptz,
    claimed_at      timestamptz,                       -- when the attempt began that is going on, or was the last
    locked_until    timestamptz,
    ended_at        timestamptz,
    owner_token     uuid,
    retry_count     integer      not null default 0,   -- attempts that failed, since it was requeued perhaps
    lease_expiries  integer      not null default 0,   -- attempts nobody heard of again
    crashes         smallint     not null default 0,   -- leases that ran out after the start of the handler was written down
    requeues        smallint     not null default 0,
    status          smallint     not null default 0,
    started         boolean      not null default false, -- the start of its handler was written down, in this attempt
    awaited         boolean      not null default false, -- something has to be done when it ends; others pay nothing for it
    topic           varchar(255) collate "C",
    processed_by    varchar(100),
    last_error      varchar(2048),
    hash            bytea,
    headers         jsonb,
    payload         text,
    constraint {inbox_pk} primary key (source, message_id),
    constraint {inbox_key_check} check (btrim(source, {blanks}) <> '' and source = rtrim(source)
                                      and btrim(message_id, {blanks}) <> '' and message_id = rtrim(message_id)),
    constraint {inbox_queue_check} check ((topic is null) = (id is null) and (topic is null) = (payload is null)
                                      and btrim(topic, {blanks}) <> '' and topic = rtrim(topic)),
    constraint {inbox_hash_check} check (length(hash) = 32),
    constraint {inbox_headers_check} check (jsonb_typeof(headers) = 'object'), -- or no claim that meets it can be read
    constraint {inbox_headers_size} check (pg_column_size(headers) <= 65536), -- claims reckon with payloads alone
    constraint {inbox_counts_check} check (retry_count >= 0 and lease_expiries >= 0 and crashes >= 0 and requeues >= 0),
    constraint {inbox_lease_check} check ((status = 1) = (locked_until is not null)
                                      and (status <> 1 or owner_token is not null and claimed_at is not null)
                                      and (status <> 0 or owner_token is null)),
    constraint {inbox_end_check} check ((status in (2, 3)) = (ended_at is not null) and status between 0 and 3),
    -- What programs give back, as the place where to go on, and what leases are reckoned with.
    constraint {inbox_times_check} check (next_attempt_at >= '0001-01-01 00:00:00+00'
                                      and (topic is not null or isfinite(next_attempt_at))
                                      and isfinite(claimed_at) and isfinite(locked_until) and isfinite(ended_at))
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
create index {inbox_begun} on {schema}.{inbox} (claimed_at) where status = 1 and id is null;
create index {inbox_done} on {schema}.{inbox} (ended_at) where status = 2;
create index {inbox_dead} on {schema}.{inbox} (ended_at, source, message_id) where status = 3;
create index {inbox_expiring} on {schema}.{inbox} (expires_at) where status in (0, 4) and expires_at is not null;
create index {inbox_cancelled} on {schema}.{inbox} (ended_at) where status = 5;

create index {inbox_resting} on {schema}.{inbox} (next_attempt_at) where status = 0 and id is null;

-- What was enqueued while somebody else had begun the message without the queue. It becomes work of the queue if that attempt
-- fails or is not heard of again (see adopt), and is dropped if it ends well. Of several arrivals the first counts.
create table {schema}.{inbox_redelivery} (
    source     varchar(255) collate "C" not null,
    message_id varchar(255) collate "C" not null,
    id         uuid         not null,
    arrived_at timestamptz  not null,
    due_at     timestamptz,
    topic      varchar(255) collate "C" not null,
    hash       bytea,
    headers    jsonb,
    payload    text         not null,
    constraint {inbox_redelivery_pk} primary key (source, message_id),
    constraint {inbox_redelivery_check} check (btrim(topic, {blanks}) <> '' and topic = rtrim(topic) and length(hash) = 32
                                      and jsonb_typeof(headers) = 'object' and pg_column_size(headers) <= 65536) -- or it could not become work
);

-- Attempts at queued messages that failed. Successes write nothing here.
create table {schema}.{inbox_failure} (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),                           -- unknown when a lease ran out
    error      varchar(2048)
);
create index {inbox_failure_message} on {schema}.{inbox_failure} (message_id, failed_at);
