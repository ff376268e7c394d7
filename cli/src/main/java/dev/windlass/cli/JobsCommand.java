package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to jobs by hand. */
@Command(
        name = "jobs",
        description = "Look at jobs and their runs, trigger, pause and delete them.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            JobsListCommand.class,
            JobsShowCommand.class,
            JobsRunsCommand.class,
            JobsTriggerCommand.class,
            JobsPauseCommand.class,
            JobsResumeCommand.class,
            JobsDeleteCommand.class
        })
final class JobsCommand extends CommandGroup {}
