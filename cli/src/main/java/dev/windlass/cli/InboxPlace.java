package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.inbox.ListedMessage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.TypeConversionException;

/**
 * Where a page of messages of the inbox begins: TIME/STATE and, of a queued message, /ID of its work item; its source; its id there.
 * It outlives the message.
 *
 * @param message only its place matters
 */
record InboxPlace(ListedMessage message) {

    static List<String> words(ListedMessage last) {
        String place = last.at() + "/" + StateName.option(last.status())
                + last.id().map(id -> "/" + id.value()).orElse("");
        return List.of(place, last.key().source(), last.key().messageId());
    }

    static InboxPlace read(List<String> words, OutboxAccess access) {
        try {
            return new InboxPlace(message(words.get(0).split("/", 3), new InboxKey(words.get(1), words.get(2))));
        } catch (TypeConversionException | IllegalArgumentException e) {
            throw access.wrongUse("Invalid value for option '--after': " + e.getMessage());
        }
    }

    private static ListedMessage message(String[] place, InboxKey key) {
        if (place.length < 2) {
            throw new IllegalArgumentException(
                    "expected a place such as 2026-08-01T10:00:00Z/failed, got '" + place[0] + "'");
        }
        Instant at = new PointInTime().convert(place[0]);
        return new ListedMessage(
                key,
                place.length == 2
                        ? Optional.empty()
                        : Optional.of(new InboxWorkItemIdentifier(MessageId.uuid("message", place[2]))),
                Optional.empty(),
                StateName.read(WorkStatus.class, place[1]),
                at,
                at,
                Optional.empty(),
                Optional.empty(),
                0,
                0,
                0,
                Optional.empty(),
                false);
    }
}
