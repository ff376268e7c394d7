    if exists (select from {schema}.{outbox_key_freed}) then -- nobody is told when the one who is writing to a key rolls back
        return least(v_due, 250);
    end if;
