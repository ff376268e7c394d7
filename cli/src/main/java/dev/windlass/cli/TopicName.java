package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import picocli.CommandLine.ITypeConverter;

/** Reads the name of a topic. */
final class TopicName implements ITypeConverter<String> {

    @Override
    public String convert(String value) {
        return Accepted.by(() -> MessageFilter.failed().withTopic(value), value);
    }
}
