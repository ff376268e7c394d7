package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator of many databases does to all of them. */
@Command(
        name = "stores",
        description = "Look at many databases or schemas at once, and migrate them.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {StoresListCommand.class, StoresStatusCommand.class, StoresMigrateCommand.class})
final class StoresCommand extends CommandGroup {}
