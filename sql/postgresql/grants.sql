-- Replace windlass_app by the database user of your program.
-- What a program that runs Windlass needs, and no more: run this as the owner of the schema, after the migration.
grant usage on schema "windlass" to "windlass_app";
grant select on "windlass".windlass_version to "windlass_app";
grant select, update on "windlass".windlass_watch to "windlass_app";
grant select, insert, update, delete
   on "windlass"."outbox", "windlass"."outbox_join", "windlass"."outbox_join_member", "windlass"."outbox_key",
      "windlass"."outbox_key_freed", "windlass"."outbox_dedup", "windlass"."outbox_timer", "windlass"."outbox_job",
      "windlass"."outbox_job_set", "windlass"."outbox_job_run"
   to "windlass_app";
grant select, insert, delete
   on "windlass"."outbox_failure", "windlass"."outbox_pause", "windlass"."outbox_timer_failure",
      "windlass"."outbox_job_run_failure"
   to "windlass_app";
grant select, insert, update (messages) on "windlass"."outbox_action" to "windlass_app";
grant execute on all functions in schema "windlass" to "windlass_app";
-- What a program needs for the inbox, and no more: run this as the owner of the schema, after the migration.
grant usage on schema "windlass" to "windlass_app";
grant select on "windlass".windlass_version to "windlass_app";
grant select, update on "windlass".windlass_watch to "windlass_app";
grant select, insert, update, delete on "windlass"."inbox" to "windlass_app";
grant select, insert, update, delete on "windlass"."inbox_redelivery" to "windlass_app"; -- update: to lock a row
grant select, insert, delete on "windlass"."inbox_failure", "windlass"."inbox_pause" to "windlass_app";
grant execute on all functions in schema "windlass" to "windlass_app";
-- What a program that uses leases needs, and no more: run this as the owner of the schema, after the migration.
grant usage on schema "windlass" to "windlass_app";
grant select on "windlass".windlass_version to "windlass_app";
grant select, insert, update, delete on "windlass"."lease", "windlass"."lease_semaphore" to "windlass_app";
grant usage on sequence "windlass"."lease_token" to "windlass_app";
grant execute on all functions in schema "windlass" to "windlass_app";
