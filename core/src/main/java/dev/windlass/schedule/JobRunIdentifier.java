package dev.windlass.schedule;

import dev.windlass.internal.support.Require;
import dev.windlass.outbox.OutboxMessage;
import java.util.UUID;

/** Names a run of a job; and the message it becomes. */
public record JobRunIdentifier(UUID value) {

    public JobRunIdentifier {
        Require.present("run identifier", value);
    }

    /** The run that a handler of the outbox has got as a message. */
    public static JobRunIdentifier of(OutboxMessage message) {
        return new JobRunIdentifier(Require.present("message", message).id().value());
    }

    /** As it can be pasted: the bare UUID. */
    @Override
    public String toString() {
        return value.toString();
    }
}
