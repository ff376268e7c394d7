-- What a program needs for the outbox, and no more: run this as the owner of the schema, after the migration.
grant select, insert, update, delete
   on {schema}.{outbox}, {schema}.{outbox_key},
      {schema}.{outbox_key_freed}, {schema}.{outbox_dedup}
   to {role};
grant select, insert, delete on {schema}.{outbox_failure} to {role};
grant select on {schema}.{outbox_listed} to {role};
