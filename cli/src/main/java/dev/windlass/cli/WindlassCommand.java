package dev.windlass.cli;

import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** What stands before the first word: help, version, and the options every command has. */
@Command(
        name = "windlass",
        description = "Reliable background work on the database you already have.",
        synopsisSubcommandLabel = "COMMAND",
        versionProvider = Version.class,
        subcommands = {
            ServeCommand.class,
            MigrateCommand.class,
            StatusCommand.class,
            DoctorCommand.class,
            DiagnoseCommand.class,
            StoresCommand.class,
            OutboxCommand.class,
            InboxCommand.class,
            WorkCommand.class,
            JoinsCommand.class,
            LeasesCommand.class,
            TimersCommand.class,
            JobsCommand.class,
            RunsCommand.class,
            BenchCommand.class,
            HelpCommand.class
        },
        footer = {"", "Each command has its own --help. Start with: windlass serve --demo"})
final class WindlassCommand implements Runnable {
    private final Map<String, String> environment;
    private final Terminal terminal;
    private boolean verbose;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--version", versionHelp = true, description = "Show the version and exit.")
    @SuppressWarnings("unused")
    private boolean version;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help and exit.")
    @SuppressWarnings("unused")
    private boolean help;

    WindlassCommand(Map<String, String> environment, Terminal terminal) {
        this.environment = Map.copyOf(environment);
        this.terminal = terminal;
    }

    @Option(
            names = {"-v", "--verbose"},
            fallbackValue = "true", // said beside the variable, it must not take it back
            scope = ScopeType.INHERIT,
            description = "Log more, and show stack traces.")
    void verbose(boolean verbose) {
        this.verbose = verbose;
        if (verbose) {
            Logging.beVerbose();
        }
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "expected a command, got none");
    }

    /** The one above a command, however deep that is. */
    static WindlassCommand above(CommandSpec command) {
        return (WindlassCommand) command.root().userObject();
    }

    boolean isVerbose() {
        return verbose;
    }

    Map<String, String> environment() {
        return environment;
    }

    Paper page() {
        return Paper.of(spec.commandLine().getOut(), environment, terminal);
    }

    Terminal terminal() {
        return terminal;
    }
}
