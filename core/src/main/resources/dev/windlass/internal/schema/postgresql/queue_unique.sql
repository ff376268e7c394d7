-- A queue in which a unique key names one message of a topic at most that has not ended.
alter table {schema}.{queue}
    add column unique_key {schema}.windlass_name;

create unique index {queue_key} on {schema}.{queue} (topic, unique_key) where unique_key is not null and status < 2;

-- The message that has a unique key.
create or replace function {schema}.{queue_find_key}(p_topic text, p_unique_key text) returns setof {schema}.{queue}
    language plpgsql
    stable
{plan:index}
as $sql$
begin
    return query
    select m.* from {schema}.{queue} m where m.topic = p_topic and m.unique_key = p_unique_key and m.status < 2;
end
$sql$;

-- Cancels the message that has a unique key, unless somebody has claimed it. Returns whether it did: then it is never handled.
create or replace function {schema}.{queue_cancel_key}(p_topic text, p_unique_key text) returns boolean
    language plpgsql
{plan:index}
as $sql$
begin
    return {schema}.{queue_cancel}(array(select m.id from {schema}.{queue_find_key}(p_topic, p_unique_key) m)) = 1;
end
$sql$;

-- Gives failed messages, which the caller has locked, their unique keys back, and returns all but those whose key another has by now.
create or replace function {schema}.{queue_reopen_keys}(p_ids uuid[]) returns uuid[]
    language plpgsql
{plan:index}
as $sql$
declare
    v_ids uuid[] := p_ids;
    v_id  uuid;
begin
    foreach v_id in array array(select m.id
                                  from {schema}.{queue} m
                                 where m.id = any (p_ids) and m.unique_key is not null
                                 order by m.id) loop
        begin
            update {schema}.{queue} m set status = 0, ended_at = null, owner_token = null where m.id = v_id;
        exception
            when unique_violation then
                v_ids := array_remove(v_ids, v_id);
        end;
    end loop;
    return v_ids;
end
$sql$;
