package dev.windlass.cli;

import dev.windlass.operator.PausedTopic;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** Stops a topic on all nodes. */
@Command(name = "pause", description = "Stop handling a topic, on all nodes; handlers at work finish.")
final class PauseCommand implements Callable<Integer> {
    private static final int LONGEST_REASON = 2_048;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "TOPIC", converter = TopicName.class, description = "The topic.")
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
        boolean known = KnownTopic.isKnown(session, topic);
        if (session.outbox().operator(actor.name()).pause(topic, reason)) {
            session.out().printf("paused topic %s%n", Printable.line(topic));
            if (!known) {
                access.note("no message, timer or job of topic " + Printable.line(topic)
                        + " is there now; if it is misspelt, undo this with 'windlass outbox resume "
                        + OutboxAccess.quoted(topic) + "'");
            }
        } else {
            session.out().printf("topic %s was paused already%s%n", Printable.line(topic), since(session));
        }
        return 0;
    }

    private String since(OutboxSession session) {
        return session.reader().pausedTopics().stream()
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
