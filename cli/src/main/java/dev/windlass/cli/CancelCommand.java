package dev.windlass.cli;

import picocli.CommandLine.Command;

/** Ends what nobody handles yet; in the work queue also what somebody does. */
@Command(name = "cancel", description = "Cancel ${bundle:queue.nouns} that ${bundle:queue.cancelled}.")
final class CancelCommand extends UnclaimedChange {
    private int stopping;

    @Override
    <I> Change<I> change(WorkQueue<I, ?> queue, OutboxSession session) {
        return (connection, name) -> {
            boolean cancelled = queue.cancel(session.windlass(), connection, name);
            stopping += cancelled && queue.isStopping(session.windlass(), name) ? 1 : 0;
            return cancelled;
        };
    }

    @Override
    String participle() {
        return "cancelled";
    }

    @Override
    String misfits(WorkQueue<?, ?> queue) {
        return queue.notCancelled();
    }

    @Override
    void done(OutboxSession session) {
        if (stopping > 0) {
            session.out()
                    .println(
                            stopping == 1
                                    ? "1 is in progress: its handler was asked to stop, and it is cancelled once that has"
                                    : "%,d are in progress: their handlers were asked to stop, and each is cancelled once its has"
                                            .formatted(stopping));
        }
    }
}
