package dev.windlass.outbox;

import dev.windlass.internal.support.Require;
import java.util.UUID;

/** Names a message for good, over all its attempts: what to remember for idempotency. */
public record OutboxMessageIdentifier(UUID value) {

    public OutboxMessageIdentifier {
        Require.present("message identifier", value);
    }

    /** As it can be pasted: the bare UUID. */
    @Override
    public String toString() {
        return value.toString();
    }
}
