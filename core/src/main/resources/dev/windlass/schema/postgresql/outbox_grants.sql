-- What a program that runs Windlass needs, and no more: run this as the owner of the schema, after the migration.
grant usage on schema {schema} to {role};
grant select on {schema}.windlass_version to {role};
grant select, update on {schema}.windlass_watch to {role};
grant select, insert, update, delete
   on {schema}.{outbox}, {schema}.{outbox_join}, {schema}.{outbox_join_member}, {schema}.{outbox_key},
      {schema}.{outbox_key_freed}, {schema}.{outbox_dedup}, {schema}.{outbox_timer}, {schema}.{outbox_job},
      {schema}.{outbox_job_set}, {schema}.{outbox_job_run}
   to {role};
grant select, insert, delete
   on {schema}.{outbox_failure}, {schema}.{outbox_pause}, {schema}.{outbox_timer_failure},
      {schema}.{outbox_job_run_failure}
   to {role};
grant select, insert, update (messages) on {schema}.{outbox_action} to {role};
grant execute on all functions in schema {schema} to {role};
