-- What timers do in the verbs of their queue.

-- {slot:requeuing} One whose unique key another has by now is left as it is.
    v_ids := {schema}.{outbox_timer_reopen_keys}(v_ids);
    messages := cardinality(v_ids);
