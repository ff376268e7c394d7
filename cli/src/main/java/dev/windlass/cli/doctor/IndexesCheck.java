package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Whether all indexes are there and can be used: without one of them a claim may read a whole table. */
final class IndexesCheck implements Check {
    private static final String SQL = """
            select c.relname, i.indisvalid and i.indisready, pg_get_indexdef(c.oid)
              from pg_index i
              join pg_class c on c.oid = i.indexrelid
              join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = ?""";

    private record Index(boolean isUsable, String definition) {}

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
        Map<String, Index> there = new TreeMap<>();
        patient.list(
                SQL,
                row -> there.put(row.getString(1), new Index(row.getBoolean(2), row.getString(3))),
                patient.schema());
        Map<String, String> expected = Blueprint.of(patient).indexes();
        expected.forEach((name, statement) -> {
            Index found = there.get(name);
            String create = statement.replaceFirst(" index ", " index concurrently ");
            if (found == null) {
                findings.problem("index " + name + " is missing", "Create it as the owner of the schema: " + create);
            } else if (!canonical(found.definition).equals(canonical(statement))) {
                findings.problem(
                        "index " + name + " is another one than is needed: " + found.definition,
                        "Make it anew as the owner of the schema: drop index concurrently " + patient.quoted(name)
                                + "; " + create);
            }
        });
        there.forEach((name, index) -> {
            if (!index.isUsable) {
                findings.problem(
                        "index " + name + " is not valid, and is not used",
                        "Make it anew as the owner of the schema: reindex index concurrently " + patient.quoted(name)
                                + ";");
            }
        });
        findings.okIfNothingElse("all %d are there and valid".formatted(expected.size()));
    }

    /** The server writes a statement in other words: with casts, more parentheses, and fewer quotation marks. What it is stored with is free. */
    private static String canonical(String statement) {
        return statement
                .toLowerCase(Locale.ROOT)
                .replace(" using btree ", "")
                .replaceAll(" with \\([^)]*\\)", "")
                .replaceAll("::[\\w.\"]+( varying)?(\\(\\d+\\))?(\\[])?", "")
                .replaceAll("= any \\(+array\\[([^]]*)]", "in $1")
                .replaceAll("[\\s()\";]", "");
    }
}
