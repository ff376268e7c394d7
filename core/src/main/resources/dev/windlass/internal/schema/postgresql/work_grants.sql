-- What a program needs for the work queue, and no more: run this as the owner of the schema, after the migration.
grant select, insert, update, delete on {schema}.{work} to {role};
grant select, insert, delete on {schema}.{work_failure} to {role};
grant select on {schema}.{work_listed}, {schema}.{work_items} to {role};
