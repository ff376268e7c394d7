package dev.windlass.outbox;

import dev.windlass.internal.support.Require;
import java.util.UUID;

/** Names a message as an item of work: what claim, ack, abandon and fail speak of. */
public record OutboxWorkItemIdentifier(UUID value) {

    public OutboxWorkItemIdentifier {
        Require.present("work item identifier", value);
    }

    /** As it can be pasted: the bare UUID. */
    @Override
    public String toString() {
        return value.toString();
    }
}
