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
create table {schema}.{queue} (
    id              uuid         not null,             -- time-ordered, so that the index grows at one end
    created_at      timestamptz  not null,
    next_attempt_at timestamptz  not null,             -- never earlier than the moment the message became ready
    due_at          timestamptz,                       -- as the user wrote it; retries move next_attempt_at only
    expires_at      timestamptz,
    claimed_at      {schema}.windlass_time,            -- when the attempt began that is going on, or was the last
    locked_until    {schema}.windlass_time,
    ended_at        {schema}.windlass_time,
    erased_at       timestamptz,
    owner_token     uuid,
    retry_count     {schema}.windlass_count not null default 0,
    lease_expiries  {schema}.windlass_count not null default 0, -- apart from retries: a neighbour may have killed the process
    crashes         {schema}.windlass_small_count not null default 0, -- leases that ran out after the start of the handler was written down
    requeues        {schema}.windlass_small_count not null default 0,
    status          {schema}.windlass_status not null default 0,
    priority        {schema}.windlass_priority not null default 4, -- 0 to 9: those with the higher one are claimed first
    started         boolean      not null default false, -- the start of its handler was written down, in this attempt
    awaited         boolean      not null default false, -- something has to be done when it ends; others pay nothing for it
    keyed           boolean      not null default false, -- it is claimed in the turn of its key
    topic           {schema}.windlass_name not null,
    source          varchar(255) collate "C",          -- where it came from
    correlation_id  varchar(255),
    processed_by    varchar(100),
    last_error      varchar(2048),
    headers         {schema}.windlass_headers,
    payload         text         not null,
    constraint {queue_pk} primary key (id),
    constraint {queue_state_check} check ((status = 1) = (locked_until is not null) and (status in (2, 3, 5)) = (ended_at is not null))
) with (
    -- Every message leaves two or three dead rows behind; the default (a fifth of the table) comes too late for a queue.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- Ready messages by topic and priority, then by time: a node looks only at topics it has a handler and room for, so a paused,
-- saturated or unknown topic with any backlog costs the others nothing.
create index {queue_ready} on {schema}.{queue} (topic, priority, next_attempt_at, id) where status = 0 and not keyed;
create index {queue_leased} on {schema}.{queue} (locked_until) where status = 1;
create index {queue_expiring} on {schema}.{queue} (expires_at) where status in (0, 4) and expires_at is not null;
create index {queue_ended_at} on {schema}.{queue} (status, ended_at) where ended_at is not null;
create index {queue_failed} on {schema}.{queue} (topic, ended_at, id) where status = 3;

-- Attempts that failed. Successes write nothing here. No foreign key: it would cost every deleted message a look.
create table {schema}.{queue_failure} (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),                           -- unknown when a lease ran out
    error      varchar(2048)
);
create index {queue_failure_of} on {schema}.{queue_failure} (message_id, failed_at);
