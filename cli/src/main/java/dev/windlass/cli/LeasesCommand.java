package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What can be seen of leases. */
@Command(
        name = "leases",
        description = "Look who holds which lease.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = LeasesListCommand.class)
final class LeasesCommand extends CommandGroup {}
