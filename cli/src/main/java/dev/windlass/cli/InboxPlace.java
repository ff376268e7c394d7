package dev.windlass.cli;

import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxStatus;
import dev.windlass.inbox.ListedMessage;
import dev.windlass.inbox.SeenMessage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.TypeConversionException;

/**
 * Where a page of messages of the inbox begins. It outlives the message.
 *
 * @param message only its place matters
 */
record InboxPlace(ListedMessage message) {

    static InboxPlace read(List<String> words, OutboxAccess access) {
        try {
            Instant at = new PointInTime().convert(words.get(0));
            return new InboxPlace(new ListedMessage(seen(new InboxKey(words.get(1), words.get(2)), at), at));
        } catch (TypeConversionException | IllegalArgumentException e) {
            throw access.wrongUse("Invalid value for option '--after': " + e.getMessage());
        }
    }

    private static SeenMessage seen(InboxKey key, Instant at) {
        return new SeenMessage(
                key,
                InboxStatus.READY,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                at,
                at,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                0,
                0,
                0,
                Optional.empty(),
                Optional.empty());
    }
}
