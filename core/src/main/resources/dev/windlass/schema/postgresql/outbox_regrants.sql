-- Whoever may do all to the outbox may use what it now consists of, so that a program's rights survive an upgrade.
do $sql$
declare
    v_role     text;
    v_function text;
begin
    for v_role in
        select case g.grantee when 0 then 'public' else quote_ident(max(r.rolname)) end
          from pg_class c
         cross join lateral aclexplode(c.relacl) g
          left join pg_roles r on r.oid = g.grantee
         where c.oid = $name${schema}.{outbox}$name$::regclass and g.grantee <> c.relowner
           and g.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
         group by g.grantee
        having count(distinct g.privilege_type) = 4
    loop
        execute $grant$grant select, insert, update, delete
            on {schema}.{outbox_key}, {schema}.{outbox_key_freed}, {schema}.{outbox_dedup}, {schema}.{outbox_timer},
               {schema}.{outbox_job}, {schema}.{outbox_job_set}, {schema}.{outbox_job_run} to $grant$ || v_role;
        execute $grant$grant select, insert, delete on {schema}.{outbox_failure}, {schema}.{outbox_pause} to $grant$ || v_role;
        execute $grant$grant select, insert, update (messages) on {schema}.{outbox_action} to $grant$ || v_role;
        for v_function in
            select p.oid::regprocedure::text
              from pg_proc p
              join pg_class c on c.relnamespace = p.pronamespace
             where c.oid = $name${schema}.{outbox}$name$::regclass and starts_with(p.proname, c.relname || '_')
        loop
            execute 'grant execute on function ' || v_function || ' to ' || v_role;
        end loop;
    end loop;
end
$sql$;
