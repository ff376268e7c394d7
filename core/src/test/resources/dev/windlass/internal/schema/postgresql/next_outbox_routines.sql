-- The claim of the version after this one: one more parameter, with a default. It is made of the claim that is there, whatever
-- that looks like. Its rows are those of the table, so they have the new column at their end.
do $sql$
declare
    v_claim      oid  := $name${schema}.{outbox_claim}$name$::regproc;
    v_parameters text := pg_get_function_arguments(v_claim);
    v_names      text := (select array_to_string(p.proargnames[:p.pronargs], ', ') from pg_proc p where p.oid = v_claim);
begin
    execute format('alter function %s rename to %s', v_claim::regprocedure, $name${outbox_claim_1}$name$);
    execute format($claim$
        create function {schema}.{outbox_claim}(%s, p_region text default 'nowhere') returns setof {schema}.{outbox}
            language plpgsql
        as $body$
        declare
            v_each {schema}.{outbox};
        begin
            for v_each in select c.* from {schema}.{outbox_claim_1}(%s) c loop
                v_each.region := coalesce(v_each.region, p_region);
                return next v_each;
            end loop;
        end
        $body$
        $claim$, v_parameters, v_names);
end
$sql$;
