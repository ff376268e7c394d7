package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Where a page begins: after a message, named by its id and, unless it is a dead letter, by the time that the list is ordered by; TIME/ID,
 * and for one that has an ordering key TIME/ID/NUMBER/KEY.
 *
 * @param at with it the position outlives the message, which may be changed or gone before the next page is read
 */
record PagePosition(
        OutboxMessageIdentifier id,
        @Nullable Instant at,
        @Nullable Long sequence,
        @Nullable String key) {

    static String of(ListedMessage last) {
        String place = last.at() + "/" + last.id();
        return last.orderingKey()
                .map(key -> place + "/" + last.orderingSequence().orElseThrow() + "/" + key)
                .orElse(place);
    }

    ListedMessage in(OutboxSession session) {
        if (at != null) {
            return placed(at);
        }
        return session.deadLetter(id)
                .orElseThrow(() -> new CommandFailure("expected a dead letter to begin after, but " + id
                        + " is none, or no longer; begin without --after, or narrow the list with --until"));
    }

    /** Only its place matters to the list. */
    private ListedMessage placed(Instant at) {
        return new ListedMessage(
                id,
                "any",
                Optional.empty(),
                WorkStatus.FAILED,
                Optional.empty(),
                Optional.ofNullable(key),
                Optional.ofNullable(sequence),
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

    /** Reads ID, TIME/ID or TIME/ID/NUMBER/KEY. */
    static final class Converter implements ITypeConverter<PagePosition> {
        @Override
        public PagePosition convert(String value) {
            return value.indexOf('/') < 0
                    ? new PagePosition(new MessageId().convert(value), null, null, null)
                    : new PlaceConverter().convert(value);
        }
    }

    /** Reads TIME/ID or TIME/ID/NUMBER/KEY: an id alone does not tell where it stands in a list that is not of dead letters. */
    static final class PlaceConverter implements ITypeConverter<PagePosition> {
        @Override
        public PagePosition convert(String value) {
            String[] parts = value.split("/", 4);
            if (parts.length < 2 || parts.length == 3 || (parts.length == 4 && !parts[2].matches("\\d{1,18}"))) {
                throw new TypeConversionException(
                        "expected a place such as 2026-08-01T10:00:00Z/0197c3a2-8f10-7abc-9def-0123456789ab, got '"
                                + value + "'");
            }
            return new PagePosition(
                    new MessageId().convert(parts[1]),
                    new PointInTime().convert(parts[0]),
                    parts.length < 4 ? null : Long.valueOf(parts[2]),
                    parts.length < 4 ? null : parts[3]);
        }
    }
}
