-- What the inbox does in the verbs of its queue.

-- {slot:ended} Joins learn of it. A copy that waited, and was cancelled or has expired, is dropped.
    perform {schema}.{inbox_joined_ended}(p_ids, p_status);
    if not p_pass_on then
        delete from {schema}.{inbox} m where m.id = any (p_ids);
    end if;
-- {slot:requeuing} Joins that are pending take it back.
    perform {schema}.{inbox_joined_reopened}(v_ids);
-- {slot:removing} The inbox forgets them; those whose memory somebody has locked stay.
    perform {schema}.{inbox_note_gone}(p_ids);
    p_ids := {schema}.{inbox_delete_seen}(p_ids);
-- {slot:listing} Copies that wait are few.
    if p_status = 4 then
        return query
        select m.*
          from {schema}.{inbox_listed} m
         where m.status = 4
           and m.created_at >= v_from and m.created_at < v_until and (m.created_at, m.id) > (v_after, v_first)
           and (p_topic is null or m.topic = p_topic)
           and (p_source is null or m.source = p_source)
           and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
         order by m.created_at, m.id
         limit p_limit;
        return;
    end if;
-- {slot:deleted} Who attaches one to a join later is told that it is done.
            perform {schema}.windlass_join_note_done(v_ids);
-- {slot:attaching} A copy that waits is no message yet: the attempt without the queue may do the work.
    v_ids := array(select m.id from {schema}.{inbox} m where m.id = any (v_ids) and m.status + 0 <> 4);
-- {slot:looking} A copy that waits becomes ready if the attempt beside it is not heard of again.
    v_look.leased := v_look.leased or exists (select from {schema}.{inbox} m where m.status = 4);
-- {slot:measuring} What is processed without the queue counts, too.
    waiting := (select count(*) from (select from {schema}.{inbox} m where m.status = 4 limit p_most) c);
    in_progress := least(in_progress + (select count(*) from (select from {schema}.{inbox_seen} s where s.status = 1 limit p_most) c), p_most);
    failed := least(failed + (select count(*) from (select from {schema}.{inbox_seen} s where s.status = 3 limit p_most) c), p_most);
    stuck := least(stuck + (select count(*)
                              from (select
                                      from {schema}.{inbox_seen} s
                                     where s.status = 1 and s.state_at <= v_now - interval '1 hour'
                                     limit p_most) c), p_most);
-- {slot:stuck} What is processed without the queue has nobody who would return it: it is stuck when it has been open for an hour.
    return query
    select l.*
      from ((select q.* from {schema}.{inbox_listed} q where q.id = any (v_ids))
            union all
            (select g.*
               from {schema}.{inbox_guarded} g
              where g.status = 1
                and (p_older is not null or g.state_at <= v_now - interval '1 hour')
                and (p_older is null or g.locked_until <= v_now or g.claimed_at <= v_now - p_older)
              order by g.state_at
              limit case when p_older is null then p_limit end)) l
     order by l.claimed_at, l.source, l.message_id
     limit p_limit;
    return;
-- {slot:waiting_sample}
    return query
    select m.topic::varchar, m.status::integer, m.retry_count::integer from {schema}.{inbox} m where m.status = 4 limit p_most;
