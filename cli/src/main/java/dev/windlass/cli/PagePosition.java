package dev.windlass.cli;

import dev.windlass.outbox.DeadLetter;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;

/**
 * Where a page begins: after a dead letter, named by its id.
 *
 * @param failedAt with it the position outlives the dead letter, which may be requeued or purged before the next page is read
 */
record PagePosition(OutboxMessageIdentifier id, @Nullable Instant failedAt) {

    static String of(DeadLetter letter) {
        return letter.failedAt() + "/" + letter.id().value();
    }

    DeadLetter in(OutboxSession session) {
        if (failedAt != null) {
            return at(id, failedAt);
        }
        return session.deadLetter(id)
                .orElseThrow(() -> new CommandFailure("expected a dead letter to begin after, but " + id.value()
                        + " is none, or no longer; begin without --after, or narrow the list with --until"));
    }

    /** Only time and id matter to the list. */
    private static DeadLetter at(OutboxMessageIdentifier id, Instant failedAt) {
        return new DeadLetter(
                id,
                "any",
                Optional.empty(),
                Optional.empty(),
                false,
                failedAt,
                failedAt,
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
