package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does by hand to a queue, whichever it is. A queue adds commands of its own. */
@Command(
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            ListCommand.class,
            FailedCommand.class,
            RequeueCommand.class,
            PurgeCommand.class,
            CancelCommand.class,
            RescheduleCommand.class,
            EraseCommand.class,
            PauseCommand.class,
            ResumeCommand.class,
            PausedCommand.class,
            LimitCommand.class,
            LimitsCommand.class,
            ActionsCommand.class
        })
abstract class QueueCommand extends CommandGroup implements OfQueue {}
