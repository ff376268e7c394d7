package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Whether all routines are there. */
final class RoutinesCheck implements Check {

    @Override
    public String name() {
        return "routines";
    }

    @Override
    public boolean needsTables() {
        return true;
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        Set<String> there = new HashSet<>(patient.list(
                "select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = ?",
                row -> row.getString(1),
                patient.schema()));
        List<String> missing = new ArrayList<>(Blueprint.of(patient).routines());
        int expected = missing.size();
        missing.removeAll(there);
        if (missing.isEmpty()) {
            findings.ok("all %d are there".formatted(expected));
        } else {
            findings.problem(
                    "missing: " + String.join(", ", missing),
                    "Create them as the owner of the schema, after the views that are missing, if any: 'windlass migrate --full' prints"
                            + " the statements, and what begins with 'create or replace function' can be run again.");
        }
    }
}
