-- Timers, and jobs with their runs.
--
-- What is due becomes a message of the outbox, under its own id, in the transaction that ends it here: a timer is deleted, the
-- run of a job is handed over and ends with its message.

-- Timers that are not done: 0 ready, 1 in progress, 3 failed. A cancelled one, and one that is done, is gone.
create table {schema}.{outbox_timer} (
    id              uuid         not null,
    message_id      uuid,                              -- of the message it becomes, if that is not its own: see schedule
    created_at      timestamptz  not null,
    due_at          timestamptz  not null,             -- as the user wrote it; retries move next_attempt_at only
    next_attempt_at timestamptz  not null,             -- never earlier than the moment the timer was written
    claimed_at      timestamptz,
    locked_until    timestamptz,
    ended_at        timestamptz,
    owner_token     uuid,
    retry_count     integer      not null default 0,
    lease_expiries  integer      not null default 0,
    crashes         smallint     not null default 0,
    requeues        smallint     not null default 0,
    status          smallint     not null default 0,
    started         boolean      not null default false,
    awaited         boolean      not null default false,
    topic           varchar(255) collate "C" not null,
    unique_key      varchar(255) collate "C",          -- of one timer of its topic at most that has not failed
    correlation_id  varchar(255),
    processed_by    varchar(100),
    last_error      varchar(2048),
    headers         jsonb,
    payload         text         not null,
    constraint {outbox_timer_pk} primary key (id),
    constraint {outbox_timer_topic_check} check (btrim(topic, {blanks}) <> '' and topic = rtrim(topic)),
    constraint {outbox_timer_key_check} check (btrim(unique_key, {blanks}) <> '' and unique_key = rtrim(unique_key)),
    constraint {outbox_timer_headers_check} check (jsonb_typeof(headers) = 'object'),
    constraint {outbox_timer_size_check} check (pg_column_size(headers) <= 65536),
    constraint {outbox_timer_counts_check} check (retry_count >= 0 and lease_expiries >= 0 and crashes >= 0 and requeues >= 0),
    constraint {outbox_timer_lease_check} check ((status = 1) = (locked_until is not null)
                                             and (status <> 1 or owner_token is not null)
                                             and (status <> 0 or owner_token is null)),
    constraint {outbox_timer_end_check} check ((status = 3) = (ended_at is not null) and status in (0, 1, 3))
) with (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05
);

create index {outbox_timer_due} on {schema}.{outbox_timer} (next_attempt_at, id) where status = 0;
create index {outbox_timer_leased} on {schema}.{outbox_timer} (locked_until) where status = 1;
create index {outbox_timer_failed} on {schema}.{outbox_timer} (ended_at, id) where status = 3;
create index {outbox_timer_listed} on {schema}.{outbox_timer} (topic, due_at, id);
create unique index {outbox_timer_key} on {schema}.{outbox_timer} (topic, unique_key)
    where unique_key is not null and status < 2;

-- Attempts at timers that failed, where programs claim them.
create table {schema}.{outbox_timer_failure} (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),
    error      varchar(2048)
);
create index {outbox_timer_failure_message} on {schema}.{outbox_timer_failure} (message_id, failed_at);

-- Jobs. A tick is a moment at which a job is to run; it fires a little later if the job has a jitter. Programs compute ticks:
-- cron is not known here. The version changes with whatever changes here, and who plans the next tick compares it: so one tick
-- is taken once, whoever tries.
create table {schema}.{outbox_job} (
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
    constraint {outbox_job_pk} primary key (name),
    constraint {outbox_job_text_check} check (btrim(name, {blanks}) <> '' and name = rtrim(name)
                                          and btrim(topic, {blanks}) <> '' and topic = rtrim(topic)),
    constraint {outbox_job_ticks_check} check ((cron is null) = (zone is null) and (cron is null) <> (period is null)
                                           and (period is null) = (anchor_at is null)
                                           and extract(epoch from period) between 1 and 3153600000 -- 36500 days
                                           and date_trunc('milliseconds', period) = period),
    constraint {outbox_job_misfire_check} check (misfire between 0 and 2 and (misfire = 1) = (misfire_runs is not null)
                                             and (misfire = 2) = (misfire_after is not null)
                                             and misfire_runs between 1 and 10000
                                             and extract(epoch from misfire_after) between 0.001 and 3153600000
                                             and date_trunc('milliseconds', misfire_after) = misfire_after),
    constraint {outbox_job_overlap_check} check (overlap between 0 and 2 and (overlap < 2 or period is not null)),
    constraint {outbox_job_next_check} check ((next_tick_at is null) = (paused_at is not null)
                                          and (next_tick_at is null) = (fires_at is null)),
    constraint {outbox_job_jitter_check} check (extract(epoch from jitter) between 0 and 86400 and date_trunc('milliseconds', jitter) = jitter)
) with (fillfactor = 50);

create index {outbox_job_due} on {schema}.{outbox_job} (fires_at) where fires_at is not null;

-- The revision of each set of jobs that programs bring along: the highest wins.
create table {schema}.{outbox_job_set} (
    name      varchar(255) collate "C" not null,
    revision  bigint       not null,
    digest    varchar(64)  not null,
    synced_at timestamptz  not null,
    constraint {outbox_job_set_pk} primary key (name)
);

-- Runs of jobs:
--
--   0 ready --hand off--> 6 handed over --(its message ends)--> 2 done, 3 failed, 5 cancelled
--     |  ^
--   claim abandon, reap
--     v  |
--   1 in progress --ack, fail--> 2 done, 3 failed
--
-- A run that was handed over has the id of its message, which knows the rest until it ends.
create table {schema}.{outbox_job_run} (
    id              uuid         not null,
    tick_at         timestamptz  not null,             -- the moment it stands for; that of the call when it was triggered
    created_at      timestamptz  not null,
    next_attempt_at timestamptz  not null,
    claimed_at      timestamptz,
    locked_until    timestamptz,
    ended_at        timestamptz,
    owner_token     uuid,
    retry_count     integer      not null default 0,
    lease_expiries  integer      not null default 0,
    crashes         smallint     not null default 0,
    requeues        smallint     not null default 0,
    status          smallint     not null default 0,
    started         boolean      not null default false,
    awaited         boolean      not null default false,
    triggered       boolean      not null,
    handed_over     boolean      not null default false, -- it became a message, which had its id
    job_name        varchar(255) collate "C" not null, -- no foreign key: what has run stays known when the job is deleted
    processed_by    varchar(100),
    last_error      varchar(2048),
    constraint {outbox_job_run_pk} primary key (id),
    constraint {outbox_job_run_lease_check} check ((status = 1) = (locked_until is not null)
                                               and (status <> 1 or owner_token is not null)
                                               and (status not in (0, 6) or owner_token is null)),
    constraint {outbox_job_run_end_check} check ((status in (2, 3, 5)) = (ended_at is not null) and status in (0, 1, 2, 3, 5, 6)
                                             and (status <> 6 or handed_over))
) with (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05
);

create unique index {outbox_job_run_tick} on {schema}.{outbox_job_run} (job_name, tick_at) where not triggered;
create index {outbox_job_run_listed} on {schema}.{outbox_job_run} (job_name, created_at, id);
create index {outbox_job_run_ready} on {schema}.{outbox_job_run} (next_attempt_at, id) where status = 0;
create index {outbox_job_run_leased} on {schema}.{outbox_job_run} (locked_until) where status = 1;
create index {outbox_job_run_unfinished} on {schema}.{outbox_job_run} (job_name) where ended_at is null;
create index {outbox_job_run_ended} on {schema}.{outbox_job_run} (ended_at) where ended_at is not null;

-- Attempts at runs that failed, where programs claim them.
create table {schema}.{outbox_job_run_failure} (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),
    error      varchar(2048)
);
create index {outbox_job_run_failures} on {schema}.{outbox_job_run_failure} (message_id, failed_at);
