-- What a program needs for the inbox, and no more: run this as the owner of the schema, after the migration.
grant select, insert, update, delete on {schema}.{inbox}, {schema}.{inbox_seen} to {role};
grant select, insert, delete on {schema}.{inbox_failure} to {role};
grant select on {schema}.{inbox_listed}, {schema}.{inbox_guarded} to {role};
