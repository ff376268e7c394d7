-- What runs of jobs do in the verbs of their queue.

-- {slot:requeuing} A run that was handed off is requeued with its message, which opens it again. If that is gone, it stays as it is.
    declare
        v_handed uuid[] := array(select r.id from {schema}.{outbox_job_run} r where r.id = any (v_ids) and r.handed_off);
    begin
        if cardinality(v_handed) > 0 then
            v_ids := array(select unnest(v_ids) except select unnest(v_handed));
            -- One whose message somebody has locked is left: whoever has it may be waiting for the run, since messages are locked before runs.
            v_handed := array(select m.id from {schema}.{outbox} m where m.id = any (v_handed) order by m.id for update skip locked);
            messages := cardinality(v_ids)
                + (select q.messages from {schema}.{outbox_requeue}(p_by, v_handed, p_reset => p_reset) q);
        end if;
    end;
-- {slot:erasing} What a run that was handed off was about is in its message, which is locked before its run.
    if exists (select from {schema}.{outbox_job_run} r where r.id = any (p_ids) and r.handed_off) then
        perform {schema}.{outbox_erase}(p_by, array(
            select r.id from {schema}.{outbox_job_run} r where r.id = any (p_ids) and r.handed_off));
    end if;
-- {slot:removing} The counts of a run that was handed off are those of its message, and say nothing of its own attempts.
    delete from {schema}.{outbox_job_run_failure} h
     where h.message_id = any (array(
               select r.id from {schema}.{outbox_job_run} r where r.id = any (p_ids) and r.handed_off));
-- {slot:cleaning} Failed runs as well; but the last run of a job is kept.
    deleted := {schema}.{outbox_job_run_maintain}('clean', array(
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
    return;
-- {slot:looking} Jobs make runs when they fire; runs of all topics are handed off, if p_others says so.
    if p_topics is not null then
        v_look.due_in := (
            select ceil(extract(epoch from least(next.at, v_now + interval '1 day') - v_now) * 1000)
              from (values (least((select min(j.fires_at) from {schema}.{outbox_job} j where j.fires_at is not null),
                                  case when p_others then {schema}.{outbox_job_run_next}() end))) as next (at)
             where next.at is not null);
    end if;
