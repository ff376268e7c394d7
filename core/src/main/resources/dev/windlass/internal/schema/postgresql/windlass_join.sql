-- Joins: somebody waits for the ends of several messages, of whatever queues of this schema. A message that ends counts in its joins
-- in the same transaction; the one that ends last ends the join, and writes the message that follows.
--
--   0 pending --(all steps counted)--> 1 completed, 2 failed          0 pending --cancel--> 3 cancelled
--
-- If the message that follows is refused, by a trigger or a constraint of the user's, the join stays pending with all steps counted;
-- it says so, and maintenance tries again to end it.
--
-- Whoever changes several locks messages in the order of their ids, and then joins, the latest id first: the end of an inner join
-- counts in its outer one, which is the older one as a rule.
create table {schema}.windlass_join (
    id               uuid         not null,
    created_at       timestamptz  not null,
    updated_at       timestamptz  not null,
    ended_at         timestamptz,
    expected_steps   integer      not null,
    members          integer      not null default 0,
    completed_steps  integer      not null default 0,
    failed_steps     integer      not null default 0,
    status           smallint     not null default 0,
    fail_if_any      boolean      not null default true, -- one failed step makes it failed; else it is completed when all have ended
    follow_up_id     uuid,                               -- of the message that follows, whichever it is
    outer_join_id    uuid,                               -- what follows is a step of this one; if nothing follows, the end itself
    outbox           varchar(63),                        -- where it is written
    grouping_key     varchar(255) collate "C",
    complete_topic   varchar(255) collate "C",
    fail_topic       varchar(255) collate "C",
    complete_payload text,
    fail_payload     text,
    metadata         text,
    last_error       varchar(2048),                      -- why it has not ended, though all steps are counted
    constraint windlass_join_pk primary key (id),
    constraint windlass_join_steps_check check (expected_steps > 0 and completed_steps >= 0 and failed_steps >= 0
                                            and completed_steps + failed_steps <= members and members <= expected_steps),
    constraint windlass_join_status_check check (status between 0 and 3 and (status = 0) = (ended_at is null)
                                             and (status not in (1, 2) or completed_steps + failed_steps = expected_steps)
                                             and (status = 0 or last_error is null)),
    constraint windlass_join_follow_check check ((follow_up_id is null) = (outbox is null)
                                             and (outbox is not null or outer_join_id is null and complete_topic is null
                                                  and fail_topic is null)),
    constraint windlass_join_topics_check check (btrim(complete_topic, {blanks}) <> '' and complete_topic = rtrim(complete_topic)
                                             and btrim(fail_topic, {blanks}) <> '' and fail_topic = rtrim(fail_topic)),
    constraint windlass_join_key_check check (btrim(grouping_key, {blanks}) <> '' and grouping_key = rtrim(grouping_key))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

create index windlass_join_grouping on {schema}.windlass_join (grouping_key, created_at, id) where grouping_key is not null;
create index windlass_join_created on {schema}.windlass_join (created_at, id);
create index windlass_join_pending on {schema}.windlass_join (created_at) where status = 0;
create index windlass_join_refused on {schema}.windlass_join (updated_at) where last_error is not null;
create index windlass_join_ended on {schema}.windlass_join (ended_at) where ended_at is not null;

-- No foreign key: it would cost every member a look, and a join of many a third of its time.
create table {schema}.windlass_join_member (
    join_id    uuid        not null,
    message_id uuid        not null,
    created_at timestamptz not null,
    status     smallint    not null default 0,         -- 0 pending, 1 completed, 2 failed
    queue      varchar(63),                            -- null for a step that was reported, and is no message
    constraint windlass_join_member_pk primary key (join_id, message_id),
    constraint windlass_join_member_check check (status between 0 and 2)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

create index windlass_join_member_message on {schema}.windlass_join_member (message_id);

-- Messages that ended, and were deleted at once, while a join was pending. Who starts a join, writes a message and attaches it
-- afterwards may come after its end: then this tells how it ended.
create table {schema}.windlass_join_gone (
    message_id uuid        not null,
    gone_at    timestamptz not null,
    status     smallint    not null,                   -- as that of a member
    constraint windlass_join_gone_pk primary key (message_id)
);
create index windlass_join_gone_at on {schema}.windlass_join_gone (gone_at);

-- Starts a join; with a topic or an outer join it also says what follows, see windlass_join_follow. A repeated call with the ids of the
-- first, because the answer was lost, changes nothing. Returns the id.
create or replace function {schema}.windlass_join_start(
    p_expected_steps   integer,
    p_grouping_key     text default null,
    p_metadata         text default null,
    p_fail_if_any      boolean default true,
    p_id               uuid default null,
    p_complete_topic   text default null,
    p_complete_payload text default null,
    p_fail_topic       text default null,
    p_fail_payload     text default null,
    p_outer_join_id    uuid default null,
    p_follow_up_id     uuid default null,
    p_outbox           text default null
) returns uuid
    language plpgsql
as $sql$
declare
    v_now timestamptz := clock_timestamp();
    v_id  uuid := coalesce(p_id, {schema}.windlass_new_id());
begin
    if (p_expected_steps > 0) is not true then
        perform {schema}.windlass_refuse('a number of steps of one or more', p_expected_steps::text, 'Give p_expected_steps.');
    end if;
    insert into {schema}.windlass_join (id, created_at, updated_at, expected_steps, grouping_key, metadata, fail_if_any)
    values (v_id, v_now, v_now, p_expected_steps, p_grouping_key, p_metadata, coalesce(p_fail_if_any, true))
    on conflict (id) do nothing;
    if coalesce(p_complete_topic, p_fail_topic, p_outer_join_id::text) is not null then
        perform {schema}.windlass_join_follow(v_id, p_outbox, p_complete_topic, p_complete_payload, p_fail_topic, p_fail_payload,
                                              p_outer_join_id, p_follow_up_id);
    end if;
    return v_id;
end
$sql$;

-- Says what follows a join, once: a message of p_outbox when it has completed, another when it has failed; a topic of null means that
-- nothing follows then. p_fail_if_any replaces what was said at the start. With p_outer_join_id what follows is a step of that join,
-- and if nothing follows, the end of this one is. If the join has ended, it follows now; a cancelled one has nothing to follow.
-- Returns the id of the message that follows.
create or replace function {schema}.windlass_join_follow(
    p_join_id          uuid,
    p_outbox           text,
    p_complete_topic   text default null,
    p_complete_payload text default null,
    p_fail_topic       text default null,
    p_fail_payload     text default null,
    p_outer_join_id    uuid default null,
    p_follow_up_id     uuid default null,
    p_fail_if_any      boolean default null
) returns uuid
    language plpgsql
as $sql$
declare
    v_id   uuid := coalesce(p_follow_up_id, {schema}.windlass_new_id());
    v_join {schema}.windlass_join;
begin
    if coalesce(p_complete_topic, p_fail_topic) is null and p_outer_join_id is null then
        perform {schema}.windlass_refuse('what follows', 'nothing', 'Give p_complete_topic, p_fail_topic or p_outer_join_id.');
    elsif to_regclass($name${schema}$name$ || '.' || quote_ident(p_outbox || '_dedup')) is null then
        perform {schema}.windlass_refuse('the table of an outbox', p_outbox, 'Give p_outbox, for example ''outbox''.');
    end if;
    perform 1
       from {schema}.windlass_join j
      where j.id in (p_join_id, p_outer_join_id)
      order by j.id desc
        for update;
    v_join := {schema}.windlass_join_known(p_join_id);
    if v_join.follow_up_id is not null then
        if p_follow_up_id is distinct from v_join.follow_up_id then
            perform {schema}.windlass_refuse('a join without a follow-up', 'one that has it', 'What follows a join is said once.');
        end if;
        return v_join.follow_up_id;
    elsif v_join.status = 3 then
        perform {schema}.windlass_refuse('a join that is pending or has ended', 'one that was cancelled', 'Start another.');
    end if;
    if p_outer_join_id is not null then
        if exists (with recursive outward (id) as (
                       select p_outer_join_id
                       union
                       select j.outer_join_id from outward join {schema}.windlass_join j on j.id = outward.id)
                   select from outward where outward.id = p_join_id) then
            perform {schema}.windlass_refuse('an outer join that can end before this one', 'one that waits for it',
                                             'A join cannot be a step of itself, nor of one of its own steps.');
        end if;
        perform {schema}.windlass_join_enter(p_outer_join_id, p_outbox, array[v_id]);
    end if;
    update {schema}.windlass_join j
       set updated_at = clock_timestamp(), fail_if_any = coalesce(p_fail_if_any, j.fail_if_any), follow_up_id = v_id, outbox = p_outbox,
           outer_join_id = p_outer_join_id, complete_topic = p_complete_topic,
           complete_payload = case when p_complete_topic is not null then coalesce(p_complete_payload, '') end,
           fail_topic = p_fail_topic, fail_payload = case when p_fail_topic is not null then coalesce(p_fail_payload, '') end
     where j.id = p_join_id;
    if v_join.status in (1, 2) then
        perform {schema}.windlass_join_end(array[p_join_id]);
    end if;
    return v_id;
end
$sql$;

-- A join that the caller has locked. Fails if there is none.
create or replace function {schema}.windlass_join_known(p_join_id uuid) returns {schema}.windlass_join
    language plpgsql
as $sql$
declare
    v_join {schema}.windlass_join;
begin
    select j.* into v_join from {schema}.windlass_join j where j.id = p_join_id;
    if not found then
        perform {schema}.windlass_refuse('the id of a join', p_join_id::text, 'Start it first, in the same transaction or before.');
    end if;
    return v_join;
end
$sql$;

-- Makes messages members of a join that the caller has locked; those that are stay as they are. Returns the new ones.
create or replace function {schema}.windlass_join_enter(p_join_id uuid, p_queue text, p_ids uuid[]) returns uuid[]
    language plpgsql
{plan:index}
as $sql$
declare
    v_join {schema}.windlass_join := {schema}.windlass_join_known(p_join_id);
    v_new  uuid[];
begin
    with entered as (
        insert into {schema}.windlass_join_member (join_id, message_id, created_at, queue)
        select p_join_id, i.id, clock_timestamp(), p_queue from unnest(p_ids) as i (id)
        on conflict (join_id, message_id) do nothing
        returning message_id)
    select coalesce(array_agg(entered.message_id), '{}') into v_new from entered;
    if cardinality(v_new) = 0 then
        return v_new;
    elsif v_join.status <> 0 then
        perform {schema}.windlass_refuse('a pending join', 'one that has ended', 'Start another for further steps.');
    elsif v_join.members + cardinality(v_new) > v_join.expected_steps then
        perform {schema}.windlass_refuse('at most ' || v_join.expected_steps || ' steps', (v_join.members + cardinality(v_new))::text,
                                         'Start the join with as many as it is to wait for.');
    end if;
    update {schema}.windlass_join j
       set members = j.members + cardinality(v_new), updated_at = clock_timestamp()
     where j.id = p_join_id;
    return v_new;
end
$sql$;

-- Counts the ends of messages in the joins they are members of, each membership once: p_status 1 completed, 2 failed. Called by
-- whatever ends a message, which has locked it; with p_join_id in that one only. Joins that have ended take no notice.
create or replace function {schema}.windlass_join_count(p_message_ids uuid[], p_status integer, p_join_id uuid default null)
    returns void
    language plpgsql
{plan:each}
as $sql$
declare
    v_joins uuid[];
    v_join  uuid;
begin
    v_joins := array(select j.id
                       from {schema}.windlass_join j
                      where j.id = any (array(select c.join_id
                                                from {schema}.windlass_join_member c
                                               where c.message_id = any (p_message_ids) and c.status = 0))
                        and j.status = 0 and (p_join_id is null or j.id = p_join_id)
                      order by j.id desc
                        for update);
    if cardinality(v_joins) = 0 then
        return;
    end if;
    with counted as (
        update {schema}.windlass_join_member c
           set status = p_status
         where c.message_id = any (p_message_ids) and c.join_id = any (v_joins) and c.status = 0
        returning c.join_id),
    steps as (
        select counted.join_id, count(*)::integer as number from counted group by counted.join_id),
    changed as (
        update {schema}.windlass_join j
           set completed_steps = j.completed_steps + case p_status when 1 then steps.number else 0 end,
               failed_steps = j.failed_steps + case p_status when 2 then steps.number else 0 end,
               updated_at = clock_timestamp()
          from steps
         where j.id = steps.join_id
        returning j.id, j.completed_steps + j.failed_steps = j.expected_steps as complete)
    select coalesce(array_agg(changed.id order by changed.id desc), '{}') into v_joins from changed where changed.complete;
    foreach v_join in array v_joins loop
        begin
            perform {schema}.windlass_join_end(array[v_join]);
        exception
            when others or assert_failure then
                if sqlstate = '55P03' or sqlstate like '40%' then -- no refusal: the outer join is locked, or all of this is to be repeated
                    raise;
                end if;
                update {schema}.windlass_join j
                   set last_error = 'what follows is refused (SQLSTATE ' || sqlstate || ')' -- whose text may quote a row
                 where j.id = v_join;
        end;
    end loop;
end
$sql$;

-- Ends joins all of whose steps are counted, and writes what follows; the caller has locked them. If no message follows, the end itself
-- is the step of the outer one. What follows is written once: its content is in the message from now on, and only there. Returns how
-- many.
create or replace function {schema}.windlass_join_end(p_ids uuid[]) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_join   {schema}.windlass_join;
    v_status smallint;
    v_topic  text;
begin
    for v_join in select j.* from {schema}.windlass_join j where j.id = any (p_ids) order by j.id desc loop
        v_status := case when v_join.failed_steps > 0 and v_join.fail_if_any then 2 else 1 end;
        v_topic := case v_status when 1 then v_join.complete_topic else v_join.fail_topic end;
        update {schema}.windlass_join j
           set status = v_status, updated_at = clock_timestamp(), ended_at = coalesce(j.ended_at, clock_timestamp()),
               last_error = null, complete_payload = null, fail_payload = null
         where j.id = v_join.id;
        if v_topic is not null then
            execute 'select ' || $name${schema}$name$ || '.' || quote_ident(v_join.outbox || '_enqueue')
                    || '(p_topic => $1, p_payload => $2, p_correlation_id => $3, p_id => $4, p_join_id => $5)'
              using v_topic, case v_status when 1 then v_join.complete_payload else v_join.fail_payload end,
                    'join-' || v_join.id, v_join.follow_up_id,
                    (select o.id from {schema}.windlass_join o where o.id = v_join.outer_join_id); -- may be cancelled, and gone since
        elsif v_join.outer_join_id is not null then
            perform {schema}.windlass_join_count(array[v_join.follow_up_id], v_status);
        end if;
    end loop;
    return cardinality(p_ids);
end
$sql$;

-- Tries again to end joins whose follow-up was refused, those first that have waited longest; see windlass_each. Returns how many.
create or replace function {schema}.windlass_join_end_refused(p_limit integer default 1000) returns integer
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
begin
    return {schema}.windlass_each(
        'select ' || $name${schema}.windlass_join_end$name$ || '($1::uuid[])',
        array(select j.id
                from {schema}.windlass_join j
               where j.last_error is not null
               order by j.updated_at
               limit p_limit
                 for update skip locked)::text[]);
end
$sql$;

-- Notes messages that are done and were deleted, while a join is pending to which they could still be attached.
create or replace function {schema}.windlass_join_note_done(p_ids uuid[]) returns void
    language plpgsql
{plan:index}
as $sql$
begin
    if exists (select from {schema}.windlass_join j where j.status = 0) then
        insert into {schema}.windlass_join_gone (message_id, gone_at, status)
        select i.id, clock_timestamp(), 1 from unnest(p_ids) as i (id)
        on conflict (message_id) do nothing;
    end if;
end
$sql$;

-- Counts a step that no queue reports: p_status 1 completed, 2 failed. p_step names it, and may be the id of a message; what has been
-- counted before is not counted again. Returns whether it is counted so: false if it has ended otherwise, or the join has ended without
-- it. A new step of a join that has ended, or has all its steps, is refused.
create or replace function {schema}.windlass_join_report(p_join_id uuid, p_step uuid, p_status integer) returns boolean
    language plpgsql
{plan:index}
as $sql$
declare
    v_status smallint;
begin
    if p_status is null or p_status not in (1, 2) then
        perform {schema}.windlass_refuse('1 for completed or 2 for failed', p_status::text, 'Give p_status.');
    elsif coalesce(p_step, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000' then
        perform {schema}.windlass_refuse('the id of a step', p_step::text, 'Give p_step, an id of your own, the same whenever you report it.');
    end if;
    perform 1 from {schema}.windlass_join j where j.id = p_join_id for update;
    select c.status into v_status from {schema}.windlass_join_member c where c.join_id = p_join_id and c.message_id = p_step;
    if v_status > 0 then
        return v_status = p_status;
    elsif v_status is null then
        perform {schema}.windlass_join_enter(p_join_id, null, array[p_step]);
    end if;
    perform {schema}.windlass_join_count(array[p_step], p_status, p_join_id);
    return exists (select from {schema}.windlass_join_member c
                    where c.join_id = p_join_id and c.message_id = p_step and c.status = p_status);
end
$sql$;

-- Takes failed steps back whose messages are to be handled once more, where the join is pending. The caller has locked them.
create or replace function {schema}.windlass_join_take_back(p_message_ids uuid[]) returns void
    language plpgsql
{plan:each}
as $sql$
declare
    v_joins uuid[];
begin
    v_joins := array(select j.id
                       from {schema}.windlass_join j
                      where j.id = any (array(select c.join_id
                                                from {schema}.windlass_join_member c
                                               where c.message_id = any (p_message_ids) and c.status = 2))
                        and j.status = 0
                      order by j.id desc
                        for update);
    with reopened as (
        update {schema}.windlass_join_member c
           set status = 0
         where c.message_id = any (p_message_ids) and c.join_id = any (v_joins) and c.status = 2
        returning c.join_id),
    steps as (
        select reopened.join_id, count(*)::integer as number from reopened group by reopened.join_id)
    update {schema}.windlass_join j
       set failed_steps = j.failed_steps - steps.number, updated_at = clock_timestamp(), last_error = null
      from steps
     where j.id = steps.join_id;
end
$sql$;

-- One join, or those of a grouping key, the latest first. The next page begins before the last one's (created_at, id).
create or replace function {schema}.windlass_join_find(p_join_id uuid) returns setof {schema}.windlass_join
    language plpgsql
    stable
{plan:index}
as $sql$
begin
    return query select j.* from {schema}.windlass_join j where j.id = p_join_id;
end
$sql$;

create or replace function {schema}.windlass_join_list(
    p_limit        integer,
    p_grouping_key text default null,
    p_status       integer default null,
    p_before_at    timestamptz default null,
    p_before_id    uuid default null
) returns setof {schema}.windlass_join
    language plpgsql
    stable
as $sql$
begin
    return query
    select j.*
      from {schema}.windlass_join j
     where (p_grouping_key is null or j.grouping_key = p_grouping_key)
       and (p_status is null or j.status = p_status)
       and (p_before_at is null or (j.created_at, j.id) < (p_before_at, coalesce(p_before_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')))
     order by j.created_at desc, j.id desc
     limit p_limit;
end
$sql$;

-- The members of a join, in the order of their ids. The next page begins after the last one's.
create or replace function {schema}.windlass_join_members(p_join_id uuid, p_limit integer default 1000, p_after_id uuid default null)
    returns setof {schema}.windlass_join_member
    language plpgsql
    stable
{plan:order}
as $sql$
begin
    return query
    select c.*
      from {schema}.windlass_join_member c
     where c.join_id = p_join_id and c.message_id > coalesce(p_after_id, '00000000-0000-0000-0000-000000000000')
     order by c.message_id
     limit p_limit;
end
$sql$;

-- Deletes joins that ended longer ago than p_keep, their members first, and what was noted for joins that have ended since. Returns how
-- many rows.
create or replace function {schema}.windlass_join_clean(p_keep interval, p_limit integer default 1000) returns integer
    language plpgsql
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_before timestamptz := clock_timestamp() - p_keep;
    v_oldest timestamptz := coalesce((select min(j.created_at) from {schema}.windlass_join j where j.status = 0), clock_timestamp());
    v_joins  uuid[];
    v_count  integer;
begin
    v_count := {schema}.windlass_delete($name${schema}.windlass_join_gone$name$, array(
        select g.ctid
          from {schema}.windlass_join_gone g
         where g.gone_at < greatest(v_before, v_oldest - interval '1 hour')
         order by g.gone_at
         limit p_limit
           for update skip locked));
    v_joins := array(select j.id
                       from {schema}.windlass_join j
                      where j.ended_at < v_before
                      order by j.ended_at
                      limit p_limit
                        for update skip locked);
    v_count := v_count + {schema}.windlass_delete($name${schema}.windlass_join_member$name$, array(
        select c.ctid from {schema}.windlass_join_member c where c.join_id = any (v_joins) limit p_limit for update skip locked));
    return v_count + {schema}.windlass_delete($name${schema}.windlass_join$name$, array(
        select j.ctid
          from {schema}.windlass_join j
         where j.id = any (v_joins)
           and not exists (select from {schema}.windlass_join_member c where c.join_id = j.id)));
end
$sql$;

-- Ends a join without anything that follows. Its members go on; their ends count nowhere. Returns whether it is cancelled: false if
-- it has ended otherwise.
create or replace function {schema}.windlass_join_cancel(p_join_id uuid) returns boolean
    language plpgsql
{plan:index}
as $sql$
declare
    v_outer uuid;
    v_step  uuid;
begin
    update {schema}.windlass_join j
       set status = 3, ended_at = clock_timestamp(), updated_at = clock_timestamp(), last_error = null, complete_payload = null,
           fail_payload = null
     where j.id = p_join_id and j.status = 0
    returning j.outer_join_id, j.follow_up_id into v_outer, v_step;
    if not found then
        return ({schema}.windlass_join_known(p_join_id)).status = 3;
    end if;
    if v_outer is not null then
        perform {schema}.windlass_join_count(array[v_step], 2);
    end if;
    return true;
end
$sql$;
