-- What the outbox does in the verbs of its queue.

-- {slot:claiming} Keys that could not be passed on when they were freed are looked after by the claims that follow.
    if exists (select from {schema}.{outbox_key_freed}) then
        perform {schema}.{outbox_pass_on_freed}();
        v_now := clock_timestamp();
    end if;
-- {slot:next_due} Nobody is told when the one who is writing to a key rolls back.
    if exists (select from {schema}.{outbox_key_freed}) then
        return least(v_due, 250);
    end if;
-- {slot:ended} Joins and runs learn of it, and the keys that ended messages held are passed on; those of p_blocking go on to hold theirs.
    perform {schema}.{outbox_message_ended}(p_ids, p_status, p_blocking, p_pass_on, p_notify);
-- {slot:removing} Joins can be told later how they ended. The keys that failed messages held are passed on.
    perform {schema}.{outbox_note_gone}(p_ids);
    perform {schema}.{outbox_pass_on}(array(
        select m.ordering_key from {schema}.{outbox} m where m.id = any (p_ids) and m.blocks_key), true);
-- {slot:requeuing} Under a key that others hold by now a message waits, as the first in line. The run of a job is open again.
    perform {schema}.{outbox_joined_reopened}(v_ids);
    v_waiting := {schema}.{outbox_enter_keys}(v_ids);
    if exists (select from {schema}.{outbox} m where m.id = any (v_ids) and m.source = 'job') then
        perform {schema}.{outbox_job_runs_reopened}(array(
            select m.id from {schema}.{outbox} m where m.id = any (v_ids) and m.source = 'job'));
    end if;
-- {slot:listing} Those that wait come key by key.
    if p_status = 4 then
        return query
        select m.*
          from {schema}.{outbox_listed} m
         where m.status = 4
           and m.created_at >= v_from and m.created_at < v_until
           and (m.ordering_key, m.ordering_sequence) > (coalesce(p_after_key, ''), coalesce(p_after_number, 0))
           and (p_topic is null or m.topic = p_topic)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.ordering_key, m.ordering_sequence
         limit p_limit;
        return;
    end if;
-- {slot:deleted} Who attaches one to a join later is told that it is done.
            perform {schema}.windlass_join_note_done(v_ids);
-- {slot:measuring} Those behind another of their ordering key.
    waiting := (select count(*) from (select from {schema}.{outbox} m where m.status = 4 limit p_most) c);
-- {slot:waiting_sample}
    return query
    select m.topic::varchar, m.status::integer, m.retry_count::integer from {schema}.{outbox} m where m.status = 4 limit p_most;
