package dev.windlass.cli;

import dev.windlass.schedule.TimerIdentifier;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Deletes timers that failed. */
@Command(name = "purge", description = "Delete timers that failed, with their history, for good.")
final class TimersPurgeCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", arity = "1..*", converter = TimerChoice.Id.class, description = "The timers.")
    private List<TimerIdentifier> given = List.of();

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        return access.with(this::purge);
    }

    private int purge(OutboxSession session) {
        List<TimerIdentifier> ids = given.stream().distinct().toList();
        int changed = session.windlass().timers().operator(actor.name()).purge(ids);
        return Fitting.TIMERS.report(session, "purged", "unknown, or not failed", ids.size(), changed);
    }
}
