-- A queue whose messages can be members of joins. One that is none pays nothing for it.
alter table {schema}.{queue}
    add column joined boolean not null default false,
    add constraint {queue_joined_check} check (awaited or not joined);

-- Makes messages members of a join. One that has ended counts at once; also one that is gone, if the join was started before it was
-- written. Whoever repeats a call changes nothing. Returns how many are new.
create or replace function {schema}.{queue_attach}(p_join_id uuid, p_ids uuid[]) returns integer
    language plpgsql
{plan:index}
as $sql$
declare
    v_ids     uuid[];
    v_unknown uuid[];
    v_ended   uuid[];
begin
    perform {schema}.windlass_check_ids(p_ids);
    v_ids := {schema}.{queue_lock}(p_ids, array[0, 1, 2, 3, 4, 5]);
    {slot:attaching}
    perform 1 from {schema}.windlass_join j where j.id = p_join_id for update;
    perform {schema}.windlass_join_known(p_join_id);
    if cardinality(v_ids) < cardinality(p_ids) then
        v_unknown := array(
            select unnest(p_ids)
            except select unnest(v_ids)
            except select g.message_id from {schema}.windlass_join_gone g where g.message_id = any (p_ids)
            except select c.message_id from {schema}.windlass_join_member c where c.join_id = p_join_id and c.message_id = any (p_ids));
        if cardinality(v_unknown) > 0 then
            perform {schema}.windlass_refuse('ids of messages of ' || {queue_name}, v_unknown[1]::text,
                                             'Attach a message in the transaction that writes it, or start the join before it is written.');
        end if;
    end if;
    v_ids := {schema}.windlass_join_enter(p_join_id, {queue_name}, array(select distinct i.id from unnest(p_ids) as i (id)));
    if cardinality(v_ids) > 0 then
        update {schema}.{queue} m set joined = true, awaited = true where m.id = any (v_ids) and m.status + 0 <> 2;
        for v_status in 1 .. 2 loop
            v_ended := array(
                select m.id from {schema}.{queue} m
                 where m.id = any (v_ids) and case m.status when 2 then 1 when 3 then 2 when 5 then 2 end = v_status
                 union
                select g.message_id from {schema}.windlass_join_gone g where g.message_id = any (v_ids) and g.status = v_status);
            if cardinality(v_ended) > 0 then
                perform {schema}.windlass_join_count(v_ended, v_status, p_join_id);
            end if;
        end loop;
    end if;
    return cardinality(v_ids);
end
$sql$;

-- Makes messages that the caller has just written members of their joins; what was first under a deduplication key, in their place.
create or replace function {schema}.{queue_enter_joins}(p_ids uuid[], p_join_ids uuid[], p_originals uuid[]) returns void
    language plpgsql
as $sql$
declare
    v_join  uuid;
    v_known uuid[];
begin
    if p_originals is not null then
        perform {schema}.{queue_lock}(p_originals, array[0, 1, 2, 3, 4, 5]);
    end if;
    perform 1 from {schema}.windlass_join j where j.id = any (p_join_ids) order by j.id desc for update;
    for v_join in select distinct e.join_id from unnest(p_join_ids) as e (join_id) where e.join_id is not null loop
        perform {schema}.windlass_join_enter(v_join, {queue_name}, array(
            select e.id
              from unnest(p_ids, p_join_ids, p_originals) as e (id, join_id, original)
             where e.join_id = v_join and e.original is null));
        v_known := array(
            select distinct e.original
              from unnest(p_join_ids, p_originals) as e (join_id, original)
             where e.join_id = v_join and e.original is not null);
        if cardinality(v_known) > 0 then
            perform {schema}.{queue_attach}(v_join, v_known);
        end if;
    end loop;
end
$sql$;

-- Counts messages that end, if they are members of joins.
create or replace function {schema}.{queue_joined_ended}(p_ids uuid[], p_status smallint) returns void
    language plpgsql
{plan:index}
as $sql$
declare
    v_joined uuid[] := array(select m.id from {schema}.{queue} m where m.id = any (p_ids) and m.joined);
begin
    if cardinality(v_joined) > 0 then
        perform {schema}.windlass_join_count(v_joined, case p_status when 2 then 1 else 2 end);
    end if;
end
$sql$;

-- Failed messages are to be handled once more: where their joins are pending, the failed steps are taken back.
create or replace function {schema}.{queue_joined_reopened}(p_ids uuid[]) returns void
    language plpgsql
{plan:index}
as $sql$
declare
    v_joined uuid[] := array(select m.id from {schema}.{queue} m where m.id = any (p_ids) and m.joined);
begin
    if cardinality(v_joined) > 0 then
        perform {schema}.windlass_join_take_back(v_joined);
    end if;
end
$sql$;

-- Notes how messages ended that are about to be deleted, while a join is pending to which they could still be attached.
create or replace function {schema}.{queue_note_gone}(p_ids uuid[]) returns void
    language plpgsql
{plan:index}
as $sql$
begin
    if exists (select from {schema}.windlass_join j where j.status = 0) then
        insert into {schema}.windlass_join_gone (message_id, gone_at, status)
        select m.id, clock_timestamp(), case m.status when 2 then 1 else 2 end from {schema}.{queue} m where m.id = any (p_ids)
        on conflict (message_id) do nothing;
    end if;
end
$sql$;
