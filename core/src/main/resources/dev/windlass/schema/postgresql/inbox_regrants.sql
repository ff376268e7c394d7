-- Whoever may do all to an outbox of this schema may use the inbox, so that a program's rights survive an upgrade.
do $sql$
declare
    v_role     text;
    v_function text;
begin
    for v_role in
        select distinct case g.grantee when 0 then 'public' else quote_ident(max(r.rolname)) end
          from {schema}.windlass_version v
          join pg_class c on c.relname = v.table_name
                         and c.relnamespace = (select n.oid from pg_namespace n where n.nspname = {schema_name})
         cross join lateral aclexplode(c.relacl) g
          left join pg_roles r on r.oid = g.grantee
         where v.component = 'outbox' and g.grantee <> c.relowner
           and g.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
         group by c.oid, g.grantee
        having count(distinct g.privilege_type) = 4
    loop
        execute $grant$grant select, insert, update, delete on {schema}.{inbox} to $grant$ || v_role;
        for v_function in
            select p.oid::regprocedure::text
              from pg_proc p
              join pg_class c on c.relnamespace = p.pronamespace
             where c.oid = $name${schema}.{inbox}$name$::regclass and starts_with(p.proname, c.relname || '_')
        loop
            execute 'grant execute on function ' || v_function || ' to ' || v_role;
        end loop;
    end loop;
end
$sql$;
