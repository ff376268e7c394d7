-- Timers, and jobs with their runs. Timers and runs are queues.
--
-- What is due becomes a message of the outbox, under its own id, in the transaction that ends it here: a timer is deleted, the
-- run of a job is handed off and ends with its message.

-- Timers that are not done: 0 ready, 1 in progress, 3 failed. A cancelled one, and one that is done, is gone.
alter table {schema}.{outbox_timer}
    alter column due_at set not null,
    add column message_id uuid,                        -- of the message it becomes, if that is not its own: see schedule
    add constraint {outbox_timer_status_check} check (status in (0, 1, 3));

-- For the hand-off, which takes timers of all topics in the order of their times.
create index {outbox_timer_due} on {schema}.{outbox_timer} (next_attempt_at, id) where status = 0;

-- Timers as they are listed: without their content.
create view {schema}.{outbox_timer_listed} with (security_invoker = true) as
select t.id, t.topic, t.source, t.unique_key, t.message_id, t.status, t.priority, t.keyed, t.correlation_id, t.created_at, t.due_at, t.next_attempt_at,
       t.claimed_at, t.locked_until, t.ended_at, t.erased_at, t.processed_by, t.retry_count, t.lease_expiries, t.requeues, t.last_error
  from {schema}.{outbox_timer} t;

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

-- Runs of jobs. In addition to the states of every queue:
--
--   0 ready --hand off--> 6 handed off --(its message ends)--> 2 done, 3 failed, 5 cancelled
--
-- The source is the name of the job. Topic and payload are those of the job at the time of the tick. A run that was handed off has
-- the id of its message, which has the payload, and knows the rest until it ends.
alter table {schema}.{outbox_job_run}
    alter column status type smallint,                 -- it has one more
    alter column source set not null,                  -- no foreign key: what has run stays known when the job is deleted
    add column tick_at     timestamptz not null,       -- the moment it stands for; that of the call when it was triggered
    add column triggered   boolean     not null,
    add column handed_off boolean     not null default false, -- it became a message, which had its id
    add column output      varchar(8192),              -- what its handler wrote down
    add constraint {outbox_job_run_status_check} check (status in (0, 1, 2, 3, 5, 6) and (status <> 6 or handed_off));

create unique index {outbox_job_run_tick} on {schema}.{outbox_job_run} (source, tick_at) where not triggered;
create index {outbox_job_run_of_job} on {schema}.{outbox_job_run} (source, created_at, id);
create index {outbox_job_run_unfinished} on {schema}.{outbox_job_run} (source) where ended_at is null;

-- Runs as they are listed: without their payload. One that was handed off is as its message is, which "state" tells.
create view {schema}.{outbox_job_run_listed} with (security_invoker = true) as
select r.id, r.topic, r.source, r.tick_at, r.triggered, r.handed_off, r.status, r.priority, r.keyed,
       case when r.status <> 6 then r.status when m.id is null then 3 when m.locked_until is null then 0 else 1 end::smallint as state,
       r.created_at, r.next_attempt_at, coalesce(m.claimed_at, r.claimed_at) as claimed_at,
       r.locked_until, r.ended_at, r.erased_at, r.processed_by,
       coalesce(m.retry_count, r.retry_count) as retry_count, coalesce(m.lease_expiries, r.lease_expiries) as lease_expiries, r.requeues,
       case when r.status = 6 and m.id is null then 'its message is gone' else coalesce(m.last_error, r.last_error) end as last_error,
       r.output
  from {schema}.{outbox_job_run} r
  left join {schema}.{outbox} m on m.id = r.id and r.status = 6;

-- Jobs as they are listed, each with its last run as it is. Lengths of time in microseconds.
create view {schema}.{outbox_job_listed} with (security_invoker = true) as
select j.name, j.version, j.topic, j.payload, j.cron, j.zone, extract(epoch from j.period) * 1000000 as period, j.anchor_at, j.misfire,
       j.misfire_runs, extract(epoch from j.misfire_after) * 1000000 as misfire_after, j.overlap,
       extract(epoch from j.jitter) * 1000000 as jitter, j.next_tick_at, j.fires_at, j.paused_at, j.skipped_ticks, j.last_skipped_at,
       j.problem, j.job_set, j.created_at as job_created_at, j.updated_at, clock_timestamp() as now,
       r.id, r.source, r.tick_at, r.triggered, r.handed_off, r.state, r.created_at, r.claimed_at, r.ended_at, r.retry_count,
       r.lease_expiries, r.last_error, r.output
  from {schema}.{outbox_job} j
  left join {schema}.{outbox_job_run_listed} r on r.id = j.last_run_id;
