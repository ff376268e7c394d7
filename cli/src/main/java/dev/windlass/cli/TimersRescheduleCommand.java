package dev.windlass.cli;

import dev.windlass.schedule.TimerIdentifier;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Moves the due time of a timer. */
@Command(name = "reschedule", description = "Give a timer that nobody has handled yet another due time.")
final class TimersRescheduleCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private TimerChoice choice = new TimerChoice();

    @Mixin
    private DueOption due = new DueOption();

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access);
        due.requireOne(access);
        return access.with(this::reschedule);
    }

    private int reschedule(OutboxSession session) {
        TimerIdentifier id = choice.in(session).id();
        Instant time = due.time(session);
        if (!session.windlass().timers().reschedule(id, time)) {
            throw new CommandFailure("expected a timer that waits for its time, but " + id.value()
                    + " is being handled, has failed, or became a message meanwhile; 'windlass timers show ID' tells");
        }
        session.out().printf("rescheduled %s to %s%n", id.value(), time);
        return 0;
    }
}
