package dev.windlass.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What an operator does by hand: dead letters, single messages, pauses. */
@Command(
        name = "outbox",
        description = "Look at messages and dead letters, requeue and purge them, pause topics.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
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
final class OutboxCommand implements Runnable {

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
