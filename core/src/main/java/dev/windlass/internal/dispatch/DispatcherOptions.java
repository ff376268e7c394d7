package dev.windlass.internal.dispatch;

import dev.windlass.base.QueueOptions;
import dev.windlass.base.WindlassOptions;

/**
 * How a dispatcher works.
 *
 * @param maxBytesInHand about how many characters of payload wait for a handler or are in one
 */
public record DispatcherOptions(QueueOptions queue, WindlassOptions common, long maxBytesInHand) {

    /** With an eighth of the memory for payloads: a character takes two bytes at most, and there may be several dispatchers. */
    public DispatcherOptions(QueueOptions queue, WindlassOptions common) {
        this(queue, common, Runtime.getRuntime().maxMemory() / 8);
    }
}
