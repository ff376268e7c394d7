package dev.windlass.cli;

import dev.windlass.operator.Attempts;
import dev.windlass.schedule.TimerIdentifier;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Gives timers that failed another chance. */
@Command(name = "requeue", description = "Make timers that failed ready again, from their first attempt.")
final class TimersRequeueCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", arity = "1..*", converter = TimerChoice.Id.class, description = "The timers.")
    private List<TimerIdentifier> given = List.of();

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        return access.with(this::requeue);
    }

    private int requeue(OutboxSession session) {
        List<TimerIdentifier> ids = given.stream().distinct().toList();
        int changed = session.windlass().timers().operator(actor.name()).requeue(ids, Attempts.RESET);
        return Fitting.TIMERS.report(
                session,
                "requeued",
                "unknown, not failed, erased, or has a key that another one has by now",
                ids.size(),
                changed);
    }
}
