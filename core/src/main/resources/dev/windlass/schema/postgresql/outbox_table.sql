-- The outbox. One state machine:
--
--   0 ready --claim--> 1 in progress --ack--> 2 done
--     ^  |                |   |
--     |  +---- expire ----|---+--fail--> 3 failed
--     +--abandon, release, reap
--
-- The check constraints are the invariants: a message has an owner and a lease exactly while it is in progress, and an
-- end exactly when it has ended.
create table {schema}.{outbox} (
    id              uuid         not null,             -- time-ordered, so that the index grows at one end
    created_at      timestamptz  not null,
    next_attempt_at timestamptz  not null,             -- never earlier than the moment the message became ready
    due_at          timestamptz,                       -- as the user wrote it; retries move next_attempt_at only
    expires_at      timestamptz,
    locked_until    timestamptz,
    ended_at        timestamptz,
    owner_token     uuid,
    retry_count     integer      not null default 0,
    lease_expiries  integer      not null default 0,   -- apart from retries: a neighbour may have killed the process
    status          smallint     not null default 0,
    joined          boolean      not null default false, -- a member of a join; other messages pay nothing for joins
    topic           varchar(255) collate "C" not null, -- byte order: cheap to compare, and case-sensitive everywhere
    correlation_id  varchar(255),
    processed_by    varchar(100),
    last_error      varchar(2048),
    headers         jsonb,
    payload         text         not null,
    constraint {outbox_pk} primary key (id),
    constraint {outbox_topic_check} check (btrim(topic) <> ''),
    constraint {outbox_headers_check} check (jsonb_typeof(headers) = 'object'), -- or no claim that meets it can be read
    constraint {outbox_lease_check} check ((status = 1) = (owner_token is not null)
                                       and (status = 1) = (locked_until is not null)),
    constraint {outbox_end_check} check ((status in (2, 3)) = (ended_at is not null) and status between 0 and 3)
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
create index {outbox_expiring} on {schema}.{outbox} (expires_at) where status = 0 and expires_at is not null;
create index {outbox_done} on {schema}.{outbox} (ended_at) where status = 2;
create index {outbox_failed} on {schema}.{outbox} (ended_at, id) where status = 3;

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
