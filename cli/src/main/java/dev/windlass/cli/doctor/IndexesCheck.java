package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** Whether all indexes are there and can be used: without one of them a claim may read a whole table. */
final class IndexesCheck implements Check {
    private static final String SQL = """
            select c.relname, i.indisvalid and i.indisready
              from pg_index i
              join pg_class c on c.oid = i.indexrelid
              join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = ?""";

    @Override
    public String name() {
        return "indexes";
    }

    @Override
    public boolean needsTables() {
        return true;
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        Map<String, Boolean> there = new HashMap<>();
        patient.list(SQL, row -> there.put(row.getString(1), row.getBoolean(2)), patient.schema());
        Map<String, String> expected = Blueprint.of(patient).indexes();
        expected.forEach((name, statement) -> {
            if (!there.containsKey(name)) {
                findings.problem(
                        "index " + name + " is missing",
                        "Create it as the owner of the schema: "
                                + statement.replaceFirst(" index ", " index concurrently "));
            }
        });
        there.forEach((name, valid) -> {
            if (!valid) {
                findings.problem(
                        "index " + name + " is not valid, and is not used",
                        "Make it anew as the owner of the schema: reindex index concurrently " + patient.quoted(name)
                                + ";");
            }
        });
        findings.okIfNothingElse("all %d are there and valid".formatted(expected.size()));
    }
}
