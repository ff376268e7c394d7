-- The outbox, for who only looks.
grant select (ordering_sequence, blocks_key, ordering_key) on {schema}.{outbox} to {role};
grant select on {schema}.{outbox_key}, {schema}.{outbox_key_freed}, {schema}.{outbox_dedup} to {role};
