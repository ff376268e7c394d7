package dev.windlass.inbox;

import dev.windlass.base.OwnerToken;
import dev.windlass.internal.support.Require;

/**
 * The right to process a message until its lease runs out, and the proof of it that the marks ask for. Can be handed to
 * another thread.
 *
 * @param owner nobody else has this token
 * @param number counts the attempts from one, and again from one after a revival
 */
public record InboxAttempt(InboxKey key, OwnerToken owner, int number) {

    public InboxAttempt {
        Require.present("inbox key", key);
        Require.present("owner token", owner);
        Require.positive("number of the attempt", number);
    }
}
