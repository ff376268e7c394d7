-- The inbox, for who only looks.
grant select (message_id, hash) on {schema}.{inbox} to {role};
grant select (source, message_id, id, first_seen_at, last_seen_at, state_at, claimed_at, locked_until, retry_count, lease_expiries, requeues,
              status, processed_by, last_error, hash)
   on {schema}.{inbox_seen} to {role};
grant select on {schema}.{inbox_guarded} to {role};
