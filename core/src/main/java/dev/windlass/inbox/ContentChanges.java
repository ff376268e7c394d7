package dev.windlass.inbox;

import dev.windlass.runtime.Telemetry;
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
