package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to an inbox by hand. */
@Command(
        name = "inbox",
        description = "Look at messages that arrived, requeue and purge those that failed.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            InboxListCommand.class,
            InboxStuckCommand.class,
            InboxShowCommand.class,
            InboxRequeueCommand.class,
            InboxPurgeCommand.class
        })
final class InboxCommand extends CommandGroup {}
