package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does by hand: dead letters, single messages, pauses. */
@Command(
        name = "outbox",
        description = "Look at messages and dead letters, requeue and purge them, pause topics.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            ListCommand.class,
            DeadCommand.class,
            ShowCommand.class,
            RequeueCommand.class,
            PurgeCommand.class,
            SkipCommand.class,
            CancelCommand.class,
            RescheduleCommand.class,
            EraseCommand.class,
            PauseCommand.class,
            ResumeCommand.class,
            PausedCommand.class,
            ActionsCommand.class
        })
final class OutboxCommand extends CommandGroup {}
