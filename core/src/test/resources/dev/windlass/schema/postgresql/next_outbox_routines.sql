-- The claim of the version after this one: one more parameter, with a default, and one more column, at the end. It is made of
-- the claim that is there, whatever that looks like.
do $sql$
declare
    v_claim      oid  := $name${schema}.{outbox_claim}$name$::regproc;
    v_parameters text := pg_get_function_arguments(v_claim);
    v_columns    text := rtrim(pg_get_function_result(v_claim), ')');
    v_names      text := (select array_to_string(p.proargnames[:p.pronargs], ', ') from pg_proc p where p.oid = v_claim);
begin
    execute format('alter function %s rename to %s', v_claim::regprocedure, $name${outbox_claim_1}$name$);
    execute format($claim$
        create function {schema}.{outbox_claim}(%s, p_region text default 'nowhere') returns %s, region text)
            language plpgsql
        as $body$
        begin
            return query
            select c.*, coalesce((select m.region from {schema}.{outbox} m where m.id = c.id), p_region)
              from {schema}.{outbox_claim_1}(%s) c;
        end
        $body$
        $claim$, v_parameters, v_columns, v_names);
end
$sql$;
