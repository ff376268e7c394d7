package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** Which messages of an inbox. */
final class InboxWhich {

    @Option(
            names = "--source",
            paramLabel = "SOURCE",
            converter = SourceName.class,
            description = "Only messages of this source.")
    private @Nullable String source;

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            converter = TopicName.class,
            description = "Only queued messages of this topic.")
    private @Nullable String topic;

    boolean isGiven() {
        return source != null || topic != null;
    }

    MessageFilter filter() {
        return MessageFilter.all().withSource(source).withTopic(topic);
    }

    List<String> words() {
        List<String> words = new ArrayList<>();
        if (source != null) {
            words.addAll(List.of("--source", source));
        }
        if (topic != null) {
            words.addAll(List.of("--topic", topic));
        }
        return words;
    }

    private static final class SourceName implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> MessageFilter.all().withSource(value), value);
        }
    }
}
