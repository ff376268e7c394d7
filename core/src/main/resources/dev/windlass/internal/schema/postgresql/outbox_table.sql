-- The outbox: a queue whose messages may have an order.
--
-- An ordering key is held by one message at most: the one that is ready or in progress, or that failed and keeps its successors
-- waiting. All others of that key wait, outside the index that claims read.
alter table {schema}.{outbox}
    add column ordering_sequence bigint,
    add column blocks_key        boolean not null default false, -- it failed, and others of its key wait until somebody decides
    add column ordering_key      varchar(255) collate "C",
    add constraint {outbox_key_check} check (ordering_key is null and status <> 4 or awaited and ordering_sequence is not null);

create index {outbox_waiting} on {schema}.{outbox} (ordering_key, ordering_sequence) where status = 4;
create index {outbox_waiting_again} on {schema}.{outbox} (ordering_key) where status = 4 and requeues > 0;

-- Messages as they are listed: without their content.
create view {schema}.{outbox_listed} with (security_invoker = true) as
select m.id, m.topic, m.source, m.status, m.priority, m.keyed, m.correlation_id, m.ordering_key, m.ordering_sequence, m.blocks_key, m.created_at, m.due_at,
       m.next_attempt_at, m.expires_at, m.claimed_at, m.locked_until, m.ended_at, m.erased_at, m.processed_by, m.retry_count,
       m.lease_expiries, m.requeues, m.last_error
  from {schema}.{outbox} m;

-- The keys that have unfinished messages. Who writes to a key holds its row until the commit, so that the order of the
-- sequence is the order of the commits. A new row starts at the time in microseconds: later than all there was before.
create table {schema}.{outbox_key} (
    ordering_key  varchar(255) collate "C" not null,
    last_sequence bigint       not null,
    taken_by      uuid         not null,               -- the message that found the key free
    constraint {outbox_key_pk} primary key (ordering_key)
) with (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1
);

-- Keys whose last known message ended while somebody was writing to them; the next claim sees what came of it.
create table {schema}.{outbox_key_freed} (
    ordering_key varchar(255) collate "C" not null,
    constraint {outbox_key_freed_pk} primary key (ordering_key)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

-- Which message was written under a deduplication key. Apart from the messages, which may be gone before the window ends.
create table {schema}.{outbox_dedup} (
    topic      varchar(255) collate "C" not null,
    dedup_key  varchar(255) collate "C" not null,
    message_id uuid         not null,
    expires_at timestamptz  not null,
    constraint {outbox_dedup_pk} primary key (topic, dedup_key)
);
create index {outbox_dedup_expiring} on {schema}.{outbox_dedup} (expires_at);
