-- What runs of jobs do in the verbs of their queue.

-- {slot:requeuing} A run that was handed off is requeued with its message, which opens it again. If that is gone, it stays as it is.
    declare
        v_handed uuid[] := array(select r.id from {schema}.{outbox_job_run} r where r.id = any (v_ids) and r.handed_off);
    begin
        if cardinality(v_handed) > 0 then
            v_ids := array(select unnest(v_ids) except select unnest(v_handed));
            messages := cardinality(v_ids)
                + (select q.messages from {schema}.{outbox_requeue}(p_by, v_handed, p_reset => p_reset) q);
        end if;
    end;
-- {slot:cleaning} Failed runs as well; but the last run of a job is kept.
    return {schema}.{outbox_job_run_maintain}('clean', array(
        select f.id
          from unnest(array[2, 3, 5]) as s (status)
         cross join lateral (
               select r.id
                 from {schema}.{outbox_job_run} r
                where r.status = s.status and r.ended_at < v_before
                  and not exists (select from {schema}.{outbox_job} j where j.name = r.source and j.last_run_id = r.id)
                order by r.ended_at
                limit p_limit
                  for update skip locked) f
         limit p_limit));
