package dev.windlass.internal.inbox;

import dev.windlass.inbox.InboxMessage;
import dev.windlass.internal.queue.WorkStore.Held;
import java.util.UUID;

/** A claimed message and the token it was claimed with, which a handler's own transaction needs to end it. */
record Delivery(InboxMessage message, UUID owner) {

    Held held() {
        return new Held(message.id().value(), owner, false);
    }
}
