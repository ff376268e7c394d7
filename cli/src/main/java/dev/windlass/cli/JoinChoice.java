package dev.windlass.cli;

import dev.windlass.join.Join;
import dev.windlass.join.JoinIdentifier;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Parameters;

/** The join that a command is about. */
final class JoinChoice {

    @Parameters(paramLabel = "ID", converter = Id.class, description = "The join.")
    @SuppressWarnings("NullAway.Init")
    private JoinIdentifier id;

    JoinIdentifier id() {
        return id;
    }

    Join in(OutboxSession session) {
        return session.windlass()
                .joins()
                .find(id)
                .orElseThrow(() -> new CommandFailure("expected a join with id " + id
                        + ", found none; it may have been cleaned up, or be in another --schema; 'windlass joins list' lists"
                        + " those there are"));
    }

    private static final class Id implements ITypeConverter<JoinIdentifier> {
        @Override
        public JoinIdentifier convert(String value) {
            return new JoinIdentifier(MessageId.uuid("join", value));
        }
    }
}
