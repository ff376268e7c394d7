package dev.windlass.schedule;

import dev.windlass.internal.support.Require;
import java.util.UUID;

/** Names a timer; and, once it is due, the message it becomes. */
public record TimerIdentifier(UUID value) {

    public TimerIdentifier {
        Require.present("timer identifier", value);
    }

    /** As it can be pasted: the bare UUID. */
    @Override
    public String toString() {
        return value.toString();
    }
}
