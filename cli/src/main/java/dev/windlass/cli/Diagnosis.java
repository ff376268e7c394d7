package dev.windlass.cli;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Asks the routines for diagnostics, and prints their rows. They need few rights, so no library is started for them. */
abstract class Diagnosis implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private SchemaOptions schema = new SchemaOptions();

    @Option(names = "--json", description = "Print one JSON object per line.")
    private boolean json;

    /** Reads the rows of all queues. */
    abstract List<Row> read(Look look) throws SQLException;

    abstract void print(List<Row> rows, Paper page);

    /** What is said when there are no rows. */
    abstract String none();

    @Override
    public final Integer call() {
        WindlassCommand root = WindlassCommand.above(spec);
        Target target = database.required(spec, root.environment());
        List<Row> rows = rows(target);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            rows.forEach(row -> out.println(row.json()));
        } else if (rows.isEmpty()) {
            out.println(none());
        } else {
            print(rows, root.page());
        }
        out.flush();
        return 0;
    }

    private List<Row> rows(Target target) {
        try (Connection connection = target.connect()) {
            schema.fillIn(InstalledTables.read(connection, schema), spec);
            InstalledComponents installed = InstalledComponents.read(connection, schema);
            if (installed.all().isEmpty()) {
                schema.on(target.dataSource()).migrator().check(); // says what is missing
            }
            return read(new Look(connection, schema, installed, this::remark));
        } catch (SQLException e) {
            throw CommandFailure.of("look at schema \"" + schema.schema + "\" on " + target, e);
        }
    }

    /** Beside what is printed, so that programs can read that. */
    private void remark(String notice) {
        spec.commandLine().getErr().println("windlass: " + Printable.line(notice));
    }

    /** A look at one database. */
    record Look(Connection connection, SchemaOptions schema, InstalledComponents installed, Consumer<String> notices) {

        /**
         * Calls a routine of each queue.
         *
         * @param routine its name, without that of the queue
         */
        List<Row> ofQueues(String routine, Object... arguments) throws SQLException {
            List<Row> rows = new ArrayList<>();
            for (QueueTable queue : QueueTable.of(installed, schema)) {
                rows.addAll(ofTable(queue.word(), queue.table() + routine, arguments));
            }
            return rows;
        }

        /**
         * @param of what the rows are about, for their first column
         */
        List<Row> ofTable(String of, String routine, Object... arguments) throws SQLException {
            return Row.list(connection, "queue", of, notices, schema.qualifiedName(routine), arguments);
        }

        boolean has(String component, String table) {
            return installed.has(component, table);
        }
    }
}
