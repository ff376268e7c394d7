package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;

/**
 * Where a page begins: after a message, named by its id and, unless it is a dead letter, by the time that the list is ordered by.
 *
 * @param at with it the position outlives the message, which may be changed or gone before the next page is read
 */
record PagePosition(OutboxMessageIdentifier id, @Nullable Instant at) {

    static String of(ListedMessage last) {
        return last.at() + "/" + last.id();
    }

    ListedMessage in(OutboxSession session) {
        if (at != null) {
            return placed(id, at);
        }
        return session.deadLetter(id)
                .orElseThrow(() -> new CommandFailure("expected a dead letter to begin after, but " + id
                        + " is none, or no longer; begin without --after, or narrow the list with --until"));
    }

    /** Only time and id matter to the list. */
    private static ListedMessage placed(OutboxMessageIdentifier id, Instant at) {
        return new ListedMessage(
                id,
                "any",
                Optional.empty(),
                WorkStatus.FAILED,
                Optional.empty(),
                Optional.empty(),
                false,
                at,
                at,
                Optional.empty(),
                0,
                0,
                0,
                Optional.empty(),
                false);
    }

    /** Reads ID or TIME/ID. */
    static final class Converter implements ITypeConverter<PagePosition> {
        @Override
        public PagePosition convert(String value) {
            int slash = value.indexOf('/');
            return new PagePosition(
                    new MessageId().convert(value.substring(slash + 1)),
                    slash < 0 ? null : new PointInTime().convert(value.substring(0, slash)));
        }
    }
}
