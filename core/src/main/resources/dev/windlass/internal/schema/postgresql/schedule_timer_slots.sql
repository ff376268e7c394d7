-- What timers do in the verbs of their queue.

-- {slot:requeuing} One whose unique key another has by now is left as it is.
    v_ids := {schema}.{outbox_timer_reopen_keys}(v_ids);
    messages := cardinality(v_ids);
-- {slot:looking} Timers of all topics are handed off. One that somebody wrote long ago, and has not committed, is not seen yet: with the number
-- of this transaction, who looks again learns what has been open since.
    if p_others then
        v_look.due_in := (select ceil(extract(epoch from least(t.next_attempt_at, v_now + interval '1 day') - v_now) * 1000)
                            from {schema}.{outbox_timer} t
                           where t.status = 0
                           order by t.next_attempt_at, t.id
                           limit 1);
        v_look.claim_number := pg_current_xact_id()::text::bigint;
        v_look.snapshot_xmin := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    end if;
