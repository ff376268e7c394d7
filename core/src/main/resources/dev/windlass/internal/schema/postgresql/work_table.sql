-- The work queue: items with priorities, limits, progress and results. A topic is the name of a queue here.
--
-- Items with a key are claimed in the turn of their key, so that none has to wait for all the others of another key; and a limit for
-- each key can be set. They are not in the index of the ready ones, but in one of their own.
alter table {schema}.{work}
    add column cancel_asked_at timestamptz,            -- somebody wants it to stop while it is in progress
    add column progress        {schema}.windlass_percent,
    add column type            {schema}.windlass_name not null, -- by this its handler is chosen
    add column turn_key        {schema}.windlass_name,
    add column progress_text   varchar(2048),
    add column result          text,
    add constraint {work_turn_check} check (keyed = (turn_key is not null) and status <> 4);

-- By a number that has nothing to do with the name, keys are spread evenly: a claim begins its round anywhere.
create index {work_turns} on {schema}.{work} (topic, hashtext(turn_key), turn_key, priority desc, next_attempt_at, id)
    where status = 0 and keyed;

-- Keys of which nothing is due are in that index too. Whether there is another tells this one. Only who names priority >= 0 can use it: it
-- would be the wrong one for a step from key to key, and the planner may not know.
create index {work_turns_due} on {schema}.{work} (topic, next_attempt_at) where status = 0 and keyed and priority >= 0;

-- Items as they are listed: without their content.
create view {schema}.{work_listed} with (security_invoker = true) as
select m.id, m.topic, m.type, m.source, m.status, m.priority, m.keyed, m.turn_key, m.unique_key, m.correlation_id, m.created_at,
       m.due_at, m.next_attempt_at, m.expires_at, m.claimed_at, m.locked_until, m.ended_at, m.erased_at, m.cancel_asked_at,
       m.processed_by, m.retry_count, m.lease_expiries, m.requeues, m.progress, m.progress_text, m.last_error
  from {schema}.{work} m;

-- The same under the names that work queues usually have.
create view {schema}.{work_items} with (security_invoker = true) as
select m.id, m.topic as queue, m.type,
       case m.status when 0 then 'queued' when 1 then 'running' when 2 then 'completed' when 3 then 'failed' else 'cancelled' end as state,
       m.priority, m.next_attempt_at as run_at, m.owner_token as claimed_by, m.locked_until as lease_expires_at,
       m.claimed_at as started_at, m.created_at, greatest(m.created_at, m.claimed_at, m.cancel_asked_at, m.ended_at) as updated_at,
       m.ended_at, m.retry_count, m.progress, m.progress_text, m.result, m.last_error, m.payload
  from {schema}.{work} m;
