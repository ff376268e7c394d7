-- Leases, for who only looks.
grant select on {schema}.{lease}, {schema}.{lease_semaphore}, {schema}.{lease_listed} to {role};
