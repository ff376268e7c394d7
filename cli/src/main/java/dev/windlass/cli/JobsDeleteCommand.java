package dev.windlass.cli;

import dev.windlass.schedule.JobState;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Deletes a job, after a question. */
@Command(
        name = "delete",
        description = "Delete a job with the runs that nobody handles yet; its history stays for a while.")
final class JobsDeleteCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private JobChoice choice = new JobChoice();

    @Mixin
    private ActorOption actor = new ActorOption();

    @Mixin
    private YesOption yes = new YesOption();

    @Override
    public Integer call() throws Exception {
        yes.requireAWayToAsk(access);
        return access.with(this::delete);
    }

    private int delete(OutboxSession session) {
        if (!yes.isGiven(access, question(choice.in(session)))) {
            throw new CommandFailure("expected the answer yes, got another; nothing was deleted");
        }
        choice.change(session, actor.name(), jobs -> {
            jobs.deleteJob(choice.name());
            return true;
        });
        session.out().printf("deleted %s%n", choice);
        return 0;
    }

    /** A program that has the job in a set brings it back one day. */
    private String question(JobState job) {
        String set = job.jobSet()
                .map(name ->
                        "; it belongs to the set " + Printable.line(name) + ", whose next revision may bring it back")
                .orElse("");
        return "delete " + choice + " for good, with the runs that nobody handles yet" + set + "?";
    }
}
