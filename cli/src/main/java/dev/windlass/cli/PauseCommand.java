package dev.windlass.cli;

import dev.windlass.operator.PausedTopic;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.TypeConversionException;

/** Stops a topic on all nodes. */
@Command(
        name = "pause",
        description =
                "Stop claims of ${bundle:queue.nouns} of a ${bundle:queue.topic}, on all nodes; handlers at work finish.")
final class PauseCommand implements Callable<Integer> {
    private static final int LONGEST_REASON = 2_048;

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private OfQueue above;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "TOPIC", converter = TopicName.class, description = "The ${bundle:queue.topic}.")
    @SuppressWarnings("NullAway.Init")
    private String topic;

    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            defaultValue = "",
            converter = Reason.class,
            description = "Why, for those who find it paused.")
    private String reason = "";

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        return access.with(this::pause);
    }

    private int pause(OutboxSession session) {
        WorkQueue<?, ?> queue = above.queue();
        boolean known = queue.knows(session, topic);
        if (queue.operator(session.windlass(), actor.name()).pause(topic, reason)) {
            session.out().printf("paused %s %s%n", queue.topic(), Printable.line(topic));
            HeldBack.note(access, queue, topic, known, "resume %s", "pause %s");
        } else {
            session.out()
                    .printf(
                            "%s %s was paused already%s%n",
                            queue.topic(), Printable.line(topic), since(queue, session));
        }
        return 0;
    }

    private String since(WorkQueue<?, ?> queue, OutboxSession session) {
        return queue.reader(session).pausedTopics().stream()
                .filter(paused -> paused.topic().equals(topic))
                .findFirst()
                .map(PauseCommand::since)
                .orElse("");
    }

    private static String since(PausedTopic paused) {
        return ", since " + Printable.seconds(paused.since()) + " by " + Printable.line(paused.by());
    }

    private static final class Reason implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            if (value.length() > LONGEST_REASON) {
                throw new TypeConversionException("expected a reason of at most %,d characters, got %,d"
                        .formatted(LONGEST_REASON, value.length()));
            }
            return value;
        }
    }
}
