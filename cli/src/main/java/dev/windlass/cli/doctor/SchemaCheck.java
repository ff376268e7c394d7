package dev.windlass.cli.doctor;

import dev.windlass.internal.schema.Component;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Whether the tables are there, and in the version that this program brings. */
final class SchemaCheck implements Check {

    private static final String PARTS = """
            select case when c.relkind = 'v' then 'view' when c.relkind = 'S' then 'sequence' else 'table' end || ' ' || c.relname
              from pg_class c
              join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = ? and c.relkind in ('r', 'p', 'v', 'S')""";

    private record Version(int version, int minCompatible) {}

    @Override
    public String name() {
        return "schema";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        List<Component> installed = patient.installed();
        if (installed.isEmpty()) {
            findings.problem(
                    "there are no tables of Windlass in schema \"" + patient.schema() + "\"",
                    "Run 'windlass migrate' as a user who may create them, or correct --schema.");
            return;
        }
        Map<String, Version> versions = versions(patient);
        for (Component component : installed) {
            compare(component, versions.get(component.name() + " " + component.tableName()), findings);
        }
        if (findings.all().isEmpty()) {
            missingParts(patient, findings);
        }
        findings.okIfNothingElse(installed.stream()
                .map(component -> component.name() + " " + component.version())
                .collect(Collectors.joining(", ", "up to date: ", missing(patient, installed))));
    }

    private static Map<String, Version> versions(Patient patient) throws SQLException {
        Map<String, Version> versions = new TreeMap<>();
        patient.list(
                "select component, table_name, version, min_compatible from %s order by version"
                        .formatted(patient.quoted("windlass_version")),
                row -> versions.put(
                        row.getString(1) + " " + row.getString(2), new Version(row.getInt(3), row.getInt(4))));
        return versions;
    }

    private static void compare(Component component, @Nullable Version found, Findings findings) {
        String table = component.name() + " (" + component.tableName() + ")";
        if (found == null || found.version < component.version()) {
            findings.problem(
                    "%s is at version %s, this program brings %d"
                            .formatted(table, found == null ? "none" : found.version, component.version()),
                    "Run 'windlass migrate' as the owner of the schema.");
        } else if (found.minCompatible > component.version()) {
            findings.problem(
                    "%s is at version %d, which needs a program of version %d, this one has %d"
                            .formatted(table, found.version, found.minCompatible, component.version()),
                    "Use a newer windlass.jar.");
        }
    }

    /** Somebody may have dropped one, with all that needs it, or restored only some of them. */
    private static void missingParts(Patient patient, Findings findings) throws SQLException {
        Set<String> there = new HashSet<>(patient.list(PARTS, row -> row.getString(1), patient.schema()));
        String missing = Blueprint.of(patient).relations().entrySet().stream()
                .map(relation -> relation.getValue() + " " + relation.getKey())
                .filter(part -> !there.contains(part))
                .collect(Collectors.joining(", "));
        if (!missing.isEmpty()) {
            findings.problem(
                    "missing: " + missing,
                    "Create them as the owner of the schema: 'windlass migrate --full' prints the statements. First run those of what"
                            + " is missing, in the order in which they stand there; then all that begin with 'create or replace"
                            + " function'; then give the rights again, with 'windlass migrate --grant-to USER'.");
        }
    }

    /** A program may use one feature alone, so what is not there is no problem. */
    private static String missing(Patient patient, List<Component> installed) {
        String missing = patient.expected().stream()
                .filter(component -> !installed.contains(component))
                .map(Component::name)
                .collect(Collectors.joining(", "));
        return missing.isEmpty() ? "" : "; not there: " + missing;
    }
}
