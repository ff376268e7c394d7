-- Jobs and their runs. Programs compute the ticks; what is decided here is who takes one, once.

-- Ends the runs whose messages have ended; the caller has changed or deleted these in the same transaction. A message that is
-- neither done nor failed nor cancelled was done, and deleted.
create or replace function {schema}.{outbox_job_runs_ended}(p_messages {schema}.{outbox}[]) returns void
    language plpgsql
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $sql$
begin
    update {schema}.{outbox_job_run} r
       set status = case when e.ended_at is null then 2 else e.status end, ended_at = coalesce(e.ended_at, clock_timestamp()),
           claimed_at = e.claimed_at, retry_count = e.retry_count, lease_expiries = e.lease_expiries, last_error = e.last_error
      from unnest(p_messages) e
     where r.id = e.id and r.status = 6;
end
$sql$;

-- Failed messages are to be handled once more, and so are the runs they belong to.
create or replace function {schema}.{outbox_job_runs_reopened}(p_ids uuid[]) returns void
    language plpgsql
    set enable_seqscan = off
as $sql$
begin
    update {schema}.{outbox_job_run} r set status = 6, ended_at = null where r.id = any (p_ids) and r.status = 3;
end
$sql$;
