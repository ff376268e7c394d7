-- What a program needs for the inbox, and no more: run this as the owner of the schema, after the migration.
grant usage on schema {schema} to {role};
grant select on {schema}.windlass_version to {role};
grant select, update on {schema}.windlass_watch to {role};
grant select, insert, update, delete on {schema}.{inbox} to {role};
grant select, insert, update, delete on {schema}.{inbox_redelivery} to {role}; -- update: to lock a row
grant select, insert, delete on {schema}.{inbox_failure}, {schema}.{inbox_pause} to {role};
grant execute on all functions in schema {schema} to {role};
