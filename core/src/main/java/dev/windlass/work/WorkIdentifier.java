package dev.windlass.work;

import dev.windlass.runtime.Require;
import java.util.UUID;

/** Names an item of the work queue. */
public record WorkIdentifier(UUID value) {

    public WorkIdentifier {
        Require.present("work identifier", value);
    }

    /** As it can be pasted: the bare UUID. */
    @Override
    public String toString() {
        return value.toString();
    }
}
