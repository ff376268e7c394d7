package dev.windlass.internal.inbox;

import dev.windlass.event.WindlassEvent;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxKey;
import dev.windlass.internal.database.Database;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells of messages that arrived again with other content: their sender gives ids to more than one message. */
final class ContentChanges {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final Database database;

    ContentChanges(Database database) {
        this.database = database;
    }

    void report(InboxKey key) {
        log.warn(
                "[{}] message {} arrived again with other content than the first time; the first one counts",
                database.name(),
                key);
        database.events().tell(new WindlassEvent.ContentDiffers(database.store(), key.source(), key.messageId()));
    }
}
