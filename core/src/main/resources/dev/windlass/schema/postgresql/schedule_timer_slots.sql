-- What timers do in the verbs of their queue.

-- {slot:requeuing} One whose unique key another has by now is left as it is.
    declare
        v_id uuid;
    begin
        foreach v_id in array array(select t.id
                                      from {schema}.{outbox_timer} t
                                     where t.id = any (v_ids) and t.unique_key is not null
                                     order by t.id) loop
            begin
                update {schema}.{outbox_timer} t set status = 0, ended_at = null, owner_token = null where t.id = v_id;
            exception
                when unique_violation then
                    v_ids := array_remove(v_ids, v_id);
            end;
        end loop;
        messages := cardinality(v_ids);
    end;
