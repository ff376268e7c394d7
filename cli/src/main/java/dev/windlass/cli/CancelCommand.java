package dev.windlass.cli;

import picocli.CommandLine.Command;

/** Ends what nobody handles yet. */
@Command(name = "cancel", description = "Cancel ${bundle:queue.nouns} that nobody has claimed yet.")
final class CancelCommand extends UnclaimedChange {

    @Override
    <I> Change<I> change(WorkQueue<I, ?> queue, OutboxSession session) {
        return (connection, name) -> queue.cancel(session.windlass(), connection, name);
    }

    @Override
    String participle() {
        return "cancelled";
    }
}
