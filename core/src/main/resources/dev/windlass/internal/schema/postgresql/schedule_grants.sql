-- What a program needs for timers and jobs, and no more: run this as the owner of the schema, after the migration.
grant select, insert, update, delete
   on {schema}.{outbox_timer}, {schema}.{outbox_job}, {schema}.{outbox_job_set}, {schema}.{outbox_job_run}
   to {role};
grant select, insert, delete on {schema}.{outbox_timer_failure}, {schema}.{outbox_job_run_failure} to {role};
grant select on {schema}.{outbox_timer_listed}, {schema}.{outbox_job_run_listed}, {schema}.{outbox_job_listed} to {role};
