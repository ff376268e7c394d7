-- Version 2: order inside a key, deduplication, cancelling, the history of failures, operators. The machine grows by two states:
--
--   4 waiting --(its turn has come)--> 0 ready          0 ready, 4 waiting --cancel--> 5 cancelled
--
-- A key is held by one message at most: the one that is ready or in progress, or that failed and keeps its successors
-- waiting. All others of that key wait, outside the index that claims read.
alter table {schema}.{outbox}
    add column ordering_key      varchar(255) collate "C",
    add column ordering_sequence bigint,
    add column holds_key         boolean  not null default false,
    add column requeues          smallint not null default 0,
    add column erased_at         timestamptz,
    drop constraint {outbox_end_check},
    add constraint {outbox_end_check} check ((status in (2, 3, 5)) = (ended_at is not null) and status between 0 and 5),
    add constraint {outbox_key_check} check ((ordering_key is null) = (ordering_sequence is null)
                                         and case when ordering_key is null then status <> 4 and not holds_key
                                                  when status in (0, 1) then holds_key
                                                  else status = 3 or not holds_key end);

create index {outbox_waiting} on {schema}.{outbox} (ordering_key, ordering_sequence) where status = 4;
create index {outbox_waiting_expiring} on {schema}.{outbox} (expires_at) where status = 4 and expires_at is not null;
create index {outbox_cancelled} on {schema}.{outbox} (ended_at) where status = 5;
create index {outbox_failed_topic} on {schema}.{outbox} (topic, ended_at, id) where status = 3;

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

-- Attempts that failed. Successes write nothing here. No foreign key: it would cost every deleted message a look.
create table {schema}.{outbox_failure} (
    message_id uuid          not null,
    failed_at  timestamptz   not null,
    attempt    integer       not null,
    node       varchar(100),                           -- unknown when a lease ran out
    error      varchar(2048)
);
create index {outbox_failure_message} on {schema}.{outbox_failure} (message_id, failed_at);

create table {schema}.{outbox_pause} (
    topic     varchar(255) collate "C" not null,
    paused_at timestamptz  not null,
    paused_by varchar(255) not null,
    reason    varchar(2048),
    constraint {outbox_pause_pk} primary key (topic)
);

-- What operators did: who, when, what, and to how many messages.
create table {schema}.{outbox_action} (
    id       bigint       generated always as identity,
    acted_at timestamptz  not null,
    acted_by varchar(255) not null,
    verb     varchar(32)  not null,
    detail   jsonb        not null,
    messages integer      not null,
    constraint {outbox_action_pk} primary key (id),
    constraint {outbox_action_by_check} check (btrim(acted_by) <> '')
);

-- These get more parameters, all with defaults, or more columns at the end of their result: calls of version 1 go on to work.
drop function if exists {schema}.{outbox_enqueue}(text, text, text, jsonb, timestamptz, interval, timestamptz, uuid, boolean);
drop function if exists {schema}.{outbox_claim}(uuid, interval, integer, text[], integer[], timestamptz[], uuid[]);
drop function if exists {schema}.{outbox_abandon}(uuid[], uuid[], interval[], text[]);
drop function if exists {schema}.{outbox_ack}(uuid[], uuid[], text, boolean);
drop function if exists {schema}.{outbox_fail}(uuid[], uuid[], text[], text);
