package dev.windlass.cli;

import dev.windlass.operator.TopicLimit;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.TypeConversionException;

/** Limits a topic over all nodes. */
@Command(
        name = "limit",
        description = {
            "Limit how many ${bundle:queue.nouns} of a ${bundle:queue.topic} are handled, over all nodes.",
            "What is left out is not limited. What is in progress goes on."
        })
final class LimitCommand implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private OfQueue above;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "TOPIC", converter = TopicName.class, description = "The ${bundle:queue.topic}.")
    @SuppressWarnings("NullAway.Init")
    private String topic;

    @Option(
            names = "--running",
            paramLabel = "N",
            converter = Most.class,
            description = "At most so many are in progress at once.")
    private @Nullable Integer running;

    @Option(
            names = "--per-key",
            paramLabel = "N",
            converter = Most.class,
            description = "At most so many of each key are in progress at once.")
    private @Nullable Integer perKey;

    @Option(
            names = "--rate",
            paramLabel = "N/TIME",
            converter = Rate.Converter.class,
            description = "At most so many begin within any such time: 100/1m, 5/s.")
    private @Nullable Rate rate;

    @Option(names = "--none", description = "Lift all limits of the ${bundle:queue.topic}.")
    private boolean none;

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        TopicLimit limit = limit();
        boolean isLimited = !limit.equals(TopicLimit.none());
        if (isLimited == none) {
            throw access.wrongUse("expected --running, " + (above.queue().hasTurns() ? "--per-key, " : "")
                    + "--rate, or --none instead of them, got " + (none ? "both" : "none of them"));
        }
        return access.with(session -> limit(session, limit));
    }

    private TopicLimit limit() {
        return new TopicLimit(running, perKey, rate == null ? null : rate.number, rate == null ? null : rate.period);
    }

    private int limit(OutboxSession session, TopicLimit limit) {
        WorkQueue<?, ?> queue = above.queue();
        String name = queue.topic() + " " + Printable.line(topic);
        boolean known = queue.knows(session, topic);
        boolean changed = queue.operator(session.windlass(), actor.name()).limit(topic, limit);
        if (none) {
            session.out()
                    .println(
                            changed
                                    ? "lifted the limits of " + name
                                    : name + " was not limited; '" + queue.command("limits")
                                            + "' lists those that are");
        } else if (changed) {
            session.out().println("limited " + name + ": " + words(limit));
            HeldBack.note(access, queue, topic, known, "limit %s --none", "limit %s");
        } else {
            session.out().println(name + " was limited like this already: " + words(limit));
        }
        return 0;
    }

    /** What a limit says, in a few words. */
    static String words(TopicLimit limit) {
        StringBuilder words = new StringBuilder();
        add(words, limit.running(), " running");
        add(words, limit.perKey(), " per key");
        add(words, limit.rate(), limit.period() == null ? "" : " per " + Span.exact(limit.period()));
        return words.toString();
    }

    private static void add(StringBuilder words, @Nullable Integer number, String of) {
        if (number != null) {
            words.append(words.isEmpty() ? "" : ", ").append(number).append(of);
        }
    }

    private static final class Most implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            int most = value.matches("\\d{1,9}") ? Integer.parseInt(value) : 0;
            if (most == 0) {
                throw new TypeConversionException("expected a number from 1 to 999999999, got '" + value
                        + "'; to let none run, pause it, and to lift the limit, leave it out");
            }
            return most;
        }
    }

    /** So many within a time. */
    private record Rate(int number, Duration period) {

        private static final class Converter implements ITypeConverter<Rate> {
            @Override
            public Rate convert(String value) {
                String[] parts = value.split("/", -1);
                int number = parts[0].matches("\\d{1,9}") ? Integer.parseInt(parts[0]) : 0;
                Duration period = parts.length == 2 ? period(parts[1]) : Duration.ZERO;
                if (number == 0 || period.isZero()) {
                    throw new TypeConversionException(
                            "expected a number and a time such as 100/1m, 5/s or 1000/24h, got '" + value + "'");
                }
                Accepted.by(() -> TopicLimit.none().withRate(number, period), value);
                return new Rate(number, period);
            }

            /** A unit alone is one of it. */
            private static Duration period(String text) {
                return Distance.read(text.matches("[smhd]") ? "1" + text : text).orElse(Duration.ZERO);
            }
        }
    }
}
