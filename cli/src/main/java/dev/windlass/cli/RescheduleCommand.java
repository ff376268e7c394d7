package dev.windlass.cli;

import dev.windlass.outbox.OutboxMessageIdentifier;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Moves the due time of a message that nobody has claimed yet. */
@Command(name = "reschedule", description = "Give a message that nobody has claimed yet another due time.")
final class RescheduleCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", converter = MessageId.class, description = "The message.")
    @SuppressWarnings("NullAway.Init")
    private OutboxMessageIdentifier id;

    @Option(
            names = "--at",
            paramLabel = "TIME",
            converter = PointInTime.class,
            description = "When, such as 2026-08-01T10:00:00Z; in the past means now.")
    private @Nullable Instant at;

    @Option(
            names = "--in",
            paramLabel = "DISTANCE",
            converter = Distance.class,
            description = "How long from now: 90s, 30m, 2h, 7d.")
    private @Nullable Duration in;

    @Override
    public Integer call() throws Exception {
        if ((at == null) == (in == null)) {
            throw access.wrongUse("expected --at or --in, got " + (at == null ? "none of them" : "both"));
        }
        return access.with(this::reschedule);
    }

    private int reschedule(OutboxSession session) {
        Instant due = in == null ? at : session.now().plus(in);
        if (due == null || !session.outbox().reschedule(id, due)) {
            throw new CommandFailure("expected a message that nobody has claimed yet, but " + id.value()
                    + " is unknown, being handled, or has ended; 'windlass outbox show ID' tells");
        }
        session.out().printf("rescheduled %s to %s%n", id.value(), due);
        return 0;
    }
}
