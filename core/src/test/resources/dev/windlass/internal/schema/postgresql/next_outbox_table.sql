-- What the version after this one might add to the tables; only tests know of it.
alter table {schema}.{outbox} add column region text;
