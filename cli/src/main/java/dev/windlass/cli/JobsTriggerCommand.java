package dev.windlass.cli;

import dev.windlass.schedule.JobRun;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Runs a job once, now. */
@Command(name = "trigger", description = "Make a run of a job now, also if it is paused; its schedule is not touched.")
final class JobsTriggerCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private JobChoice choice = new JobChoice();

    @Override
    public Integer call() throws Exception {
        return access.with(this::trigger);
    }

    private int trigger(OutboxSession session) {
        JobRun run = choice.change(session, jobs -> jobs.trigger(choice.name()));
        session.out().printf("triggered %s: run %s%n", choice, run.id().value());
        return 0;
    }
}
