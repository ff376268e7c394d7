package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to messages of the outbox. */
@Command(
        name = "outbox",
        description = "Look at messages, cancel and move them; requeue and purge those that failed; pause topics.",
        subcommands = {OutboxShowCommand.class, SkipCommand.class})
final class OutboxCommand extends QueueCommand {

    @Override
    public OutboxQueue queue() {
        return new OutboxQueue();
    }
}
