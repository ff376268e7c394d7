package dev.windlass.inbox;

import dev.windlass.runtime.Require;
import org.jspecify.annotations.Nullable;

/** Chooses dead messages; what is null does not matter. */
public record InboxFilter(@Nullable String source, @Nullable String topic) {

    public InboxFilter {
        if (source != null) {
            Require.name("source", source, 255);
        }
        if (topic != null) {
            Require.name("topic", topic, InboxEntry.MAX_TOPIC);
        }
    }

    public static InboxFilter all() {
        return new InboxFilter(null, null);
    }

    public InboxFilter withSource(@Nullable String source) {
        return new InboxFilter(source, topic);
    }

    public InboxFilter withTopic(@Nullable String topic) {
        return new InboxFilter(source, topic);
    }
}
