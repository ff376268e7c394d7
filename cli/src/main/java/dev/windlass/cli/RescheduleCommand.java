package dev.windlass.cli;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Moves the due time of what nobody handles yet. */
@Command(name = "reschedule", description = "Give ${bundle:queue.nouns} that nobody has claimed yet another due time.")
final class RescheduleCommand extends UnclaimedChange {

    @Mixin
    private DueOption due = new DueOption();

    private @Nullable Instant time;

    @Override
    void check(OutboxAccess access) {
        due.requireOne(access);
    }

    @Override
    <I> Change<I> change(WorkQueue<I, ?> queue, OutboxSession session) {
        Instant chosen = due.time(session);
        time = chosen;
        return (connection, name) -> queue.reschedule(session.windlass(), connection, name, chosen);
    }

    @Override
    String participle() {
        return "rescheduled";
    }

    @Override
    String misfits(WorkQueue<?, ?> queue) {
        return queue.claimed();
    }

    @Override
    void done(OutboxSession session) {
        session.out().println("due at " + time);
    }
}
