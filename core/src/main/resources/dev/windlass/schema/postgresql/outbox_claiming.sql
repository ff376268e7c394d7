    if exists (select from {schema}.{outbox_key_freed}) then
        perform {schema}.{outbox_settle_keys}();
        v_now := clock_timestamp();
    end if;
