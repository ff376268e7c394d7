package dev.windlass.work;

import dev.windlass.internal.support.Require;
import java.util.UUID;

/** Names an item of the work queue. */
public record WorkIdentifier(UUID value) implements Comparable<WorkIdentifier> {

    public WorkIdentifier {
        Require.present("work identifier", value);
    }

    /** What was made earlier comes first, as in the database. */
    @Override
    public int compareTo(WorkIdentifier other) {
        return value.toString().compareTo(other.value.toString());
    }

    /** As it can be pasted: the bare UUID. */
    @Override
    public String toString() {
        return value.toString();
    }
}
