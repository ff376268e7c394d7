grant select (id, created_at, next_attempt_at, due_at, expires_at, claimed_at, locked_until, ended_at, erased_at, retry_count, lease_expiries,
              crashes, requeues, status, priority, started, awaited, keyed, topic, source, correlation_id, processed_by, last_error)
   on {schema}.{queue} to {role};
grant select on {schema}.{queue_failure}, {schema}.{queue_listed} to {role};
