package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What an operator does to timers. */
@Command(
        name = "timers",
        description = "Look at timers that are not due yet, cancel and move them; requeue and purge those that failed.",
        subcommands = TimersShowCommand.class)
final class TimersCommand extends QueueCommand {

    @Override
    public TimerQueue queue() {
        return new TimerQueue();
    }
}
