package dev.windlass.cli;

import dev.windlass.base.WorkStatus;
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

    private static String whatToDo(OutboxSession session, JobRunIdentifier id) {
        String wait = "wait until it has ended, or cancel it with 'windlass runs cancel " + id
                + "', which works until somebody handles it";
        Optional<JobRun> run = session.windlass().jobs().findRun(id);
        boolean handled =
                run.filter(one -> one.status() == WorkStatus.IN_PROGRESS).isPresent();
        boolean taken = handled || run.filter(JobRun::handedOff).isPresent();
        if (handled) {
            return "somebody is handling it; wait until it has ended";
        }
        return taken ? wait : "no node has taken it yet, is one running? 'windlass serve' is one; " + wait;
    }
}
