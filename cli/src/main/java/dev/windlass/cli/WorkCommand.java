package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to items of the work queue. */
@Command(
        name = "queue",
        description =
                "Look at items of the work queue, cancel and move them; requeue and purge those that failed; pause and limit queues.",
        subcommands = WorkShowCommand.class)
final class WorkCommand extends QueueCommand {

    @Override
    public WorkItemQueue queue() {
        return new WorkItemQueue();
    }
}
