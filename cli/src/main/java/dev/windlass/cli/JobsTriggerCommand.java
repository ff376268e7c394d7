package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.UnfinishedRunException;
import java.util.Optional;
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

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        return access.with(this::trigger);
    }

    private int trigger(OutboxSession session) {
        try {
            JobRun run = choice.change(session, actor.name(), jobs -> jobs.triggerJob(choice.name()));
            session.out().printf("triggered %s: run %s%n", choice, run.id().value());
            return 0;
        } catch (UnfinishedRunException e) {
            throw new CommandFailure(
                    choice + " allows no overlap, and its run " + e.run().value() + " is unfinished: "
                            + whatToDo(session, e.run()),
                    e);
        }
    }

    /** Only a run that was handed over is a message, which can be shown and cancelled. */
    private static String whatToDo(OutboxSession session, JobRunIdentifier id) {
        Optional<JobRun> run = session.windlass().jobs().findRun(id);
        if (run.filter(JobRun::handedOver).isPresent()) {
            return "wait until it has ended, or cancel its message with 'windlass outbox cancel " + id.value()
                    + "', which works until somebody handles it";
        }
        return run.filter(one -> one.status() == WorkStatus.IN_PROGRESS).isPresent()
                ? "a program is handling it; wait until it has ended"
                : "no node has taken it yet, so there is no message to cancel; is a node running? 'windlass serve' is one";
    }
}
