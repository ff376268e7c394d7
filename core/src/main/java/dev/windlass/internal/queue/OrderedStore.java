package dev.windlass.internal.queue;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** A store with an order among messages: of those with the same key one after the other is handled. */
public interface OrderedStore<M> extends WorkStore<M> {

    /** For whom to take the next message of each key, which topics there is room for, and for how much payload. */
    record Taker(UUID owner, Duration lease, Set<String> topics, long bytes) {}

    /**
     * What an ack came to.
     *
     * @param taken the next messages of their keys
     * @param anyReady whether others may have become ready
     */
    record Acked<M>(Answer answer, List<Claimed<M>> taken, boolean anyReady) {}

    /** Acks, and takes the next message of each key with it. */
    Acked<M> ackAndTake(Connection connection, List<Held> held, Taker taker) throws SQLException;
}
