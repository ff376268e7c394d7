package dev.windlass.cli.doctor;

import java.sql.Array;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;

/** Whether this user has what the grant script gives to a program, component by component. */
final class RightsCheck implements Check {
    /** Some rights are for some columns only, but for that to delete. What is missing altogether is another check's business. */
    private static final String SQL = """
            select r.component, count(*)
              from unnest(?, ?, ?, ?) as r (component, kind, privilege, name)
             cross join to_regclass(format('%I.%I', ?::text, r.name)) as relation
             where not coalesce(
                       case when r.kind = 'function' then
                                (select bool_and(has_function_privilege(p.oid, 'execute'))
                                   from pg_proc p
                                   join pg_namespace n on n.oid = p.pronamespace
                                  where n.nspname = ? and p.proname = r.name)
                            when r.kind = 'sequence' then has_sequence_privilege(relation, r.privilege)
                            when r.privilege = 'delete' then has_table_privilege(relation, r.privilege)
                            else has_any_column_privilege(relation, r.privilege)
                       end, true)
             group by r.component
             order by r.component""";

    @Override
    public String name() {
        return "rights";
    }

    @Override
    public boolean needsTables() {
        return true;
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        String schema = Patient.dialect().quote(patient.schema());
        if (!patient.one("select has_schema_privilege(?, 'usage')", row -> row.getBoolean(1), patient.schema())) {
            findings.problem("this user may not use schema " + schema, remedy());
            return;
        }
        List<String> missing = missing(patient, Blueprint.of(patient).rights());
        if (missing.isEmpty()) {
            findings.ok("this user has all that a program needs");
        } else {
            findings.warning(
                    "this user cannot run a program: rights are missing for " + String.join(", ", missing),
                    "To look is fine. For a program: " + remedy());
        }
    }

    private static String remedy() {
        return "Run 'windlass migrate --grant-to USER' as the owner of the schema.";
    }

    /** In one question: the server may be far away, and a program needs hundreds of rights. */
    private static List<String> missing(Patient patient, List<Blueprint.Right> rights) throws SQLException {
        return patient.list(
                SQL,
                row -> row.getString(1) + " (" + row.getInt(2) + ")",
                texts(patient, rights, Blueprint.Right::component),
                texts(patient, rights, Blueprint.Right::kind),
                texts(patient, rights, Blueprint.Right::right),
                texts(patient, rights, Blueprint.Right::object),
                patient.schema(),
                patient.schema());
    }

    private static Array texts(Patient patient, List<Blueprint.Right> rights, Function<Blueprint.Right, String> part)
            throws SQLException {
        return patient.connection()
                .createArrayOf("text", rights.stream().map(part).toArray());
    }
}
