package dev.windlass.inbox;

import dev.windlass.internal.support.Require;
import java.util.UUID;

/** Names a queued message as a piece of work: what ack, abandon and fail take. */
public record InboxWorkItemIdentifier(UUID value) {

    public InboxWorkItemIdentifier {
        Require.present("work item identifier", value);
    }

    /** As it can be pasted: the bare UUID. */
    @Override
    public String toString() {
        return value.toString();
    }
}
