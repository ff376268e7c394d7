package dev.windlass.cli;

import dev.windlass.base.WindlassException;
import dev.windlass.schema.Migrator;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Brings a schema up to date, or prints the SQL for those who run it by other means. */
@Command(name = "migrate", description = "Create or upgrade Windlass's tables and routines in a database.")
final class MigrateCommand implements Callable<Integer> {
    private static final String IN_ONE_TRANSACTION =
            "-- Run this in one transaction, for example with: psql --single-transaction -v ON_ERROR_STOP=1 -f FILE\n";

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private WindlassCommand root;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private SchemaOptions schema = new SchemaOptions();

    @Option(names = "--dry-run", description = "Print the SQL that would run now, and change nothing.")
    private boolean dryRun;

    @Option(names = "--full", description = "Print the whole SQL for an empty database; needs no database.")
    private boolean full;

    @Option(
            names = "--grant-to",
            paramLabel = "ROLE",
            description = "Also give this role what a program needs to run Windlass, and no more.")
    private @Nullable String role;

    @Option(
            names = "--grant-read-to",
            paramLabel = "ROLE",
            description =
                    "Also let this role look, as a monitor does: it changes nothing, and sees no payloads and headers.")
    private @Nullable String reader;

    @Override
    public Integer call() throws SQLException {
        PrintWriter out = spec.commandLine().getOut();
        if (full) {
            refuseADatabase();
            Migrator migrator = schema.on(new PGSimpleDataSource()).migrator();
            out.print(IN_ONE_TRANSACTION + migrator.fullSql() + grants(migrator));
        } else {
            Target target = database.required(spec, root.environment());
            Migrator migrator = schema.on(target.dataSource()).migrator();
            String grants = grants(migrator);
            target.check();
            try {
                work(out, target, migrator, grants);
            } catch (WindlassException e) {
                throw CommandFailure.ofMigration(e, target);
            }
        }
        out.flush();
        return 0;
    }

    /** It would not be looked at, and nobody would notice. */
    private void refuseADatabase() {
        if (database.hasUrlOption() || database.hasLoginOption()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "expected --full without --url, --user and --password, got one of them; the SQL for an empty database"
                            + " needs none, and --dry-run prints what a database still lacks");
        }
    }

    private void work(PrintWriter out, Target target, Migrator migrator, String grants) throws SQLException {
        if (dryRun) {
            out.print(dryRun(migrator.pendingSql(), grants));
        } else {
            migrate(out, target, migrator);
            grant(out, target, grants);
        }
    }

    private String grants(Migrator migrator) {
        return grants("--grant-to", role, migrator::grants) + grants("--grant-read-to", reader, migrator::readGrants);
    }

    private String grants(String option, @Nullable String name, UnaryOperator<String> script) {
        if (name == null) {
            return "";
        }
        try {
            return "\n" + script.apply(name);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    spec.commandLine(), "Invalid value for option '" + option + "': " + e.getMessage(), e);
        }
    }

    private String dryRun(String pending, String grants) {
        return pending.isEmpty()
                ? "-- Schema \"" + schema.schema + "\" is up to date.\n" + grants
                : IN_ONE_TRANSACTION + pending + grants;
    }

    private void migrate(PrintWriter out, Target target, Migrator migrator) throws SQLException {
        boolean pending = !migrator.pendingSql().isEmpty();
        migrator.migrate();
        try (Connection connection = target.connect()) {
            out.printf(
                    "schema \"%s\" on %s %s: %s%n",
                    schema.schema,
                    target,
                    pending ? "has been brought up to date" : "was up to date already",
                    String.join(", ", versions(connection)));
        }
    }

    private List<String> versions(Connection connection) throws SQLException {
        String sql = """
                select table_name, max(version)
                  from %s
                 group by table_name
                 order by table_name""".formatted(schema.qualifiedName("windlass_version"));
        List<String> versions = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                versions.add("table " + row.getString(1) + " at version " + row.getInt(2));
            }
        }
        return versions;
    }

    private void grant(PrintWriter out, Target target, String grants) {
        if (grants.isEmpty()) {
            return;
        }
        try (Connection connection = target.connect();
                Statement statement = connection.createStatement()) {
            // Several statements in one message are one transaction.
            statement.execute(grants);
            say(out, role, "run Windlass");
            say(out, reader, "look at Windlass");
        } catch (SQLException e) {
            out.flush();
            throw CommandFailure.of(
                    "grant rights to "
                            + Stream.of(role, reader)
                                    .filter(Objects::nonNull)
                                    .map(name -> "role \"" + name + "\"")
                                    .collect(Collectors.joining(" and ")),
                    e);
        }
    }

    private static void say(PrintWriter out, @Nullable String name, String what) {
        if (name != null) {
            out.printf("role \"%s\" may %s there%n", name, what);
        }
    }
}
