package dev.windlass.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lets a job rest. */
@Command(name = "pause", description = "Let the ticks of a job pass without runs, on all nodes; runs at work go on.")
final class JobsPauseCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private JobChoice choice = new JobChoice();

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        return access.with(this::pause);
    }

    private int pause(OutboxSession session) {
        if (choice.change(session, actor.name(), jobs -> jobs.pauseJob(choice.name()))) {
            session.out().printf("paused %s%n", choice);
        } else {
            String since = choice.in(session)
                    .pausedAt()
                    .map(at -> ", since " + Printable.seconds(at))
                    .orElse("");
            session.out().printf("%s was paused already%s%n", choice, since);
        }
        return 0;
    }
}
