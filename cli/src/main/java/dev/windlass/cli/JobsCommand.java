package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to jobs. What is done to them is recorded with their runs. */
@Command(
        name = "jobs",
        description = "Look at jobs and their history, trigger, pause and delete them.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            JobsListCommand.class,
            JobsShowCommand.class,
            JobsRunsCommand.class,
            JobsTriggerCommand.class,
            JobsPauseCommand.class,
            JobsResumeCommand.class,
            JobsDeleteCommand.class,
            ActionsCommand.class
        })
final class JobsCommand extends CommandGroup implements OfQueue {

    @Override
    public RunQueue queue() {
        return new RunQueue();
    }
}
