package dev.windlass.inbox;

import dev.windlass.internal.support.Require;

/**
 * Names a message as it came: where from, and the name it has there.
 *
 * @param source who gives out the message ids, for example a topic of a broker; case-sensitive, up to 255 characters
 * @param messageId names the message within its source, the same at each delivery; case-sensitive, up to 255 characters
 */
public record InboxKey(String source, String messageId) {
    private static final int MAX = 255;

    public InboxKey {
        Require.name("source", source, MAX);
        Require.name("message id", messageId, MAX);
    }

    /** Fit for one line of a log: both texts come from elsewhere. */
    @Override
    public String toString() {
        return (messageId + " of source " + source).replaceAll("\\p{Cntrl}", "?");
    }
}
