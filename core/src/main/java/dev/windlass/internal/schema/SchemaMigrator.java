package dev.windlass.internal.schema;

import dev.windlass.base.WindlassException;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.PoolTimeout;
import dev.windlass.internal.support.Require;
import dev.windlass.schema.Migrator;
import dev.windlass.schema.SchemaException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Renders the files of the components that are newer than the database, and runs them in one transaction. */
public final class SchemaMigrator implements Migrator {
    private static final Logger log = LoggerFactory.getLogger(SchemaMigrator.class);
    /** While a migration waits for a table, all others wait behind it: better to let them pass, and to try again. */
    private static final Duration LOCK_PATIENCE = Duration.ofSeconds(3);

    private static final int LOCK_TRIES = 20;

    private static final String VERSION_TABLE = "windlass_version";

    private final Database database;
    private final List<Component> components;
    private final Template template;
    private volatile @Nullable List<String> routines;

    public SchemaMigrator(Database database, List<Component> components) {
        this.database = database;
        this.components = Stream.concat(Stream.of(Component.common()), components.stream())
                .toList();
        this.template = new Template(database.dialect(), database.schema());
    }

    @Override
    public void migrate() {
        for (int tries = 1; ; tries++) {
            try {
                database.alone("migrate schema " + database.schema(), this::migrateLocked);
                return;
            } catch (WindlassException e) {
                if (tries == LOCK_TRIES || !isHeldUp(e)) {
                    throw e;
                }
                log.info("[{}] others use the tables of schema {}; trying again", database.name(), database.schema());
            }
        }
    }

    private boolean isHeldUp(WindlassException e) {
        return e.getCause() instanceof SQLException cause
                && database.dialect().isTransient(cause)
                && !database.dialect().isOutage(cause)
                && !PoolTimeout.is(cause);
    }

    private boolean migrateLocked(Connection connection) throws SQLException {
        boolean autoCommit = connection.getAutoCommit();
        connection.setAutoCommit(false);
        try {
            database.dialect().lockForMigration(connection, database.schema());
            database.dialect().limitLockWaits(connection, LOCK_PATIENCE);
            execute(connection, pendingSql(connection));
            connection.commit();
        } catch (SQLException | RuntimeException e) {
            database.undo(connection, autoCommit, e);
            throw e;
        }
        connection.setAutoCommit(autoCommit);
        return true;
    }

    private void execute(Connection connection, String sql) throws SQLException {
        if (sql.isEmpty()) {
            return;
        }
        log.info("[{}] migrating schema {} to {}", database.name(), database.schema(), versions());
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            statement.execute(sql);
        }
    }

    @Override
    public String pendingSql() {
        return database.alone("read the version of schema " + database.schema(), this::pendingSql);
    }

    private String pendingSql(Connection connection) throws SQLException {
        checkServer(connection);
        boolean fresh = !database.dialect().tableExists(connection, database.schema(), VERSION_TABLE);
        StringBuilder sql = new StringBuilder();
        for (Component component : components) {
            int from = fresh
                    ? 0
                    : installed(connection, component).map(Installed::version).orElse(0);
            sql.append(upgrade(component, from));
        }
        return sql.toString();
    }

    @Override
    public String fullSql() {
        return upgradeSql(0);
    }

    @Override
    public String upgradeSql(int from) {
        return components.stream().map(component -> upgrade(component, from)).collect(Collectors.joining());
    }

    @Override
    public String grants(String role) {
        Require.identifier("role", role);
        return components.stream()
                .map(component -> template.grants(component, role))
                .collect(Collectors.joining());
    }

    @Override
    public String readGrants(String role) {
        Require.identifier("role", role);
        return components.stream()
                .map(component -> template.reads(component, role))
                .collect(Collectors.joining());
    }

    private String upgrade(Component component, int from) {
        if (from >= component.version()) {
            return "";
        }
        return component.steps().stream()
                .filter(step -> step.version() > from)
                .map(step -> "\n" + template.render(step, component))
                .collect(Collectors.joining("", "", record(component)));
    }

    private String record(Component component) {
        return "\ninsert into %s.%s (table_name, component, version, min_compatible) values (%s, %s, %d, %d);\n"
                .formatted(
                        database.dialect().quote(database.schema()),
                        VERSION_TABLE,
                        database.dialect().literal(component.tableName()),
                        database.dialect().literal(component.name()),
                        component.version(),
                        component.minCompatible());
    }

    @Override
    public void check() throws SQLException {
        database.once(connection -> {
            checkServer(connection);
            if (!database.dialect().tableExists(connection, database.schema(), VERSION_TABLE)) {
                throw new SchemaException("[%s] expected Windlass's tables in schema \"%s\", found none; %s"
                        .formatted(database.name(), database.schema(), REMEDY));
            }
            for (Component component : components) {
                check(connection, component);
            }
            checkRoutines(connection);
            return true;
        });
    }

    /** Somebody may have dropped one, or restored only some of them. */
    private void checkRoutines(Connection connection) throws SQLException {
        List<String> missing = new ArrayList<>(routines());
        missing.removeAll(database.dialect().routines(connection, database.schema()));
        if (!missing.isEmpty()) {
            throw new SchemaException("[%s] expected all routines in schema \"%s\", missing: %s; %s"
                    .formatted(
                            database.name(),
                            database.schema(),
                            missing.stream().limit(MOST_NAMED).collect(Collectors.joining(", ")),
                            ROUTINES_REMEDY));
        }
    }

    /** The names of all routines, without the schema, read from the SQL that makes them. */
    public List<String> routines() {
        List<String> known = routines;
        if (known == null) {
            known = components.stream()
                    .flatMap(component -> template.routines(component).stream())
                    .map(SchemaMigrator::plain)
                    .distinct()
                    .toList();
            routines = known;
        }
        return known;
    }

    private static String plain(String name) {
        return name.startsWith("\"") ? name.substring(1, name.length() - 1).replace("\"\"", "\"") : name;
    }

    private void checkServer(Connection connection) throws SQLException {
        DatabaseMetaData server = connection.getMetaData();
        if (!database.dialect().supports(server)) {
            throw new SchemaException("[%s] expected %s, found %s %s; upgrade the server, or use another one"
                    .formatted(
                            database.name(),
                            database.dialect().servers(),
                            server.getDatabaseProductName(),
                            server.getDatabaseProductVersion()));
        }
    }

    private static final int MOST_NAMED = 5;

    /** What to do about routines that are missing. */
    public static final String ROUTINES_REMEDY =
            "create them as the owner of the schema: 'windlass migrate --full' prints the statements; views that are missing first, then"
                    + " what begins with 'create or replace function', which can be run again";

    private static final String REMEDY =
            "run 'windlass migrate', or set ensureSchema, or apply the SQL files that come with Windlass";

    private void check(Connection connection, Component component) throws SQLException {
        Installed installed = installed(connection, component)
                .orElseThrow(() -> new SchemaException("[%s] expected the table \"%s\".\"%s\", found none; %s"
                        .formatted(database.name(), database.schema(), component.tableName(), REMEDY)));
        if (installed.version() < component.version()) {
            throw new SchemaException("[%s] expected version %d of table \"%s\".\"%s\", found %d; %s"
                    .formatted(
                            database.name(),
                            component.version(),
                            database.schema(),
                            component.tableName(),
                            installed.version(),
                            REMEDY));
        }
        if (installed.minCompatible() > component.version()) {
            throw new SchemaException(
                    "[%s] version %d of table \"%s\".\"%s\" needs a program of schema version %d or newer, this one has %d; upgrade the program"
                            .formatted(
                                    database.name(),
                                    installed.version(),
                                    database.schema(),
                                    component.tableName(),
                                    installed.minCompatible(),
                                    component.version()));
        }
    }

    private record Installed(int version, int minCompatible) {}

    private Optional<Installed> installed(Connection connection, Component component) throws SQLException {
        String sql =
                "select version, min_compatible from %s.%s where table_name = ? and component = ? order by version desc"
                        .formatted(database.dialect().quote(database.schema()), VERSION_TABLE);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, component.tableName());
            statement.setString(2, component.name());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(new Installed(row.getInt(1), row.getInt(2))) : Optional.empty();
            }
        }
    }

    private String versions() {
        return components.stream()
                .map(component -> component.name() + " " + component.version())
                .collect(Collectors.joining(", "));
    }
}
