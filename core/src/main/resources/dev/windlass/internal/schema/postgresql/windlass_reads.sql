-- What who only looks needs, and no more: run this as the owner of the schema, after the migration. No payload, no header and no owner
-- token is among it; routines run with the rights of their caller, so one that would return such is refused.
grant usage on schema {schema} to {role};
grant select on {schema}.windlass_version, {schema}.windlass_watch, {schema}.windlass_topic, {schema}.windlass_start, {schema}.windlass_action
   to {role};
grant select (id, created_at, updated_at, ended_at, expected_steps, members, completed_steps, failed_steps, status, fail_if_any, follow_up_id,
              outer_join_id, outbox, grouping_key, complete_topic, fail_topic, last_error)
   on {schema}.windlass_join to {role};
grant select on {schema}.windlass_join_member, {schema}.windlass_join_gone to {role};
