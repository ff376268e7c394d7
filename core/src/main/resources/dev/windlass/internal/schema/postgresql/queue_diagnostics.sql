-- What can be seen of a queue from outside, by whoever may read it. Nothing is claimed, locked or changed here. Each number is counted along
-- an index and up to a limit, so that it costs on a table of ten million messages what it costs on a small one.

-- How much there is of each state. No count goes beyond p_most, which then means that many or more.
--
--   ready            due now, paused or not           overdue         of these, due for more than five minutes
--   delayed          ready, and due later             oldest_ready_ms since when the oldest of these has been due
--   in_progress      leased, whether or not in time   stuck           of these, see windlass_is_stuck
--
-- With tens of thousands of topics, or with as many dead entries, not everything is looked at. Then "more_topics" is true, and there may be more
-- of what is ready, overdue and delayed, and an older one.
--
-- While a snapshot is open anywhere, the entries of what was claimed and ended stay in the indexes, and whoever begins at the oldest
-- steps over all of them. So everything here looks near to now first, in spans that grow, and ends when it has met some thousand entries
-- more than it has found: what is further away is not found then, until the snapshot is closed.
create or replace function {schema}.{queue_measure}(
    p_most integer,
    out ready           bigint,
    out delayed         bigint,
    out waiting         bigint,
    out in_progress     bigint,
    out failed          bigint,
    out overdue         bigint,
    out stuck           bigint,
    out oldest_ready_ms bigint,
    out more_topics     boolean
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
    select least(coalesce(sum(p.due), 0), p_most), least(coalesce(sum(p.overdue), 0), p_most), least(coalesce(sum(p.later), 0), p_most),
           floor(extract(epoch from v_now - min(p.oldest)) * 1000), coalesce(bool_or(p.more), false)
      into ready, overdue, delayed, oldest_ready_ms, more_topics
      from {schema}.{queue_pending}(p_most, null, v_now) p;
    select least(count(*), p_most),
           least(count(*) filter (where {schema}.windlass_is_stuck(v_now, l.claimed_at, l.locked_until, null)), p_most)
      into in_progress, stuck
      from {schema}.{queue_leased_near}(p_most, v_now) l;
    failed := (select count(*)
                 from (select from {schema}.{queue} m where m.status = 3 and m.ended_at is not null limit p_most) c);
    waiting := 0;
    {slot:measuring}
end
$sql$;

-- Messages in progress whose lease ends after p_since and up to p_until, those first whose lease ends or has ended near to p_now: up to p_most
-- whose lease goes on, and of others up to p_most of each span, so that many that have just run out hide none that did so long ago.
create or replace function {schema}.{queue_leased_near}(
    p_most  integer,
    p_now   timestamptz,
    p_since timestamptz default '-infinity',
    p_until timestamptz default 'infinity'
)
    returns table (id uuid, topic varchar, retry_count integer, lease_expiries integer, claimed_at timestamptz, locked_until timestamptz)
    language plpgsql
    stable
{plan:index}
as $sql$
declare
    v_span record;
    v_end  bigint;
    v_left integer;
    v_rows integer;
begin
    for v_span in select s.* from {schema}.windlass_spans(p_now) s where s.since >= p_since and s.until <= p_until loop
        if v_end is null or v_span.until = p_now then -- so much for what is to come, and for what is past
            v_end := pg_stat_get_xact_tuples_returned($name${schema}.{queue_leased}$name$::regclass) + 5000 + 2 * p_most::bigint;
        end if;
        if v_left is null or v_span.until <= p_now then
            v_left := p_most;
        end if;
        continue when v_left = 0
            or pg_stat_get_xact_tuples_returned($name${schema}.{queue_leased}$name$::regclass) > v_end;
        return query
        select m.id, m.topic::varchar, m.retry_count::integer, m.lease_expiries::integer, m.claimed_at::timestamptz,
               m.locked_until::timestamptz
          from {schema}.{queue} m
         where m.status = 1 and m.locked_until > v_span.since and m.locked_until <= v_span.until
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many ready messages there are: due, of these due for more than five minutes, due later; and since when the oldest is due. With p_topics a
-- row for each of so many topics, with up to p_most of each; else some rows for all topics, with about p_most in all. A last row says
-- with "more" that topics were left out: there are more, or a look at them would cost too much.
--
-- Topics that are much worked on have entries in the index of which nothing is left; they are counted near to now first, see due. The others
-- are taken as they come in the index, many at once: ten thousand topics of one message cost what one of ten thousand does. Where one
-- has many, it is counted alone and stepped over. What lies between topics that were lately worked on comes first: it has few entries
-- of which nothing is left. If the look ends before it has seen all, some of the rest are looked at one by one, see pending_rest.
create or replace function {schema}.{queue_pending}(p_most integer, p_topics integer, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, more boolean)
    language plpgsql
    stable
{plan:index}
as $sql$
declare
    v_entries bigint  := coalesce(200 * p_topics::bigint, 20000 + p_most::bigint);
    v_topics  integer := coalesce(p_topics, 2147483647);
    v_busy    text[]  := array(select l.topic from {schema}.{queue_lately}(p_now) l where l.is_busy);
    v_sums    bigint[] := array[0, 0, 0];
    v_from    text    := '';
    v_cut     text;
    v_size    integer;
    v_small   bigint;
    v_met     bigint;
    v_gap     record;
begin
    more := false;
    for topic, due, overdue, later, oldest in
        select case when p_topics is not null then b.topics[1] end, d.*
          from (select v_busy as topics where p_topics is null
                union all
                select array[u.topic] from unnest(v_busy) as u (topic) where p_topics is not null) b
         cross join lateral {schema}.{queue_pending_busy}(b.topics, p_most, p_now) d loop
        v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
        v_topics := v_topics - 1;
        return next;
    end loop;
    for v_gap in select g.* from {schema}.{queue_pending_gaps}(p_now) g loop
        v_from := v_gap.since;
        v_size := 100;
        loop
            if v_entries <= 0 or v_topics <= 0 then
                select null, 0, 0, 0, null, true into topic, due, overdue, later, oldest, more;
                if p_topics is null then
                    select r.due, r.overdue, r.later, r.oldest into due, overdue, later, oldest
                      from {schema}.{queue_pending_rest}(v_gap.turn, v_from, p_now) r;
                end if;
                return next;
                return;
            end if;
            v_met := {schema}.{queue_pending_met}();
            v_small := 0;
            for topic, due, overdue, later, oldest, v_cut in
                select p.* from {schema}.{queue_pending_part}(v_from, v_gap.until, v_size, p_topics is not null, p_now) p loop
                if due + later > 0 then
                    v_small := v_small + due + later;
                    v_topics := v_topics - 1;
                    return next;
                end if;
            end loop;
            v_entries := v_entries + v_met - {schema}.{queue_pending_met}();
            exit when v_cut is null;
            select d.* into due, overdue, later, oldest
              from {schema}.{queue_pending_of}(v_cut, p_most, case when p_topics is null then v_sums else '{0,0,0}' end, p_now) d;
            topic := case when p_topics is not null then v_cut end;
            v_sums := array[v_sums[1] + due, v_sums[2] + overdue, v_sums[3] + later];
            v_topics := v_topics - 1;
            return next;
            v_from := v_cut || E'\x01'; -- comes next
            v_size := case when v_small >= v_size / 2 then least(2 * v_size, 10000, greatest(v_topics, 100)) else 100 end;
        end loop;
    end loop;
end
$sql$;

-- The pieces in which the topics are taken that are not much worked on: from which one on, and before which one. First what lies between those
-- that were lately worked on, then these.
create or replace function {schema}.{queue_pending_gaps}(p_now timestamptz) returns table (since text, until text, turn integer)
    language plpgsql
    stable
as $sql$
begin
    return query
    with lately as materialized (
        select l.topic collate "C" as topic, l.is_busy from {schema}.{queue_lately}(p_now) l),
    gap as (
        select '' as since, coalesce(min(l.topic), repeat(E'\U0010ffff', 256)) as until, 1 as turn -- comes after every topic
          from lately l
         union all
        select l.topic || E'\x01', lead(l.topic, 1, repeat(E'\U0010ffff', 256)) over (order by l.topic), 1 from lately l
         union all
        select l.topic, l.topic || E'\x01', 2 from lately l where not l.is_busy)
    select g.since, g.until, g.turn from gap g order by g.turn, g.since collate "C";
end
$sql$;

-- What there is of those topics that pending has not come to, in this turn from topic p_from on: at least so much. A thousand messages are counted of
-- each of those that the statistics of the table name, the most frequent first, then of those that were lately worked on, each near to
-- now first; until 20,000 entries were met.
create or replace function {schema}.{queue_pending_rest}(
    p_turn integer,
    p_from text,
    p_now  timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
{plan:index}
as $sql$
declare
    v_end   bigint := {schema}.{queue_pending_met}() + 20000;
    v_topic text;
    v_found record;
begin
    due := 0;
    overdue := 0;
    later := 0;
    for v_topic in
        with lately as materialized (
            select l.topic, l.is_busy from {schema}.{queue_lately}(p_now) l)
        select r.topic
          from (select k.topic, 1 as turn, k.place
                  from pg_class c
                  join pg_namespace n on n.oid = c.relnamespace
                  join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'topic'
                 cross join unnest(s.most_common_vals::text::text[] || s.histogram_bounds::text::text[])
                            with ordinality as k (topic, place)
                 where c.oid = $name${schema}.{queue}$name$::regclass
                   and k.topic not in (select l.topic from lately l)
                 union all
                select l.topic, 2, 0 from lately l where not l.is_busy) r
         where r.turn > p_turn or (r.turn = p_turn and r.topic collate "C" >= p_from)
         order by r.turn, r.place, r.topic collate "C" loop
        exit when {schema}.{queue_pending_met}() >= v_end;
        select d.* into v_found from {schema}.{queue_pending_busy}(array[v_topic], 1000, p_now) d;
        due := due + v_found.due;
        overdue := overdue + v_found.overdue;
        later := later + v_found.later;
        oldest := least(oldest, v_found.oldest);
    end loop;
end
$sql$;

-- Topics that were lately worked on, in their order, and which of them are those that it was most often.
create or replace function {schema}.{queue_lately}(p_now timestamptz) returns table (topic text, is_busy boolean)
    language plpgsql
    stable
{plan:index}
as $sql$
begin
    return query
    select w.topic::text, row_number() over (order by count(*) desc, w.topic) <= 20
      from ((select m.topic from {schema}.{queue} m where m.status = 2 and m.ended_at is not null order by m.ended_at desc limit 60)
            union all
            (select m.topic from {schema}.{queue} m where m.status = 3 and m.ended_at is not null order by m.ended_at desc limit 20)
            union all
            (select l.topic from {schema}.{queue_leased_near}(20, p_now) l limit 20)) w
     group by w.topic
     order by w.topic collate "C";
end
$sql$;

-- How many entries this transaction has met in the indexes of ready messages, with those of which nothing is left.
create or replace function {schema}.{queue_pending_met}() returns bigint
    language plpgsql
    stable
as $sql$
declare
    v_met bigint := pg_stat_get_xact_tuples_returned($name${schema}.{queue_ready}$name$::regclass);
begin
    {slot:pending_met}
    return v_met;
end
$sql$;

-- The p_size ready messages from topic p_from on and before p_until that come first in the index, as in pending. Those of the last of these topics
-- are left out if there may be more: it is the "cut", of which every row tells. A row may be of no message. With p_each a row for each topic.
create or replace function {schema}.{queue_pending_part}(p_from text, p_until text, p_size integer, p_each boolean, p_now timestamptz)
    returns table (topic text, due bigint, overdue bigint, later bigint, oldest timestamptz, cut text)
    language plpgsql
    stable
{plan:order}
as $sql$
begin
    {slot:pending_part}
    return query
    with part as materialized (
        select m.topic, m.next_attempt_at
          from {schema}.{queue} m
         where m.status = 0 and not m.keyed and m.topic >= p_from and m.topic < p_until
         order by m.topic, m.priority, m.next_attempt_at, m.id
         limit p_size)
    select case when p_each then m.topic::text end,
           count(*) filter (where m.next_attempt_at <= p_now),
           count(*) filter (where m.next_attempt_at <= p_now - interval '5 minutes'),
           count(*) filter (where m.next_attempt_at > p_now),
           min(m.next_attempt_at) filter (where m.next_attempt_at <= p_now),
           c.topic::text
      from (select case when count(*) = p_size then max(p.topic) end as topic from part p) c
      left join part m on m.topic < c.topic or c.topic is null
     group by 1, 6;
end
$sql$;

-- Ready messages of one topic, as in pending, up to p_most of each with those that were counted already.
create or replace function {schema}.{queue_pending_of}(
    p_topic   text,
    p_most    integer,
    p_counted bigint[],
    p_now     timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
{plan:index}
as $sql$
declare
    v_since timestamptz := p_now - interval '5 minutes';
    v_young timestamptz;
begin
    select d.messages, d.oldest into overdue, oldest
      from {schema}.{queue_due_between}(array[p_topic], '-infinity', v_since, greatest(p_most - p_counted[2], 0)::integer) d;
    select d.messages + overdue, d.oldest into due, v_young
      from {schema}.{queue_due_between}(array[p_topic], v_since, p_now, greatest(p_most - p_counted[1] - overdue, 0)::integer) d;
    oldest := least(oldest, v_young);
    later := (select d.messages
                from {schema}.{queue_due_between}(array[p_topic], p_now, 'infinity', greatest(p_most - p_counted[3], 0)::integer) d);
end
$sql$;

-- The same of topics together that are much worked on.
create or replace function {schema}.{queue_pending_busy}(
    p_topics text[],
    p_most   integer,
    p_now    timestamptz,
    out due     bigint,
    out overdue bigint,
    out later   bigint,
    out oldest  timestamptz
)
    language plpgsql
    stable
as $sql$
begin
    select d.ready, d.overdue, d.oldest into due, overdue, oldest from {schema}.{queue_due}(p_topics, p_most, p_now) d;
    later := (select d.messages from {schema}.{queue_due_between}(p_topics, p_now, 'infinity', p_most) d);
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
    v_now timestamptz := clock_timestamp();
    v_ids uuid[] := array(select l.id
                            from {schema}.{queue_leased_near}(p_limit, v_now, '-infinity',
                                                              case when p_older is null then v_now else 'infinity' end) l
                           where {schema}.windlass_is_stuck(v_now, l.claimed_at, l.locked_until, p_older)
                           order by l.claimed_at, l.id
                           limit p_limit);
begin
    {slot:stuck}
    return query
    select m.* from {schema}.{queue_listed} m where m.id = any (v_ids) order by m.claimed_at, m.id;
end
$sql$;

-- Messages whose leases have run out p_least times or more, the most often first: among p_most in progress, p_most of each topic that are due,
-- but for those with keys, and the p_most that failed last. With more than a thousand topics, those that are due are looked at in some only,
-- and a notice says so.
create or replace function {schema}.{queue_lapsed}(p_least integer default 2, p_most integer default 1000)
    returns setof {schema}.{queue_listed}
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now    timestamptz := clock_timestamp();
    v_topics text[];
    v_since  timestamptz[];
    v_more   boolean;
    v_ids    uuid[];
begin
    perform {schema}.windlass_check_most(p_most);
    select coalesce(array_agg(p.topic) filter (where p.oldest is not null), '{}'),
           coalesce(array_agg(p.oldest) filter (where p.oldest is not null), '{}'), bool_or(p.more)
      into v_topics, v_since, v_more
      from {schema}.{queue_pending}(1, 1000, v_now) p;
    if v_more then
        raise notice 'there are more topics than were looked at';
    end if;
    v_ids := array(
        select l.id
          from (select n.id, n.lease_expiries from {schema}.{queue_leased_near}(p_most, v_now) n
                union all
                select d.id, d.lease_expiries
                  from {schema}.{queue_lately}(v_now) b
                 cross join lateral {schema}.{queue_due_near}(b.topic, p_most, v_now) d
                 where b.is_busy
                union all
                select m.id, m.lease_expiries
                  from (select * from unnest(v_topics, v_since) as u (topic, since)
                         where u.topic not in (select b.topic from {schema}.{queue_lately}(v_now) b where b.is_busy)) t
                 cross join unnest({priorities}) as level (priority)
                 cross join lateral (
                       select d.id, d.lease_expiries::integer
                         from {schema}.{queue} d
                        where d.status = 0 and not d.keyed -- as rows: the index of the times alone would be the wrong one
                          and (d.topic, d.priority, d.next_attempt_at) >= (t.topic, level.priority, t.since)
                          and (d.topic, d.priority, d.next_attempt_at) <= (t.topic, level.priority, v_now)
                        limit p_most) m
                union all
                (select m.id, m.lease_expiries::integer
                   from {schema}.{queue} m
                  where m.status = 3 and m.ended_at is not null
                  order by m.ended_at desc
                  limit p_most)) l
         where l.lease_expiries >= p_least
         order by l.lease_expiries desc, l.id
         limit p_most);
    return query
    select m.* from {schema}.{queue_listed} m where m.id = any (v_ids) order by m.lease_expiries desc, m.id;
end
$sql$;

-- Up to p_most messages of a topic that are due, those first that became it last.
create or replace function {schema}.{queue_due_near}(p_topic text, p_most integer, p_now timestamptz)
    returns table (id uuid, lease_expiries integer)
    language plpgsql
    stable
{plan:index}
as $sql$
declare
    v_end  bigint := pg_stat_get_xact_tuples_returned($name${schema}.{queue_ready}$name$::regclass) + 5000 + 2 * p_most::bigint;
    v_left integer := p_most;
    v_rows integer;
    v_span record;
begin
    for v_span in select s.* from {schema}.windlass_spans(p_now) s where s.until <= p_now loop
        exit when v_left = 0 or pg_stat_get_xact_tuples_returned($name${schema}.{queue_ready}$name$::regclass) > v_end;
        return query
        select f.id, f.lease_expiries::integer
          from unnest({priorities}) as level (priority)
         cross join lateral (
               select m.id, m.lease_expiries
                 from {schema}.{queue} m
                where m.status = 0 and not m.keyed and m.topic = p_topic and m.priority = level.priority
                  and m.next_attempt_at > v_span.since and m.next_attempt_at <= v_span.until
                limit v_left) f
         limit v_left;
        get diagnostics v_rows = row_count;
        v_left := v_left - v_rows;
    end loop;
end
$sql$;

-- How many messages of each topic are in which state, how many of the ready ones are due and since when, and how often messages were tried
-- again on average.
--
-- Of each topic, ready and failed ones are counted up to p_most. Those in progress, those that wait and those that are done are in no order
-- of their topics: of all topics together up to p_most are counted that are in progress, that wait, that were done last. The average is that
-- of all these but the ready ones; it is null where there are none.
create or replace function {schema}.{queue_totals}(p_most integer default 1000) returns table (
    topic           varchar,
    ready           bigint,
    waiting         bigint,
    in_progress     bigint,
    done            bigint,
    failed          bigint,
    average_retries numeric,
    due             bigint,
    oldest_due_ms   bigint,
    more_topics     boolean
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
    with recursive step (topic, number) as (
        (select m.topic::varchar, 1 from {schema}.{queue} m where m.status = 3 order by m.topic limit 1)
        union all
        select (select m.topic::varchar from {schema}.{queue} m where m.status = 3 and m.topic > step.topic order by m.topic limit 1),
               step.number + 1
          from step
         where step.topic is not null and step.number <= 1000),
    looked as materialized (
        select p.* from {schema}.{queue_pending}(p_most, 1000, v_now) p),
    pending as (
        select p.topic::varchar, least(sum(p.due + p.later), p_most)::bigint as messages, least(sum(p.due), p_most)::bigint as due,
               min(p.oldest) as oldest
          from looked p
         where p.due + p.later > 0
         group by p.topic),
    seen as (
        (select l.topic, 1 as status, l.retry_count from {schema}.{queue_leased_near}(p_most, v_now) l limit p_most)
        union all
        (select m.topic::varchar, m.status::integer, m.retry_count::integer
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
           coalesce(counted.in_progress, 0), coalesce(counted.done, 0), coalesce(counted.failed, 0), counted.average_retries,
           coalesce(pending.due, 0), floor(extract(epoch from v_now - pending.oldest) * 1000)::bigint,
           exists (select from looked p where p.more) or exists (select from step where step.topic is not null and step.number > 1000)
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

-- The leases that have not run out: how many, at most p_most, when the first and the last of them do, and for how long they have been held on
-- average.
create or replace function {schema}.{queue_leases}(
    p_most integer default 1000,
    out active          bigint,
    out earliest_expiry timestamptz,
    out latest_expiry   timestamptz,
    out average_age_ms  bigint
)
    language plpgsql
    stable
{plan:index}
    set lock_timeout = '1s'
as $sql$
declare
    v_now  timestamptz := clock_timestamp();
    v_span record;
    v_end  bigint;
    v_last timestamptz;
begin
    perform {schema}.windlass_check_most(p_most);
    select count(*), min(l.locked_until), max(l.locked_until), (extract(epoch from avg(v_now - l.claimed_at)) * 1000)::bigint
      into active, earliest_expiry, latest_expiry, average_age_ms
      from {schema}.{queue_leased_near}(p_most, v_now, v_now) l;
    v_end := pg_stat_get_xact_tuples_returned($name${schema}.{queue_leased}$name$::regclass) + 5000;
    for v_span in select s.* from {schema}.windlass_spans(v_now) s where s.until > latest_expiry
                   order by s.since desc loop
        exit when v_last is not null
            or pg_stat_get_xact_tuples_returned($name${schema}.{queue_leased}$name$::regclass) > v_end;
        v_last := (select m.locked_until
                     from {schema}.{queue} m
                    where m.status = 1 and m.locked_until > greatest(v_span.since, latest_expiry) and m.locked_until <= v_span.until
                    order by m.locked_until desc
                    limit 1);
    end loop;
    latest_expiry := greatest(latest_expiry, v_last);
end
$sql$;
