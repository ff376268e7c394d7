-- What every program needs: run this as the owner of the schema, after the migration.
grant usage on schema {schema} to {role};
grant select on {schema}.windlass_version to {role};
grant select, update on {schema}.windlass_watch to {role};
grant select, insert, update, delete on {schema}.windlass_topic to {role};
grant select, insert, delete on {schema}.windlass_start to {role};
grant select, insert, update (messages) on {schema}.windlass_action to {role};
grant select, insert, update, delete on {schema}.windlass_join, {schema}.windlass_join_member, {schema}.windlass_join_gone to {role};
