-- The planner settings that routines name as {plan:…}. The planner may believe that a table is empty, because it was when
-- somebody counted; it would then read a whole backlog. Planning again for each call, as PostgreSQL would, doubles the time
-- of a small ack. So plans are made once, and may use indexes only.

-- {plan:index} rows are found by an index
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off

-- {plan:ids} rows are found by their ids, one index scan in the order of the ids, and hash-joined to what is said of each
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off

-- {plan:each} for each of a list, one look into an index
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off

-- {plan:order} rows come in the order of an index
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
