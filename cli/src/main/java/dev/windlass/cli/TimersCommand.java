package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to timers by hand. */
@Command(
        name = "timers",
        description = "Look at timers that are not due yet, cancel and move them.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            TimersListCommand.class,
            TimersShowCommand.class,
            TimersCancelCommand.class,
            TimersRescheduleCommand.class
        })
final class TimersCommand extends CommandGroup {}
