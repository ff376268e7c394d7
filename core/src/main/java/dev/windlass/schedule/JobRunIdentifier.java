package dev.windlass.schedule;

import dev.windlass.runtime.Require;
import java.util.UUID;

/** Names a run of a job; and the message it becomes. */
public record JobRunIdentifier(UUID value) {

    public JobRunIdentifier {
        Require.present("run identifier", value);
    }

    /** As it can be pasted: the bare UUID. */
    @Override
    public String toString() {
        return value.toString();
    }
}
