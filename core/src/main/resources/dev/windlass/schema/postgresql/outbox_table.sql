-- The outbox. One state machine:
--
--   4 waiting --(its turn has come)--> 0 ready --claim--> 1 in progress --ack--> 2 done
--                                        ^  |                |   |
--                                        |  +---- expire ----|---+--fail--> 3 failed
--                                        +--abandon, release, reap
--
--   0 ready, 4 waiting --cancel--> 5 cancelled          4 waiting --expire--> 3 failed
--
-- The check constraints are the invariants: a message has a lease exactly while it is in progress, and an end exactly when
-- it has ended. The token of the last owner stays with a message that has ended: who repeats an ack whose answer was lost is
-- told that it holds.
--
-- An ordering key is held by one message at most: the one that is ready or in progress, or that failed and keeps its successors
-- waiting. All others of that key wait, outside the index that claims read.
create table {schema}.{outbox} (
    id                uuid         not null,             -- time-ordered, so that the index grows at one end
    created_at        timestamptz  not null,
    next_attempt_at   timestamptz  not null,             -- never earlier than the moment the message became ready
    due_at            timestamptz,                       -- as the user wrote it; retries move next_attempt_at only
    expires_at        timestamptz,
    claimed_at        timestamptz,                       -- when the attempt began that is going on, or was the last
    locked_until      timestamptz,
    ended_at          timestamptz,
    erased_at         timestamptz,
    ordering_sequence bigint,
    owner_token       uuid,
    retry_count       integer      not null default 0,
    lease_expiries    integer      not null default 0,   -- apart from retries: a neighbour may have killed the process
    crashes           smallint     not null default 0,   -- leases that ran out after the start of the handler was written down
    requeues          smallint     not null default 0,
    status            smallint     not null default 0,
    started           boolean      not null default false, -- the start of its handler was written down, in this attempt
    awaited           boolean      not null default false, -- something has to be done when it ends; others pay nothing for it
    blocks_key        boolean      not null default false, -- it failed, and others of its key wait until somebody decides
    joined            boolean      not null default false, -- a member of a join
    run               boolean      not null default false, -- a run of a job
    topic             varchar(255) collate "C" not null, -- byte order: cheap to compare, and case-sensitive everywhere
    ordering_key      varchar(255) collate "C",
    correlation_id    varchar(255),
    processed_by      varchar(100),
    last_error        varchar(2048),
    headers           jsonb,
    payload           text         not null,
    constraint {outbox_pk} primary key (id),
    constraint {outbox_topic_check} check (btrim(topic, {blanks}) <> '' and topic = rtrim(topic)),
    constraint {outbox_headers_check} check (jsonb_typeof(headers) = 'object'), -- or no claim that meets it can be read
    constraint {outbox_headers_size} check (pg_column_size(headers) <= 65536), -- claims reckon with payloads alone
    constraint {outbox_times_check} check (isfinite(claimed_at) and isfinite(locked_until) and isfinite(ended_at)),
    constraint {outbox_counts_check} check (retry_count >= 0 and lease_expiries >= 0 and crashes >= 0 and requeues >= 0),
    constraint {outbox_lease_check} check ((status = 1) = (locked_until is not null)
                                       and (status <> 1 or owner_token is not null)
                                       and (owner_token is null or status not in (0, 4))),
    constraint {outbox_end_check} check ((status in (2, 3, 5)) = (ended_at is not null) and status between 0 and 5),
    constraint {outbox_key_check} check ((ordering_key is null) = (ordering_sequence is null)
                                     and (ordering_key is not null or status <> 4)
                                     and (ordering_key is null and not run and not joined or awaited)
                                     and (not blocks_key or status = 3 and ordering_key is not null))
) with (
    -- Every message leaves two or three dead rows behind; the default (a fifth of the table) comes too late for a queue.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- Ready messages by topic, then by time: a node looks only at topics it has a handler and room for, so a paused, saturated
-- or unknown topic with any backlog costs the others nothing.
create index {outbox_ready} on {schema}.{outbox} (topic, next_attempt_at, id) where status = 0;
create index {outbox_leased} on {schema}.{outbox} (locked_until) where status = 1;
create index {outbox_waiting} on {schema}.{outbox} (ordering_key, ordering_sequence) where status = 4;
create index {outbox_expiring} on {schema}.{outbox} (expires_at) where status = 0 and expires_at is not null;
create index {outbox_waiting_expiring} on {schema}.{outbox} (expires_at) where status = 4 and expires_at is not null;
create index {outbox_done} on {schema}.{outbox} (ended_at) where status = 2;
create index {outbox_failed} on {schema}.{outbox} (ended_at, id) where status = 3;
create index {outbox_failed_topic} on {schema}.{outbox} (topic, ended_at, id) where status = 3;
create index {outbox_cancelled} on {schema}.{outbox} (ended_at) where status = 5;

-- Joins: ack and fail of a message count its memberships in the same transaction.
create table {schema}.{outbox_join} (
    join_id         uuid         not null,
    created_at      timestamptz  not null default clock_timestamp(),
    last_updated_at timestamptz  not null default clock_timestamp(),
    expected_steps  integer      not null,
    completed_steps integer      not null default 0,
    failed_steps    integer      not null default 0,
    status          smallint     not null default 0,   -- 0 pending, 1 completed, 2 failed, 3 cancelled
    grouping_key    varchar(255),
    metadata        text,
    constraint {outbox_join_pk} primary key (join_id),
    constraint {outbox_join_steps_check} check (expected_steps > 0 and completed_steps >= 0 and failed_steps >= 0),
    constraint {outbox_join_status_check} check (status between 0 and 3)
);

create index {outbox_join_grouping} on {schema}.{outbox_join} (grouping_key) where grouping_key is not null;

create table {schema}.{outbox_join_member} (
    join_id    uuid        not null,
    message_id uuid        not null,
    created_at timestamptz not null default clock_timestamp(),
    status     smallint    not null default 0,         -- 0 pending, 1 completed, 2 failed
    constraint {outbox_join_member_pk} primary key (join_id, message_id),
    constraint {outbox_join_member_join} foreign key (join_id) references {schema}.{outbox_join} on delete cascade,
    constraint {outbox_join_member_check} check (status between 0 and 2)
);

create index {outbox_join_member_message} on {schema}.{outbox_join_member} (message_id);

-- The keys that have unfinished messages. Who writes to a key holds its row until the commit, so that the order of the
-- sequence is the order of the commits. A new row starts at the time in microseconds: later than all there was before.
create table {schema}.{outbox_key} (
    ordering_key  varchar(255) collate "C" not null,
    last_sequence bigint       not null,
    taken_by      uuid         not null,               -- the message that found the key free
    constraint {outbox_key_pk} primary key (ordering_key)
) with (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1
);

-- Keys whose last known message ended while somebody was writing to them; the next claim sees what came of it.
create table {schema}.{outbox_key_freed} (
    ordering_key varchar(255) collate "C" not null,
    constraint {outbox_key_freed_pk} primary key (ordering_key)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

-- Which message was written under a deduplication key. Apart from the messages, which may be gone before the window ends.
create table {schema}.{outbox_dedup} (
    topic      varchar(255) collate "C" not null,
    dedup_key  varchar(255) collate "C" not null,
    message_id uuid         not null,
    expires_at timestamptz  not null,
    constraint {outbox_dedup_pk} primary key (topic, dedup_key)
);
create index {outbox_dedup_expiring} on {schema}.{outbox_dedup} (expires_at);

-- Attempts that failed. Successes write nothing here. No foreign key: it would cost every deleted message a look.
create table {schema}.{outbox_failure} (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),                           -- unknown when a lease ran out
    error      varchar(2048)
);
create index {outbox_failure_message} on {schema}.{outbox_failure} (message_id, failed_at);

create table {schema}.{outbox_pause} (
    topic     varchar(255) collate "C" not null,
    paused_at timestamptz  not null,
    paused_by varchar(255) not null,
    reason    varchar(2048),
    constraint {outbox_pause_pk} primary key (topic)
);

-- What operators did: who, when, what, and to how many messages.
create table {schema}.{outbox_action} (
    id       bigint       generated always as identity,
    acted_at timestamptz  not null,
    messages integer      not null,
    acted_by varchar(255) not null,
    verb     varchar(32)  not null,
    detail   jsonb        not null,
    constraint {outbox_action_pk} primary key (id),
    constraint {outbox_action_by_check} check (btrim(acted_by) <> '')
);
