package dev.windlass.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Lets a paused topic go on. */
@Command(
        name = "resume",
        description = "Claim ${bundle:queue.nouns} of a paused ${bundle:queue.topic} again, on all nodes.")
final class ResumeCommand implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private OfQueue above;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "TOPIC", converter = TopicName.class, description = "The ${bundle:queue.topic}.")
    @SuppressWarnings("NullAway.Init")
    private String topic;

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        return access.with(this::resume);
    }

    private int resume(OutboxSession session) {
        WorkQueue<?, ?> queue = above.queue();
        boolean resumed = queue.operator(session.windlass(), actor.name()).resume(topic);
        String name = queue.topic() + " " + Printable.line(topic);
        session.out()
                .println(
                        resumed
                                ? "resumed " + name
                                : name + " was not paused; '" + queue.command("paused") + "' lists those that are");
        return 0;
    }
}
