package dev.windlass.cli;

import dev.windlass.internal.schema.Component;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Which components of Windlass a schema has, and in which versions. */
record InstalledComponents(List<Installed> all) {
    private static final String SQL = """
            select distinct on (v.component, v.table_name) v.component, v.table_name, v.version, v.min_compatible
              from %s v
             order by v.component, v.table_name, v.version desc""";

    /**
     * @param minCompatible the version of the oldest program that can use it
     */
    record Installed(String component, String table, int version, int minCompatible) {
        @Override
        public String toString() {
            return component
                    + (component.equals(table) || component.equals("schedule") ? " " : " (" + table + ") ")
                    + version;
        }
    }

    static InstalledComponents none() {
        return new InstalledComponents(List.of());
    }

    static InstalledComponents read(Connection connection, SchemaOptions schema) throws SQLException {
        String versions = schema.qualifiedName("windlass_version");
        if (!InstalledTables.exists(connection, versions)) {
            return none();
        }
        List<Installed> all = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(SQL.formatted(versions));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                all.add(new Installed(row.getString(1), row.getString(2), row.getInt(3), row.getInt(4)));
            }
        }
        return new InstalledComponents(all);
    }

    boolean has(String component, String table) {
        return all.stream().anyMatch(found -> found.component.equals(component) && found.table.equals(table));
    }

    StoreCondition condition(SchemaOptions schema) {
        if (all.isEmpty()) {
            return StoreCondition.NO_TABLES;
        }
        if (expected(schema).anyMatch(component -> isTooNew(component))) {
            return StoreCondition.TOO_NEW;
        }
        return pending(schema).isEmpty() ? StoreCondition.UP_TO_DATE : StoreCondition.TO_MIGRATE;
    }

    private boolean isTooNew(Component component) {
        return find(component)
                .filter(found -> found.minCompatible > component.version())
                .isPresent();
    }

    /** What a migration would create or upgrade. */
    List<String> pending(SchemaOptions schema) {
        return expected(schema)
                .filter(component -> find(component).map(Installed::version).orElse(0) < component.version())
                .map(Component::name)
                .sorted()
                .toList();
    }

    /** All that this program brings along. */
    static Stream<Component> expected(SchemaOptions schema) {
        return Stream.of(
                Component.common(),
                Component.outbox(schema.table),
                Component.schedule(schema.table),
                Component.inbox(schema.inboxTable),
                Component.work(schema.workTable),
                Component.lease(schema.leaseTable));
    }

    private Optional<Installed> find(Component component) {
        return all.stream()
                .filter(found -> found.component.equals(component.name()) && found.table.equals(component.tableName()))
                .findFirst();
    }

    @Override
    public String toString() {
        return all.stream().map(Installed::toString).collect(Collectors.joining(", "));
    }
}
