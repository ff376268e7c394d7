package dev.windlass.cli;

import dev.windlass.outbox.OutboxMessageIdentifier;
import java.util.UUID;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads the id of a message; stricter than Java, which takes 1-1-1-1-1 for one. */
final class MessageId implements ITypeConverter<OutboxMessageIdentifier> {
    private static final String FORM = "(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

    @Override
    public OutboxMessageIdentifier convert(String value) {
        return new OutboxMessageIdentifier(uuid("message", value));
    }

    static UUID uuid(String noun, String value) {
        if (!value.matches(FORM)) {
            throw new TypeConversionException("expected the id of " + (noun.startsWith("i") ? "an " : "a ") + noun
                    + " such as 0197c3a2-8f10-7abc-9def-0123456789ab, got '" + value + "'");
        }
        return UUID.fromString(value);
    }
}
