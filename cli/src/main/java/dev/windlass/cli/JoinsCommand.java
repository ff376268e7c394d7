package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to joins. */
@Command(
        name = "joins",
        description = "Look at joins and their steps, and cancel them.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {JoinsListCommand.class, JoinsShowCommand.class, JoinsCancelCommand.class})
final class JoinsCommand extends CommandGroup {}
