-- What the work queue does in the verbs of its queue.

-- {slot:picking} Where there are items without keys as well, those with keys get half of the places.
    if exists (select
                 from unnest(v_topics) as want (topic)
                cross join lateral (
                      select
                        from {schema}.{work} m
                       where m.status = 0 and m.keyed and m.priority >= 0 and m.topic = want.topic and m.next_attempt_at <= v_now
                       limit 1) m) then
        select p.ids, p.places, v_bytes - p.bytes
          into v_keyed, v_places, v_bytes
          from {schema}.{work_pick_keyed}(v_topics, v_places, v_most, v_bytes, v_paused, v_now) p;
    end if;
-- {slot:found_none} Perhaps there is something whose lease has run out. It looks again only for what these queues get back, and gets back
-- many at once: each time, it calls itself.
        declare
            v_expired boolean := exists (select
                                           from {schema}.{work} m
                                          where m.status = 1 and m.locked_until <= v_now and m.topic <> all (v_paused)
                                            and (p_topics is null or m.topic = any (p_topics)));
        begin
            if {schema}.{work_reap}(p_lease, p_watched => true) > 0 and v_expired then
                return query
                select c.*
                  from {schema}.{work_claim}(p_owner, p_lease, p_limit, p_topics, p_places, p_after_ats, p_after_ids, p_bytes, p_each,
                                             p_priorities, p_ageing) c;
                return;
            end if;
        end;
-- {slot:ready_topics} Those of items with keys, too.
    return query
    with recursive step (topic) as (
        (select m.topic
           from {schema}.{work} m
          where m.status = 0 and m.keyed and m.topic is not null
          order by m.topic
          limit 1)
        union all
        select (select m.topic
                  from {schema}.{work} m
                 where m.status = 0 and m.keyed and m.topic > step.topic
                 order by m.topic
                 limit 1)
          from step
         where step.topic is not null)
    select step.topic::text from step where step.topic is not null;
-- {slot:next_due} Items with keys that are due and were left, as by a limit, are looked for now and then.
    return least(v_due, (
        select min(greatest(250, ceil(extract(epoch from least(f.next_attempt_at, v_now + interval '1 day') - v_now) * 1000)))
          from unnest(p_topics) as want (topic)
         cross join lateral (
               select m.next_attempt_at
                 from {schema}.{work} m
                where m.status = 0 and m.keyed and m.priority >= 0 and m.topic = want.topic
                order by m.next_attempt_at
                limit 1) f
         where want.topic not in (select t.topic
                                    from {schema}.windlass_topic t
                                   where t.queue = {work_name} and t.paused_at is not null)));
-- {slot:listing} Ready items with keys are in no order of time, and sorted for the list.
    if p_status = 0 then
        return query
        select r.*
          from (select f.*
                  from unnest(case when p_topic is null then array(select distinct {schema}.{work_ready_topics}())
                                   else array[p_topic] end) t (topic)
                 cross join unnest({priorities}) level (priority)
                 cross join lateral (
                       select m.*
                         from {schema}.{work_listed} m
                        where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                          and m.next_attempt_at >= v_from and m.next_attempt_at <= v_to
                          and (m.next_attempt_at, m.id) > (v_after, v_first)
                          and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)
                        order by m.next_attempt_at, m.id
                        limit p_limit) f
                 union all
                select m.*
                  from {schema}.{work_listed} m
                 where m.status = 0 and m.keyed and (p_topic is null or m.topic = p_topic)
                   and m.next_attempt_at >= v_from and m.next_attempt_at <= v_to
                   and (m.next_attempt_at, m.id) > (v_after, v_first)
                   and (p_error is null or position(lower(p_error) in lower(m.last_error)) > 0)) r
         where p_source is null
         order by r.next_attempt_at, r.id
         limit p_limit;
        return;
    end if;
-- {slot:ended} Joins learn of it.
    perform {schema}.{work_joined_ended}(p_ids, p_status);
-- {slot:deleted} Who attaches one to a join later is told that it is done.
            perform {schema}.windlass_join_note_done(v_ids);
-- {slot:removing} Joins can be told later how they ended.
    perform {schema}.{work_note_gone}(p_ids);
-- {slot:returned} What was to be cancelled while it was in progress ends now that it has come back.
            perform {schema}.{work_end_asked}(v_ids);
-- {slot:requeuing} One whose unique key another has by now is left as it is. The others begin anew.
    v_ids := {schema}.{work_reopen_keys}(v_ids);
    messages := cardinality(v_ids);
    perform {schema}.{work_joined_reopened}(v_ids);
    update {schema}.{work} m
       set cancel_asked_at = null, progress = null, progress_text = null, result = null
     where m.id = any (v_ids);
-- {slot:erasing} What it came to is content, too.
    v_ids := {schema}.{work_lock}(p_ids, array[2, 3, 5]);
    update {schema}.{work} m set result = null, progress_text = null where m.id = any (v_ids);
-- {slot:due_between} Items with keys have an index of their own.
    messages := least(p_most, messages
        + (select count(*)
             from (select
                     from unnest(p_topics) as t (topic)
                    cross join lateral (
                          select
                            from {schema}.{work} m
                           where m.status = 0 and m.keyed and m.priority >= 0 and m.topic = t.topic
                             and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                           limit p_most) f
                    limit p_most) c));
    oldest := least(oldest, (select min(f.next_attempt_at)
                               from unnest(p_topics) as t (topic)
                              cross join lateral (
                                    select m.next_attempt_at
                                      from {schema}.{work} m
                                     where m.status = 0 and m.keyed and m.priority >= 0 and m.topic = t.topic
                                       and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                                     order by m.next_attempt_at
                                     limit 1) f));
-- {slot:pending_met} Items with keys have an index of their own.
    v_met := v_met + pg_stat_get_xact_tuples_returned($name${schema}.{work_turns_due}$name$::regclass);
-- {slot:pending_part} They are taken with the others.
    return query
    with plain as materialized (
        select m.topic, m.next_attempt_at
          from {schema}.{work} m
         where m.status = 0 and not m.keyed and m.topic >= p_from and m.topic < p_until
         order by m.topic, m.priority, m.next_attempt_at, m.id
         limit p_size),
    keyed as materialized (
        select m.topic, m.next_attempt_at
          from {schema}.{work} m
         where m.status = 0 and m.keyed and m.priority >= 0 and m.topic >= p_from and m.topic < p_until
         order by m.topic, m.next_attempt_at
         limit p_size),
    part as materialized (
        select p.* from plain p union all select k.* from keyed k)
    select case when p_each then m.topic::text end,
           count(*) filter (where m.next_attempt_at <= p_now),
           count(*) filter (where m.next_attempt_at <= p_now - interval '5 minutes'),
           count(*) filter (where m.next_attempt_at > p_now),
           min(m.next_attempt_at) filter (where m.next_attempt_at <= p_now),
           c.topic::text
      from (select least((select case when count(*) = p_size then max(p.topic) end from plain p),
                         (select case when count(*) = p_size then max(k.topic) end from keyed k)) as topic) c
      left join part m on m.topic < c.topic or c.topic is null
     group by 1, 6;
    return;
