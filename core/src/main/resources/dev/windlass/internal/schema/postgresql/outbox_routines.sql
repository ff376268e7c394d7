-- The outbox: writing messages, and what has to be done when one ends. Its verbs are those of a queue.

-- Writes one message. Returns its id; under a deduplication key that is taken, the id of the message that took it.
--
-- Messages of one ordering key are handled one after another, in the order of their sequence, over all topics. The key's row
-- is held until the commit: whoever writes to the same key waits until then, so that a message committed later never has the
-- smaller number.
--
-- A node that would handle it at once gives an owner's token and a lease: then the message is in progress from its commit on, as if the
-- node had claimed it, which saves a version of its row and a commit. Not if it has to wait for something, or if an operator has
-- decided something about its topic: then it is written, and told, as any other. {outbox_kept} says which it was.
create or replace function {schema}.{outbox_enqueue}(
    p_topic          text,
    p_payload        text,
    p_correlation_id text default null,
    p_headers        jsonb default null,
    p_due_at         timestamptz default null,
    p_delay          interval default null,
    p_expires_at     timestamptz default null,
    p_id             uuid default null,
    p_notify         boolean default true,
    p_ordering_key   text default null,
    p_dedup_key      text default null,
    p_dedup_window   interval default null,
    p_join_id        uuid default null,
    p_owner          uuid default null,
    p_lease          interval default null
) returns uuid
    language plpgsql
as $sql$
declare
    v_now      timestamptz;
    v_id       uuid := coalesce(p_id, {schema}.windlass_new_id());
    v_original uuid;
    v_sequence bigint;
    v_head     boolean;
    v_owner    uuid;
begin
    if p_due_at is not null and p_delay is not null or p_expires_at is not null then
        perform {schema}.windlass_check_times(p_due_at, p_delay, p_expires_at);
    end if;
    perform pg_current_xact_id();
    if p_dedup_key is not null then
        v_original := {schema}.{outbox_take_dedup_key}(p_topic, p_dedup_key, v_id, p_dedup_window);
        if v_original is not null then
            if p_join_id is not null then
                perform {schema}.{outbox_attach}(p_join_id, array[v_original]);
            end if;
            return v_original;
        end if;
    elsif p_dedup_window is not null then
        perform {schema}.{outbox_check_dedup}(p_dedup_key, p_dedup_window);
    end if;
    if p_ordering_key is not null then
        if btrim(p_ordering_key) = '' or v_id = '00000000-0000-0000-0000-000000000000' then
            perform {schema}.{outbox_check_key}(p_ordering_key, v_id);
        end if;
        insert into {schema}.{outbox_key} as k (ordering_key, last_sequence, taken_by)
        values (p_ordering_key, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint, v_id)
        on conflict (ordering_key) do update
           set last_sequence = k.last_sequence + 1, taken_by = '00000000-0000-0000-0000-000000000000'
        returning k.last_sequence, k.taken_by = v_id into v_sequence, v_head;
        if v_head then -- the insert may have waited for another of the key, which has come and gone: its time is too early then
            update {schema}.{outbox_key} k
               set last_sequence = greatest(k.last_sequence, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint)
             where k.ordering_key = p_ordering_key
            returning k.last_sequence into v_sequence;
        end if;
    end if;
    if p_owner is not null then
        if (p_lease > interval '0') is not true then
            perform {schema}.windlass_check_lease(p_lease);
        end if;
        if p_ordering_key is null and coalesce(p_due_at::text, p_delay::text, p_expires_at::text) is null
           and not exists (select from {schema}.windlass_topic t where t.queue = {outbox_name} and t.topic = p_topic) then
            v_owner := p_owner;
        end if;
    end if;
    v_now := clock_timestamp();
    insert into {schema}.{outbox}
        (id, created_at, next_attempt_at, due_at, expires_at, status, topic, correlation_id, headers, payload,
         ordering_key, ordering_sequence, awaited, joined, owner_token, claimed_at, locked_until)
    values (v_id, v_now, greatest(v_now, coalesce(p_due_at, v_now + p_delay)), coalesce(p_due_at, v_now + p_delay),
            p_expires_at, case when v_head is false then 4 when v_owner is not null then 1 else 0 end, p_topic,
            nullif(p_correlation_id, ''), p_headers, p_payload,
            p_ordering_key, v_sequence, coalesce(p_ordering_key, p_join_id::text) is not null, p_join_id is not null,
            v_owner, case when v_owner is not null then v_now end, case when v_owner is not null then v_now + p_lease end);
    if p_join_id is not null then
        perform {schema}.{outbox_enter_joins}(array[v_id], array[p_join_id], null);
    end if;
    if (p_notify or p_owner is not null) and v_owner is null then
        perform pg_notify({channel}, 'ready ' || p_topic);
    end if;
    return v_id;
end
$sql$;

-- Those of these messages that this owner holds and may start, as its claim would have returned them: not if an operator has decided
-- something about their topic since they were written, or if a trigger of the user's has made them wait for something.
create or replace function {schema}.{outbox_kept}(p_ids uuid[], p_owner uuid) returns setof {schema}.{outbox}
    language plpgsql
{plan:index}
as $sql$
begin
    return query
    select m.*
      from {schema}.{outbox} m
     where m.id = any (p_ids)
       and m.owner_token = p_owner
       and m.status + 0 = 1
       and m.next_attempt_at <= m.claimed_at
       and m.ordering_key is null
       and (m.expires_at is null or m.expires_at > clock_timestamp())
       and not exists (select from {schema}.windlass_topic t where t.queue = {outbox_name} and t.topic = m.topic);
end
$sql$;

-- Writes many messages in one round trip, in the order of the arrays. An array of optional values may be null as a whole. A
-- message that is given a join is a member of it.
-- Returns the ids, in the same order; under deduplication keys that are taken, the ids of the messages that took them.
create or replace function {schema}.{outbox_enqueue_all}(
    p_ids             uuid[],
    p_topics          text[],
    p_payloads        text[],
    p_correlation_ids text[] default null,
    p_headers         text[] default null,
    p_due_ats         timestamptz[] default null,
    p_delays          interval[] default null,
    p_expires_ats     timestamptz[] default null,
    p_notify          boolean default true,
    p_ordering_keys   text[] default null,
    p_dedup_keys      text[] default null,
    p_dedup_windows   interval[] default null,
    p_join_ids        uuid[] default null
) returns uuid[]
    language plpgsql
as $sql$
declare
    v_now       timestamptz;
    v_ids       uuid[] := coalesce(p_ids, array(select {schema}.windlass_new_id() from unnest(p_topics)));
    v_originals uuid[];
    v_heads     boolean[];
    v_sequences bigint[];
begin
    perform {schema}.windlass_check_lengths(
        cardinality(p_topics), coalesce(cardinality(p_payloads), -1), cardinality(p_ids), cardinality(p_correlation_ids),
        cardinality(p_headers), cardinality(p_due_ats), cardinality(p_delays), cardinality(p_expires_ats),
        cardinality(p_ordering_keys), cardinality(p_dedup_keys), nullif(cardinality(p_dedup_windows), 1), -- one for all
        cardinality(p_join_ids));
    if p_due_ats is not null and p_delays is not null or p_expires_ats is not null then
        perform {schema}.windlass_check_times(e.due_at, e.delay, e.expires_at)
           from unnest(p_due_ats, p_delays, p_expires_ats) as e (due_at, delay, expires_at);
    end if;
    perform pg_current_xact_id();
    if p_dedup_keys is not null then
        v_originals := {schema}.{outbox_take_dedup_keys}(p_topics, p_dedup_keys, v_ids, p_dedup_windows);
    elsif p_dedup_windows is not null then
        perform {schema}.{outbox_check_dedup}(null, w) from unnest(p_dedup_windows) w where w is not null;
    end if;
    if p_ordering_keys is not null then
        perform {schema}.{outbox_check_key}(e.ordering_key, e.id)
           from unnest(v_ids, p_ordering_keys) as e (id, ordering_key)
          where btrim(e.ordering_key) = '' or e.id = '00000000-0000-0000-0000-000000000000';
        select h.heads, h.sequences into v_heads, v_sequences
          from {schema}.{outbox_hold_keys}(v_ids, p_ordering_keys, v_originals) h;
    end if;
    v_now := clock_timestamp();
    insert into {schema}.{outbox}
        (id, created_at, next_attempt_at, due_at, expires_at, status, topic, correlation_id, headers, payload,
         ordering_key, ordering_sequence, awaited, joined)
    select e.id, v_now, greatest(v_now, coalesce(e.due_at, v_now + e.delay)), coalesce(e.due_at, v_now + e.delay),
           e.expires_at, case when e.head is false then 4 else 0 end, e.topic, nullif(e.correlation_id, ''),
           e.headers::jsonb, e.payload, e.ordering_key, e.sequence,
           e.ordering_key is not null or e.join_id is not null, e.join_id is not null
      from unnest(v_ids, p_topics, p_payloads, p_correlation_ids, p_headers, p_due_ats, p_delays, p_expires_ats,
                  p_ordering_keys, v_sequences, v_heads, v_originals, p_join_ids)
           as e (id, topic, payload, correlation_id, headers, due_at, delay, expires_at, ordering_key, sequence, head, original,
                 join_id)
     where e.original is null;
    if p_join_ids is not null then
        perform {schema}.{outbox_enter_joins}(v_ids, p_join_ids, v_originals);
    end if;
    if p_notify then
        perform pg_notify({channel}, 'ready ' || t.topic) from (select distinct unnest(p_topics) as topic) t;
    end if;
    if v_originals is null then
        return v_ids;
    end if;
    return array(select coalesce(e.original, e.id) from unnest(v_ids, v_originals) with ordinality as e (id, original, place)
                  order by e.place);
end
$sql$;

-- Starts a join and writes its steps, all or none: what is said of the join as in windlass_join_start, what is said of the messages as
-- in enqueue_all. A repeated call with the id of the first, because the answer was lost, changes nothing.
-- Returns the id of the join, and the ids of the messages as enqueue_all does; null if they had been written before.
create or replace function {schema}.{outbox_fan_out}(
    p_expected_steps   integer,
    p_grouping_key     text default null,
    p_metadata         text default null,
    p_fail_if_any      boolean default true,
    p_join_id          uuid default null,
    p_complete_topic   text default null,
    p_complete_payload text default null,
    p_fail_topic       text default null,
    p_fail_payload     text default null,
    p_outer_join_id    uuid default null,
    p_follow_up_id     uuid default null,
    p_ids              uuid[] default null,
    p_topics           text[] default null,
    p_payloads         text[] default null,
    p_correlation_ids  text[] default null,
    p_headers          text[] default null,
    p_due_ats          timestamptz[] default null,
    p_delays           interval[] default null,
    p_expires_ats      timestamptz[] default null,
    p_notify           boolean default true,
    p_ordering_keys    text[] default null,
    p_dedup_keys       text[] default null,
    p_dedup_windows    interval[] default null,
    out join_id        uuid,
    out message_ids    uuid[]
)
    language plpgsql
as $sql$
begin
    join_id := coalesce(p_join_id, {schema}.windlass_new_id());
    if exists (select from {schema}.windlass_join j where j.id = join_id) then
        return;
    end if;
    perform {schema}.windlass_join_start(p_expected_steps, p_grouping_key, p_metadata, p_fail_if_any, join_id, p_complete_topic,
                                         p_complete_payload, p_fail_topic, p_fail_payload, p_outer_join_id, p_follow_up_id,
                                         {outbox_name});
    message_ids := {schema}.{outbox_enqueue_all}(p_ids, p_topics, p_payloads, p_correlation_ids, p_headers, p_due_ats, p_delays,
                                                 p_expires_ats, p_notify, p_ordering_keys, p_dedup_keys, p_dedup_windows,
                                                 array_fill(join_id, array[coalesce(cardinality(p_topics), 0)]));
end
$sql$;

-- What has to be done when messages end, in the same transaction: their joins and runs learn of it, and the keys they
-- held are passed on, unless p_pass_on says that the caller does that. Those of p_blocking go on to hold theirs.
create or replace function {schema}.{outbox_message_ended}(
    p_ids      uuid[],
    p_status   smallint,
    p_blocking uuid[],
    p_pass_on  boolean,
    p_notify   boolean
) returns void
    language plpgsql
{plan:index}
as $sql$
declare
    v_joined uuid[];
    v_runs   uuid[];
    v_keys   text[];
    v_after  bigint[];
    v_blocks uuid[];
begin
    select array_agg(m.id) filter (where m.joined), array_agg(m.id) filter (where m.source = 'job'),
           array_agg(m.ordering_key) filter (where m.ordering_key is not null and m.id <> all (p_blocking)),
           array_agg(m.ordering_sequence) filter (where m.ordering_key is not null and m.id <> all (p_blocking)),
           array_agg(m.id) filter (where m.ordering_key is not null and m.id = any (p_blocking))
      into v_joined, v_runs, v_keys, v_after, v_blocks
      from {schema}.{outbox} m
     where m.id = any (p_ids);
    if v_joined is not null then
        perform {schema}.windlass_join_count(v_joined, case p_status when 2 then 1 else 2 end);
    end if;
    if v_runs is not null then
        perform {schema}.{outbox_job_runs_ended}(v_runs, p_status);
    end if;
    if v_blocks is not null then
        update {schema}.{outbox} m set blocks_key = true where m.id = any (v_blocks);
    end if;
    if v_keys is not null and p_pass_on then
        perform {schema}.{outbox_pass_on}(v_keys, p_notify, v_after);
    end if;
end
$sql$;

-- Acks, and whoever has room takes the next message of each key with it, for p_lease, if it is due and of one of
-- p_topics: it goes from waiting to in progress without having been ready, which saves a version of its row and a claim. Only
-- for those who have found nothing else ready: the next of a key would otherwise overtake what has been ready for longer. Not of topics
-- that are paused or limited: of those, only claims take something.
--
-- Returns the messages that it took, each with the answer of the ack and the number of keys whose next message it did not
-- take; when it took none, one row with these alone.
create or replace function {schema}.{outbox_ack_next}(
    p_ids          uuid[],
    p_owners       uuid[],
    p_processed_by text,
    p_keep         boolean,
    p_notify       boolean,
    p_owner        uuid,
    p_lease        interval,
    p_topics       text[],
    p_bytes        bigint default null
) returns table (
    id              uuid,
    topic           varchar,
    payload         text,
    correlation_id  varchar,
    headers         jsonb,
    created_at      timestamptz,
    due_at          timestamptz,
    expires_at      timestamptz,
    next_attempt_at timestamptz,
    retry_count     integer,
    lease_expiries  integer,
    crashes         smallint,
    requeues        smallint,
    last_error      varchar,
    ordering_key    varchar,
    joined          boolean,
    changed         integer,
    locked          uuid[],
    lost            uuid[],
    left_keys       integer
)
    language plpgsql
{plan:index}
    set lock_timeout = '5ms'
as $sql$
declare
    v_now    timestamptz;
    v_bytes  bigint := coalesce(p_bytes, 9223372036854775807);
    v_topics text[];
    v_held   uuid[];
    v_keys   text[];
    v_after  bigint[];
    v_ids    uuid[];
    v_taken  text[];
begin
    select array_agg(m.id), array_agg(m.ordering_key), array_agg(m.ordering_sequence) into v_held, v_keys, v_after
      from {schema}.{outbox} m
     where m.id = any (p_ids) and m.ordering_key is not null;
    select s.changed, s.locked, s.lost into changed, locked, lost
      from {schema}.{outbox_change_held}(case when p_keep then 'ack' else 'delete' end, p_ids, p_owners,
                                    p_processed_by => p_processed_by, p_again => false, p_pass_on => false) s;
    if cardinality(locked) + cardinality(lost) > 0 then
        select array_agg(k.ordering_key), array_agg(k.after) into v_keys, v_after
          from unnest(v_held, v_keys, v_after) as k (id, ordering_key, after)
         where k.id <> all (locked) and k.id <> all (lost);
    end if;
    if coalesce(cardinality(v_keys), 0) = 0 then
        left_keys := 0;
        return next;
        return;
    end if;
    v_topics := array(select unnest(p_topics) except select t.topic from {schema}.windlass_topic t where t.queue = {outbox_name});
    v_ids := {schema}.{outbox_first_waiting}(v_keys, v_after);
    v_now := clock_timestamp();
    select array_agg(s.id), coalesce(array_agg(s.ordering_key), '{}') into v_ids, v_taken
      from (select f.id, f.ordering_key, sum(f.size) over (rows between unbounded preceding and 1 preceding) as before
              from (select l.id, l.ordering_key, octet_length(l.payload) as size
                      from {schema}.{outbox} l
                     where l.id = any (v_ids)
                       and l.status + 0 = 4 -- naming status = 4 would invite the index of all that wait
                       and l.topic = any (v_topics)
                       and l.next_attempt_at <= v_now
                       and (l.expires_at is null or l.expires_at > v_now)
                       and l.retry_count + l.lease_expiries + l.requeues = 0 -- others have to be looked at before they start
                       for update skip locked) f) s
     where coalesce(s.before, 0) < v_bytes;
    left_keys := cardinality(v_keys) - cardinality(v_taken);
    if left_keys > 0 then
        select array_agg(k.ordering_key), array_agg(k.after) into v_keys, v_after
          from unnest(v_keys, v_after) as k (ordering_key, after)
         where k.ordering_key <> all (v_taken);
        perform {schema}.{outbox_pass_on}(v_keys, p_notify, v_after);
    end if;
    perform set_config('lock_timeout', '1s', true); -- these rows are locked; what is waited for now is the disk, at most
    return query
    update {schema}.{outbox} m
       set status = 1, owner_token = p_owner, locked_until = v_now + p_lease, claimed_at = v_now, started = false,
           next_attempt_at = v_now
     where m.id = any (v_ids)
    returning m.id, m.topic::varchar, m.payload, m.correlation_id, m.headers::jsonb, m.created_at, m.due_at, m.expires_at,
              m.next_attempt_at, m.retry_count::integer, m.lease_expiries::integer, m.crashes::smallint, m.requeues::smallint,
              m.last_error, m.ordering_key, m.joined, changed, locked, lost, left_keys;
    if not found then
        return next;
    end if;
end
$sql$;
