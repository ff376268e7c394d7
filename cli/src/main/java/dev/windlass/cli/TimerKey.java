package dev.windlass.cli;

import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerEntry;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** A timer named by what its program calls it. */
final class TimerKey {

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            converter = TopicName.class,
            description = "Instead of an id: the timer of this topic that has the key.")
    private @Nullable String topic;

    @Option(names = "--key", paramLabel = "KEY", converter = Key.class, description = "Its key in the topic.")
    private @Nullable String key;

    /** Either an id or both parts of a key: a timer is named in one way. */
    void requireOneWay(OutboxAccess access, boolean idIsGiven) {
        if ((topic == null) != (key == null)) {
            throw access.wrongUse(
                    "expected --topic and --key together, got only " + (key == null ? "--topic" : "--key"));
        }
        if (idIsGiven == (topic != null)) {
            throw access.wrongUse("expected an id, or --topic and --key, got " + (idIsGiven ? "both" : "none of them"));
        }
    }

    /** Fails with a sentence when there is none. */
    Timer in(OutboxSession session) {
        return session.windlass()
                .timers()
                .find(topic(), key())
                .orElseThrow(() -> TimerChoice.unknown("a timer " + this));
    }

    boolean isGiven() {
        return topic != null;
    }

    private String topic() {
        return Objects.requireNonNull(topic);
    }

    private String key() {
        return Objects.requireNonNull(key);
    }

    @Override
    public String toString() {
        return "of topic " + Printable.line(topic()) + " with key " + Printable.line(key());
    }

    private static final class Key implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> new TimerEntry.Key(value, false), value);
        }
    }
}
