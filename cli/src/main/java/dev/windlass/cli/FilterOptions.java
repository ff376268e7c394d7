package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** Which of a queue. */
final class FilterOptions {

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            converter = TopicName.class,
            description = "Only ${bundle:queue.nouns} of this ${bundle:queue.topic}.")
    private @Nullable String topic;

    @Option(
            names = "--source",
            paramLabel = "SOURCE",
            converter = SourceName.class,
            description = "Only ${bundle:queue.nouns} that ${bundle:queue.source}.")
    private @Nullable String source;

    @Option(
            names = "--from",
            paramLabel = "TIME",
            converter = PastTime.Converter.class,
            description = "Only what has its time then or later: 2026-08-01T10:00:00Z, or 2h or 7d for so long ago.")
    private @Nullable PastTime from;

    @Option(
            names = "--until",
            paramLabel = "TIME",
            converter = PastTime.Converter.class,
            description = "Only what has its time earlier; written like --from.")
    private @Nullable PastTime until;

    @Option(
            names = "--error",
            paramLabel = "TEXT",
            converter = ErrorPart.class,
            description = "Only those with this text somewhere in the last error, in whatever case.")
    private @Nullable String error;

    boolean isGiven() {
        return topic != null || source != null || from != null || until != null || error != null;
    }

    MessageFilter filter(OutboxSession session) {
        return new MessageFilter(
                null,
                topic,
                source,
                from == null ? null : from.at(session::now),
                until == null ? null : until.at(session::now),
                error);
    }

    /** The options that mean the same again later: with times instead of distances. */
    static List<String> words(MessageFilter filter) {
        List<String> words = new ArrayList<>();
        add(words, "--topic", filter.topic());
        add(words, "--source", filter.source());
        add(words, "--from", filter.from());
        add(words, "--until", filter.until());
        add(words, "--error", filter.error());
        return words;
    }

    private static void add(List<String> words, String option, @Nullable Object value) {
        if (value != null) {
            words.addAll(List.of(option, value.toString()));
        }
    }

    private static final class SourceName implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> MessageFilter.all().withSource(value), value);
        }
    }

    private static final class ErrorPart implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> MessageFilter.all().withError(value), value);
        }
    }
}
