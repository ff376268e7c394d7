-- What a program that uses leases needs, and no more: run this as the owner of the schema, after the migration.
grant select, insert, update, delete on {schema}.{lease}, {schema}.{lease_semaphore} to {role};
grant usage on sequence {schema}.{lease_token} to {role};
grant select on {schema}.{lease_listed} to {role};
