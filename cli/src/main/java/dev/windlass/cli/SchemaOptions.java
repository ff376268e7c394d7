package dev.windlass.cli;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WindlassOptions;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.work.WorkOptions;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Where in the database Windlass lives. */
final class SchemaOptions {

    @Option(
            names = "--schema",
            paramLabel = "SCHEMA",
            defaultValue = "windlass",
            converter = SchemaName.class,
            description = "Database schema (default: ${DEFAULT-VALUE}).")
    String schema = "windlass";

    @Option(
            names = "--table",
            paramLabel = "TABLE",
            defaultValue = "outbox",
            converter = TableName.class,
            description = "Table of the outbox (default: ${DEFAULT-VALUE}).")
    String table = "outbox";

    @Option(
            names = "--lease-table",
            paramLabel = "TABLE",
            defaultValue = "lease",
            converter = LeaseTableName.class,
            description = "Table of the leases (default: ${DEFAULT-VALUE}).")
    String leaseTable = "lease";

    @Option(
            names = "--inbox-table",
            paramLabel = "TABLE",
            defaultValue = "inbox",
            converter = InboxTableName.class,
            description = "Table of the inbox (default: ${DEFAULT-VALUE}).")
    String inboxTable = "inbox";

    @Option(
            names = "--work-table",
            paramLabel = "TABLE",
            defaultValue = "work",
            converter = WorkTableName.class,
            description = "Table of the work queue (default: ${DEFAULT-VALUE}).")
    String workTable = "work";

    /** The same tables in another schema. */
    SchemaOptions in(String otherSchema) {
        SchemaOptions other = new SchemaOptions();
        other.schema = otherSchema;
        other.table = table;
        other.leaseTable = leaseTable;
        other.inboxTable = inboxTable;
        other.workTable = workTable;
        return other;
    }

    WindlassBuilder on(DataSource dataSource) {
        return describe(Windlass.on(dataSource));
    }

    WindlassBuilder describe(WindlassBuilder windlass) {
        return windlass.options(WindlassOptions.defaults().withSchemaName(schema))
                .outbox(OutboxOptions.defaults().withTableName(table))
                .leases(LeaseOptions.defaults().withTableName(leaseTable))
                .inbox(InboxOptions.defaults().withTableName(inboxTable))
                .work(WorkOptions.defaults().withTableName(workTable));
    }

    /**
     * For commands that look and change by hand, and handle nothing. Whether a run becomes a message is left to the nodes: there
     * are set-ups in which none does.
     */
    WindlassBuilder passive(DataSource dataSource) {
        return on(dataSource)
                .schedule(ScheduleOptions.defaults().withHandOff(false))
                .options(WindlassOptions.defaults().withSchemaName(schema).withBackgroundWorkers(false));
    }

    /** Fills in the names of tables that a command has no option for. */
    void fillIn(InstalledTables installed, CommandSpec command) {
        table = command.findOption("--table") == null ? installed.table("outbox", table) : table;
        inboxTable = command.findOption("--inbox-table") == null ? installed.table("inbox", inboxTable) : inboxTable;
        leaseTable = command.findOption("--lease-table") == null ? installed.table("lease", leaseTable) : leaseTable;
        workTable = command.findOption("--work-table") == null ? installed.table("work", workTable) : workTable;
    }

    /** The options that lead here again, as far as they are not the defaults. */
    List<String> words(CommandSpec command) {
        List<String> words = new ArrayList<>();
        add(words, command, "--schema", "windlass", schema);
        add(words, command, "--table", "outbox", table);
        add(words, command, "--lease-table", "lease", leaseTable);
        add(words, command, "--inbox-table", "inbox", inboxTable);
        add(words, command, "--work-table", "work", workTable);
        return words;
    }

    private static void add(List<String> words, CommandSpec command, String option, String usual, String value) {
        if (!value.equals(usual) && command.findOption(option) != null) {
            words.addAll(List.of(option, value));
        }
    }

    /** The table (or a routine named after it), quoted for SQL. */
    String qualified(String suffix) {
        return quoted(schema) + "." + quoted(table + suffix);
    }

    String qualifiedName(String name) {
        return quoted(schema) + "." + quoted(name);
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    /** Windlass itself knows which names it can use; asked here, so that a bad one is wrong use of the option. */
    private static final class SchemaName implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> WindlassOptions.defaults().withSchemaName(value), value);
        }
    }

    private static final class LeaseTableName implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> LeaseOptions.defaults().withTableName(value), value);
        }
    }

    private static final class InboxTableName implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> InboxOptions.defaults().withTableName(value), value);
        }
    }

    private static final class WorkTableName implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> WorkOptions.defaults().withTableName(value), value);
        }
    }

    private static final class TableName implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> OutboxOptions.defaults().withTableName(value), value);
        }
    }
}
