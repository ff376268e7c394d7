package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to messages of the inbox. */
@Command(
        name = "inbox",
        description =
                "Look at messages that arrived, cancel and move them; requeue and purge those that failed; pause topics.",
        subcommands = {InboxShowCommand.class, InboxStuckCommand.class})
final class InboxCommand extends QueueCommand {

    @Override
    public InboxQueue queue() {
        return new InboxQueue();
    }
}
