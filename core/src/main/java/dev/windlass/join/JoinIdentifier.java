package dev.windlass.join;

import dev.windlass.internal.support.Require;
import java.util.UUID;

/** Names a join. */
public record JoinIdentifier(UUID value) {

    public JoinIdentifier {
        Require.present("join identifier", value);
    }

    /** As it can be pasted: the bare UUID. */
    @Override
    public String toString() {
        return value.toString();
    }
}
