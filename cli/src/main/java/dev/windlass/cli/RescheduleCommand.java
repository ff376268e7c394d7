package dev.windlass.cli;

import dev.windlass.outbox.OutboxMessageIdentifier;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Moves the due time of a message that nobody has claimed yet. */
@Command(name = "reschedule", description = "Give a message that nobody has claimed yet another due time.")
final class RescheduleCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", converter = MessageId.class, description = "The message.")
    @SuppressWarnings("NullAway.Init")
    private OutboxMessageIdentifier id;

    @Mixin
    private DueOption due = new DueOption();

    @Override
    public Integer call() throws Exception {
        due.requireOne(access);
        return access.with(this::reschedule);
    }

    private int reschedule(OutboxSession session) {
        Instant time = due.time(session);
        if (!session.outbox().reschedule(id, time)) {
            throw new CommandFailure("expected a message that nobody has claimed yet, but " + id.value()
                    + " is unknown, being handled, or has ended; 'windlass outbox show ID' tells");
        }
        session.out().printf("rescheduled %s to %s%n", id.value(), time);
        return 0;
    }
}
