package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to timers by hand. */
@Command(
        name = "timers",
        description = "Look at timers that are not due yet, cancel and move them; requeue and purge those that failed.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            TimersListCommand.class,
            TimersShowCommand.class,
            TimersCancelCommand.class,
            TimersRescheduleCommand.class,
            TimersRequeueCommand.class,
            TimersPurgeCommand.class
        })
final class TimersCommand extends CommandGroup {}
