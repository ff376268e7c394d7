package dev.windlass.cli.doctor;

import dev.windlass.internal.schema.Component;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Whether the tables are there, and in the version that this program brings. */
final class SchemaCheck implements Check {

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

    /** A program may use one feature alone, so what is not there is no problem. */
    private static String missing(Patient patient, List<Component> installed) {
        String missing = patient.expected().stream()
                .filter(component -> !installed.contains(component))
                .map(Component::name)
                .collect(Collectors.joining(", "));
        return missing.isEmpty() ? "" : "; not there: " + missing;
    }
}
