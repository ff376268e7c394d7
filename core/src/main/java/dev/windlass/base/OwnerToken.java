package dev.windlass.base;

import dev.windlass.internal.support.Require;
import java.util.UUID;

/**
 * Names the owner of claimed work: only calls with the token that claimed an item can change it.
 *
 * <p>Take a fresh token for every claim. With one token per process, a stalled worker's late ack could end a newer attempt
 * of the same process.
 */
public record OwnerToken(UUID value) {

    private static final UUID NIL = new UUID(0, 0);

    public OwnerToken {
        Require.present("owner token", value);
        if (value.equals(NIL)) {
            throw new IllegalArgumentException("expected an owner token, got the nil UUID; use OwnerToken.fresh()");
        }
    }

    public static OwnerToken fresh() {
        return new OwnerToken(UUID.randomUUID());
    }

    /** As it can be pasted: the bare UUID. */
    @Override
    public String toString() {
        return value.toString();
    }
}
