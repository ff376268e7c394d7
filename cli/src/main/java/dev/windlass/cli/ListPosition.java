package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Where a page of messages begins: TIME/ID, and for one that has an ordering key, TIME/ID/NUMBER/KEY. It outlives the message.
 *
 * @param message only its place matters
 */
record ListPosition(ListedMessage message) {

    static String of(ListedMessage last) {
        String place = last.at() + "/" + last.id();
        return last.orderingKey().isEmpty()
                ? place
                : place + "/" + last.orderingSequence().orElseThrow() + "/"
                        + last.orderingKey().orElseThrow();
    }

    static final class Converter implements ITypeConverter<ListPosition> {
        @Override
        public ListPosition convert(String value) {
            String[] parts = value.split("/", 4);
            if (parts.length < 2 || parts.length == 3 || (parts.length == 4 && !parts[2].matches("\\d{1,18}"))) {
                throw new TypeConversionException(
                        "expected a place such as 2026-08-01T10:00:00Z/0197c3a2-8f10-7abc-9def-0123456789ab, got '"
                                + value + "'");
            }
            var at = new PointInTime().convert(parts[0]);
            return new ListPosition(new ListedMessage(
                    new OutboxMessageIdentifier(MessageId.uuid("message", parts[1])),
                    "any",
                    WorkStatus.READY,
                    Optional.empty(),
                    parts.length < 4 ? Optional.empty() : Optional.of(parts[3]),
                    parts.length < 4 ? Optional.empty() : Optional.of(Long.parseLong(parts[2])),
                    at,
                    at,
                    Optional.empty(),
                    0,
                    0,
                    0,
                    Optional.empty()));
        }
    }
}
