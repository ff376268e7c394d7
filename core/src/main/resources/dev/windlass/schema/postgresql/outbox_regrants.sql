-- Whoever may use the outbox may use all that it now consists of, so that a program's rights survive an upgrade.
do $sql$
declare
    v_role text;
begin
    for v_role in
        select distinct case g.grantee when 0 then 'public' else quote_ident(r.rolname) end
          from pg_class c
         cross join lateral aclexplode(c.relacl) g
          left join pg_roles r on r.oid = g.grantee
         where c.oid = $name${schema}.{outbox}$name$::regclass and g.privilege_type = 'INSERT' and g.grantee <> c.relowner
    loop
        execute $grant$grant select, insert, update, delete
            on {schema}.{outbox_key}, {schema}.{outbox_key_freed}, {schema}.{outbox_dedup}, {schema}.{outbox_failure},
               {schema}.{outbox_pause}, {schema}.{outbox_action} to $grant$ || v_role;
        execute $grant$grant execute on all functions in schema {schema} to $grant$ || v_role;
    end loop;
end
$sql$;
