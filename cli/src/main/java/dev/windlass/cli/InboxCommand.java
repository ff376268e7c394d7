package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to an inbox by hand. */
@Command(
        name = "inbox",
        description = "Look at messages that arrived, revive and purge dead ones.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            InboxListCommand.class,
            InboxDeadCommand.class,
            InboxStuckCommand.class,
            InboxShowCommand.class,
            InboxReviveCommand.class,
            InboxPurgeCommand.class
        })
final class InboxCommand extends CommandGroup {}
