package dev.windlass.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What an operator does to an inbox by hand. */
@Command(
        name = "inbox",
        description = "Look at messages that arrived, revive and purge dead ones.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            InboxDeadCommand.class,
            InboxStuckCommand.class,
            InboxShowCommand.class,
            InboxReviveCommand.class,
            InboxPurgeCommand.class
        })
final class InboxCommand implements Runnable {

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
