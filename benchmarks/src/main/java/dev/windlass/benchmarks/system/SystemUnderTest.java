package dev.windlass.benchmarks.system;

import java.util.List;
import java.util.Optional;

/** Something that keeps messages in PostgreSQL and hands them to handlers. */
public interface SystemUnderTest extends AutoCloseable {

    /** As in the option {@code --systems}, and in the tables. */
    String name();

    String version();

    /** How it is set up, in words. */
    String settings();

    /** The part of a scenario's messages that it gets: who is slower gets fewer, so that all are measured for some seconds. */
    double share();

    /** Why it cannot do this, if it cannot. */
    default Optional<String> cannot(Ability ability) {
        return Optional.empty();
    }

    /** Makes its tables afresh. */
    void install() throws Exception;

    /** Leaves nothing but its empty tables. */
    void empty() throws Exception;

    /** Writes messages into the empty tables, due now, and leaves them vacuumed, with no checkpoint due. */
    void fill(String topic, int messages, int payloadBytes) throws Exception;

    /** The same under ordering keys in turn. */
    default void fillOrdered(String topic, int messages, int payloadBytes, int keys) throws Exception {
        throw new UnsupportedOperationException("expected a system with ordering, got " + name());
    }

    /** Begins to hand messages of these topics to the handler; closing it ends that. */
    Workers start(Handling handling, List<String> topics) throws Exception;

    /** Who writes, in a process without workers. */
    Producer producer() throws Exception;

    /** Who writes beside workers of the same process, and may tell them so. */
    Producer producer(Workers workers) throws Exception;

    /** Whether the database has no message that waits or is being handled. */
    boolean isDone() throws Exception;

    /** How many messages the database has that wait or are being handled. */
    long left() throws Exception;

    /** How many messages the database says have failed at least once. */
    long failed() throws Exception;

    @Override
    void close();
}
