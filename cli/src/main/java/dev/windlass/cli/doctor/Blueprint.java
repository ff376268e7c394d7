package dev.windlass.cli.doctor;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.schema.Component;
import dev.windlass.internal.schema.SchemaMigrator;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the schema of the installed components consists of, read from the SQL that makes it. */
final class Blueprint {
    private static final String NAME = "(\"(?:[^\"]|\"\")+\"|\\w+)";
    private static final Pattern INDEX = Pattern.compile("(?m)^create (?:unique )?index " + NAME + " on [^;]*;");
    private static final Pattern RELATION =
            Pattern.compile("(?m)^create (table|view|sequence) (?:" + NAME + "\\.)?" + NAME);
    private static final Pattern GRANT =
            Pattern.compile("(?m)^grant ([^;]*?)\\s+on (sequence |function |schema |)([^;]*?)\\s+to [^;]*;");
    private static final Pattern IN_SCHEMA = Pattern.compile(NAME + "\\." + NAME);

    private final Function<Component, SchemaMigrator> migrators;
    private final List<Component> components;

    private Blueprint(Function<Component, SchemaMigrator> migrators, List<Component> components) {
        this.migrators = migrators;
        this.components = components;
    }

    static Blueprint of(Patient patient) throws SQLException {
        Database database = new Database(patient.dataSource(), Patient.dialect(), patient.schema(), "doctor");
        return new Blueprint(
                component -> new SchemaMigrator(
                        database, component.name().equals("windlass") ? List.of() : List.of(component)),
                patient.installed());
    }

    List<String> routines() {
        return components.stream()
                .flatMap(component -> migrators.apply(component).routines().stream())
                .distinct()
                .toList();
    }

    /** Tables, views and sequences in the order in which they are made: what each is, by its name. */
    Map<String, String> relations() {
        return components.stream()
                .flatMap(component ->
                        RELATION.matcher(migrators.apply(component).fullSql()).results())
                .collect(Collectors.toMap(
                        match -> plain(match.group(3)),
                        match -> match.group(1),
                        (one, same) -> one,
                        LinkedHashMap::new));
    }

    /** The statement that makes each index, by the index's name. */
    Map<String, String> indexes() {
        return components.stream()
                .flatMap(component ->
                        INDEX.matcher(migrators.apply(component).fullSql()).results())
                .collect(Collectors.toMap(
                        match -> plain(match.group(1)),
                        match -> match.group().replaceAll("\\s+", " "),
                        (one, same) -> one,
                        LinkedHashMap::new));
    }

    /**
     * A right that a program needs.
     *
     * @param object what it is for: a table, a view, a sequence, a routine
     */
    record Right(String component, String kind, String right, String object) {}

    /** The rights that a program needs, each with the first component that needs it. */
    List<Right> rights() {
        Map<String, Right> rights = new LinkedHashMap<>();
        for (Component component : components) {
            GRANT.matcher(migrators.apply(component).grants("somebody"))
                    .results()
                    .filter(grant -> !grant.group(2).equals("schema "))
                    .flatMap(grant -> rights(component, grant))
                    .forEach(right -> rights.putIfAbsent(right.kind + right.right + " " + right.object, right));
        }
        return List.copyOf(rights.values());
    }

    private static Stream<Right> rights(Component component, MatchResult grant) {
        List<String> rights = List.of(grant.group(1).replaceAll("\\(.*?\\)", "").split("[\\s,]+", -1));
        return IN_SCHEMA
                .matcher(grant.group(3))
                .results()
                .flatMap(object -> rights.stream()
                        .filter(right -> !right.isEmpty())
                        .map(right -> right(component, grant, right, object)));
    }

    private static Right right(Component component, MatchResult grant, String right, MatchResult object) {
        return new Right(component.name(), grant.group(2).strip(), right, plain(object.group(2)));
    }

    private static String plain(String name) {
        return name.startsWith("\"") ? name.substring(1, name.length() - 1).replace("\"\"", "\"") : name;
    }
}
