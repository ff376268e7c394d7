package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to runs of jobs. */
@Command(
        name = "runs",
        description = "Look at runs of jobs, cancel and move them; requeue and purge those that failed.",
        subcommands = RunsShowCommand.class)
final class RunsCommand extends QueueCommand {

    @Override
    public RunQueue queue() {
        return new RunQueue();
    }
}
