package dev.windlass.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What can be seen of leases. */
@Command(
        name = "leases",
        description = "Look who holds which lease.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = LeasesListCommand.class)
final class LeasesCommand implements Runnable {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "expected one of " + String.join(", ", spec.subcommands().keySet()) + ", got none");
    }
}
