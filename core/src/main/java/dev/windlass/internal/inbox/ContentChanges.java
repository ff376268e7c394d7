package dev.windlass.internal.inbox;

import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxKey;
import dev.windlass.internal.dispatch.Telemetry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells of messages that arrived again with other content: their sender gives ids to more than one message. */
final class ContentChanges {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final String store;
    private final Telemetry telemetry;

    ContentChanges(String store, Telemetry telemetry) {
        this.store = store;
        this.telemetry = telemetry;
    }

    void report(InboxKey key) {
        log.warn(
                "[{}] message {} arrived again with other content than the first time; the first one counts",
                store,
                key);
        telemetry.contentDiffers(store, key.source());
    }
}
