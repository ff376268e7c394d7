package dev.windlass.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Lets a paused topic go on. */
@Command(name = "resume", description = "Handle a paused topic again, on all nodes.")
final class ResumeCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "TOPIC", converter = TopicName.class, description = "The topic.")
    @SuppressWarnings("NullAway.Init")
    private String topic;

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        return access.with(this::resume);
    }

    private int resume(OutboxSession session) {
        boolean resumed = session.outbox().operator(actor.name()).resume(topic);
        session.out()
                .printf(
                        resumed
                                ? "resumed topic %s%n"
                                : "topic %s was not paused; 'windlass outbox paused' lists those that are%n",
                        Printable.line(topic));
        return 0;
    }
}
