package dev.windlass.benchmarks.system;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/** Writes messages. */
public interface Producer extends AutoCloseable {

    /** A change of the caller's own tables. */
    @FunctionalInterface
    interface BusinessChange {
        void write(Connection connection) throws SQLException;
    }

    /** A message and when it is due. */
    record Due(String payload, Instant at) {}

    /** Writes one; it is committed when this returns. */
    void enqueue(String topic, String payload) throws Exception;

    /** Writes many in one transaction, in the quickest way there is; committed when this returns. */
    void enqueueAll(String topic, List<String> payloads) throws Exception;

    /** Writes one together with a change, in one transaction; committed when this returns. */
    void enqueueWith(BusinessChange change, String topic, String payload) throws Exception;

    /** Writes many that are due later; committed when this returns. */
    void schedule(String topic, List<Due> messages) throws Exception;

    @Override
    default void close() {}
}
