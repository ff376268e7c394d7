-- What can be seen of a queue from outside, by whoever may read it. Nothing is claimed, locked or changed here. Each number is counted along
-- an index and up to a limit, so that it costs on a table of ten million messages what it costs on a small one.

-- How much there is of each state. No count goes beyond p_most, which then means that many or more.
--
--   ready            due now, paused or not           overdue         of these, due for more than five minutes
--   delayed          ready, and due later             oldest_ready_ms since when the oldest of these has been due
--   in_progress      leased, whether or not in time   stuck           of these, see windlass_is_stuck
--
-- While a snapshot is open anywhere, the entries of what was claimed and ended stay in the indexes, and whoever begins at the oldest
-- steps over all of them. So it looks near to now first, in spans that grow, and ends when it has met some thousand entries more than it
-- has counted: what is further away is not counted then.
create or replace function {schema}.{queue_measure}(
    p_most integer,
    out ready           bigint,
    out delayed         bigint,
    out waiting         bigint,
    out in_progress     bigint,
    out failed          bigint,
    out overdue         bigint,
    out stuck           bigint,
    out oldest_ready_ms bigint
)
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[] := {schema}.{queue_topics}();
    v_oldest timestamptz;
    v_span   record;
    v_leased record;
    v_end    bigint;
begin
    perform {schema}.windlass_check_most(p_most);
    select d.ready, d.overdue, d.oldest into ready, overdue, v_oldest from {schema}.{queue_due}(v_topics, p_most, v_now) d;
    oldest_ready_ms := floor(extract(epoch from v_now - v_oldest) * 1000);
    delayed := (select d.messages from {schema}.{queue_due_between}(v_topics, v_now, 'infinity', p_most) d);
    in_progress := 0;
    stuck := 0;
    for v_span in select s.* from {schema}.windlass_spans(v_now) s loop
        if v_end is null or v_span.until = v_now then -- so much for what is to come, and for what is past
            v_end := pg_stat_get_xact_tuples_returned($name${schema}.{queue_leased}$name$::regclass) + 5000 + 2 * p_most::bigint;
        end if;
        continue when pg_stat_get_xact_tuples_returned($name${schema}.{queue_leased}$name$::regclass) > v_end;
        select count(*) as messages,
               count(*) filter (where {schema}.windlass_is_stuck(v_now, l.claimed_at, l.locked_until, null)) as stuck
          into v_leased
          from (select m.claimed_at, m.locked_until
                  from {schema}.{queue} m
                 where m.status = 1 and m.locked_until > v_span.since and m.locked_until <= v_span.until
                 limit case when v_span.until <= v_now then p_most else p_most - in_progress end) l;
        in_progress := least(in_progress + v_leased.messages, p_most);
        stuck := least(stuck + v_leased.stuck, p_most);
    end loop;
    failed := (select count(*)
                 from (select from {schema}.{queue} m where m.status = 3 and m.ended_at is not null limit p_most) c);
    waiting := 0;
    {slot:measuring}
end
$sql$;

-- How many ready messages of these topics are due, and how many for more than five minutes, at most p_most; and since when the oldest is.
create or replace function {schema}.{queue_due}(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz default clock_timestamp(),
    out ready   bigint,
    out overdue bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
{plan:index}
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name${schema}.{queue_ready}$name$::regclass) + 5000 + 2 * p_most::bigint
                     + 12 * cardinality(p_topics) * cardinality({priorities});
    v_old  boolean;
    v_span record;
    v_due  record;
begin
    ready := 0;
    overdue := 0;
    for v_span in select s.* from {schema}.windlass_spans(p_now) s where s.until <= p_now loop
        v_old := v_span.until <= p_now - interval '5 minutes';
        select d.* into v_due
          from {schema}.{queue_due_between}(p_topics, v_span.since, v_span.until,
                                            p_most - case when v_old then overdue else ready end::integer) d;
        ready := least(ready + v_due.messages, p_most);
        overdue := overdue + case when v_old then v_due.messages else 0 end;
        oldest := least(oldest, v_due.oldest);
        exit when pg_stat_get_xact_tuples_returned($name${schema}.{queue_ready}$name$::regclass) > v_end;
    end loop;
end
$sql$;

-- The topics that have ready messages, and others that were lately worked on, each once. The step to the next topic in the index of the ready ones
-- goes over all entries of a topic of which nothing is left. So topics that are worked on are taken from what ended last, and steps are made
-- between them only.
create or replace function {schema}.{queue_topics}() returns text[]
    language plpgsql
    stable
{plan:order}
as $sql$
declare
    v_known  text[];
    v_topics text[];
    v_since  text := '';
    v_until  text;
    v_next   text;
begin
    v_known := array(
        select distinct w.topic::text collate "C" as known
          from ((select m.topic from {schema}.{queue} m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit 100)
                union all
                (select m.topic from {schema}.{queue} m where m.status = 3 and m.ended_at is not null order by m.ended_at desc limit 100)) w
         order by known);
    v_topics := v_known;
    foreach v_until in array v_known loop
        loop
            v_next := (select m.topic
                         from {schema}.{queue} m
                        where m.status = 0 and not m.keyed and m.topic > v_since and m.topic < v_until
                        order by m.topic
                        limit 1);
            exit when v_next is null;
            v_topics := v_topics || v_next;
            v_since := v_next;
        end loop;
        v_since := v_until;
    end loop;
    loop
        v_next := (select m.topic
                     from {schema}.{queue} m
                    where m.status = 0 and not m.keyed and m.topic > v_since
                    order by m.topic
                    limit 1);
        exit when v_next is null;
        v_topics := v_topics || v_next;
        v_since := v_next;
    end loop;
    {slot:topics}
    return v_topics;
end
$sql$;

-- How many ready messages of these topics became or become due after p_since and up to p_until, at most p_most, which may be none, and when
-- the first of them does.
create or replace function {schema}.{queue_due_between}(
    p_topics text[],
    p_since  timestamptz,
    p_until  timestamptz,
    p_most   integer,
    out messages bigint,
    out oldest   timestamptz
)
    language plpgsql
    stable
{plan:index}
as $sql$
begin
    messages := (select count(*)
                   from (select
                           from unnest(p_topics) as t (topic)
                          cross join unnest({priorities}) as level (priority)
                          cross join lateral (
                                select
                                  from {schema}.{queue} m
                                 where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                                   and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                                 limit p_most) f
                          limit p_most) c);
    if messages > 0 or p_most = 0 then -- else the same entries would be gone over again, to find nothing
        oldest := (select min(f.next_attempt_at)
                     from unnest(p_topics) as t (topic)
                    cross join unnest({priorities}) as level (priority)
                    cross join lateral (
                          select m.next_attempt_at
                            from {schema}.{queue} m
                           where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                             and m.next_attempt_at > p_since and m.next_attempt_at <= p_until
                           order by m.next_attempt_at, m.id
                           limit 1) f);
    end if;
    {slot:due_between}
end
$sql$;

-- Messages in progress that nobody seems to look after, the oldest first, without their content: see windlass_is_stuck. With p_older
-- also those whose lease has just run out, and those whose attempt began that long ago.
create or replace function {schema}.{queue_stuck}(p_limit integer default 1000, p_older interval default null)
    returns setof {schema}.{queue_listed}
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now   timestamptz := clock_timestamp();
    v_until timestamptz := case when p_older is null then v_now else 'infinity' end;
    v_limit integer := case when p_older is null then p_limit end; -- a lease that goes on tells nothing of when it began
begin
    {slot:stuck}
    return query
    select l.*
      from (select m.*
              from {schema}.{queue_listed} m
             where m.status = 1 and m.locked_until <= v_until
               and {schema}.windlass_is_stuck(v_now, m.claimed_at, m.locked_until, p_older)
             order by m.locked_until
             limit v_limit) l
     order by l.claimed_at, l.id
     limit p_limit;
end
$sql$;

-- Messages whose leases have run out p_least times or more, the most often first: among the p_most in progress whose lease ends first,
-- p_most ready ones of each topic, but for those with keys, and the p_most that failed last.
create or replace function {schema}.{queue_lapsed}(p_least integer default 2, p_most integer default 1000)
    returns setof {schema}.{queue_listed}
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
begin
    perform {schema}.windlass_check_most(p_most);
    return query
    select l.*
      from ((select m.* from {schema}.{queue_listed} m where m.status = 1 order by m.locked_until limit p_most)
            union all
            select r.*
              from unnest({schema}.{queue_topics}()) as t (topic)
             cross join lateral (
                   select m.*
                     from {schema}.{queue_listed} m
                    where m.status = 0 and not m.keyed and m.topic = t.topic
                    limit p_most) r
            union all
            (select m.* from {schema}.{queue_listed} m where m.status = 3 and m.ended_at > '-infinity' -- a view may hide what is not null
              order by m.ended_at desc limit p_most)) l
     where l.lease_expiries >= p_least
     order by l.lease_expiries desc, l.id
     limit p_most;
end
$sql$;

-- How many messages of each topic are in which state, and how often they were tried again on average.
--
-- Of each topic, ready and failed ones are counted up to p_most. Those in progress, those that wait and those that are done are in no order
-- of their topics: of all topics together the p_most are counted whose lease ends first, that wait, that were done last. The average is that
-- of all these but the ready ones; it is null where there are none.
create or replace function {schema}.{queue_totals}(p_most integer default 1000) returns table (
    topic           varchar,
    ready           bigint,
    waiting         bigint,
    in_progress     bigint,
    done            bigint,
    failed          bigint,
    average_retries numeric
)
    language plpgsql
    stable
{plan:order}
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform {schema}.windlass_check_most(p_most);
    return query
    with recursive step (topic) as (
        (select m.topic::varchar from {schema}.{queue} m where m.status = 3 order by m.topic limit 1)
        union all
        select (select m.topic::varchar from {schema}.{queue} m where m.status = 3 and m.topic > step.topic order by m.topic limit 1)
          from step
         where step.topic is not null),
    pending as (
        select t.topic::varchar, least(d.ready + l.messages, p_most) as messages
          from unnest({schema}.{queue_topics}()) as t (topic)
         cross join lateral {schema}.{queue_due}(array[t.topic], p_most, v_now) d
         cross join lateral {schema}.{queue_due_between}(array[t.topic], v_now, 'infinity', p_most) l
         where d.ready + l.messages > 0),
    seen as (
        (select m.topic::varchar, m.status::integer, m.retry_count::integer
           from {schema}.{queue} m where m.status = 1 order by m.locked_until limit p_most)
        union all
        (select m.topic, m.status, m.retry_count
           from {schema}.{queue} m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit p_most)
        union all
        select f.topic, f.status, f.retry_count
          from step
         cross join lateral (
               select m.topic, m.status, m.retry_count
                 from {schema}.{queue} m
                where m.status = 3 and m.topic = step.topic
                order by m.ended_at desc, m.id desc
                limit p_most) f
        union all
        select w.topic, w.status, w.retry_count from {schema}.{queue_waiting_sample}(p_most) w),
    counted as (
        select s.topic,
               count(*) filter (where s.status = 4) as waiting,
               count(*) filter (where s.status = 1) as in_progress,
               count(*) filter (where s.status = 2) as done,
               count(*) filter (where s.status = 3) as failed,
               round(avg(s.retry_count), 2) as average_retries
          from seen s
         group by s.topic)
    select coalesce(pending.topic, counted.topic), coalesce(pending.messages, 0), coalesce(counted.waiting, 0),
           coalesce(counted.in_progress, 0), coalesce(counted.done, 0), coalesce(counted.failed, 0), counted.average_retries
      from pending
      full join counted on counted.topic = pending.topic
     order by 1;
end
$sql$;

-- Up to p_most messages that wait for their turn: a queue whose messages do has an index of them.
create or replace function {schema}.{queue_waiting_sample}(p_most integer)
    returns table (topic varchar, status integer, retry_count integer)
    language plpgsql
    stable
{plan:index}
as $sql$
begin
    {slot:waiting_sample}
end
$sql$;

-- The leases that have not run out: how many, at most p_most, and when the first and the last of them do.
create or replace function {schema}.{queue_leases}(
    p_most integer default 1000,
    out active          bigint,
    out earliest_expiry timestamptz,
    out latest_expiry   timestamptz
)
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform {schema}.windlass_check_most(p_most);
    select count(*), min(l.locked_until)
      into active, earliest_expiry
      from (select m.locked_until
              from {schema}.{queue} m
             where m.status = 1 and m.locked_until > v_now
             order by m.locked_until
             limit p_most) l;
    latest_expiry := (select m.locked_until
                        from {schema}.{queue} m
                       where m.status = 1 and m.locked_until > v_now
                       order by m.locked_until desc
                       limit 1);
end
$sql$;
