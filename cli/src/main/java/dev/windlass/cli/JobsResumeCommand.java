package dev.windlass.cli;

import dev.windlass.schedule.Job;
import dev.windlass.schedule.Schedule;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lets a paused job go on. */
@Command(
        name = "resume",
        description = "Let a paused job go on with its next tick; those of the pause are not made up for.")
final class JobsResumeCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private JobChoice choice = new JobChoice();

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        return access.with(this::resume);
    }

    private int resume(OutboxSession session) {
        requireTimes(choice.in(session).job());
        boolean resumed = choice.change(session, actor.name(), jobs -> jobs.resumeJob(choice.name()));
        String next = choice.in(session)
                .nextTick()
                .map(tick -> "; next due " + Span.dated(tick, session.now()))
                .orElse("");
        session.out().printf(resumed ? "resumed %s%s%n" : "%s was not paused%s%n", choice, next);
        return 0;
    }

    private void requireTimes(Job job) {
        if (job.schedule() instanceof Schedule.Unreadable unreadable) {
            throw new CommandFailure("expected a job whose times can be read, but " + choice + " has "
                    + Printable.line(unreadable.toString()) + " (" + Printable.line(unreadable.why())
                    + "); save it again from its program");
        }
    }
}
