package dev.windlass.event;

import dev.windlass.base.QueueKind;
import dev.windlass.health.HealthStatus;
import dev.windlass.health.QueueMeasure;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

/** Something that happened in a store. New kinds may come with later versions: a {@code switch} over them needs a {@code default}. */
public sealed interface WindlassEvent {

    /** What identifies the store: the name that was given to the builder, or its identifier in a fleet. */
    String store();

    /** About the messages of one queue. */
    sealed interface OfQueue extends WindlassEvent {
        QueueKind queue();
    }

    /**
     * About one message. One that is processed in the inbox without its queue has no topic and no id of ours: the topic is its source,
     * and the id is made of its source and its sender's id, the same for each attempt.
     */
    sealed interface OfMessage extends OfQueue {
        String topic();

        UUID id();
    }

    /**
     * Messages of a topic have been written by this process. They exist when their transaction is committed, which may be later, or
     * never.
     */
    record Enqueued(String store, QueueKind queue, String topic, int messages) implements OfQueue {}

    /** This node has claimed messages, in one call. */
    record Claimed(String store, QueueKind queue, int messages) implements OfQueue {}

    /** How a run of a handler ended. */
    enum Ending {
        DONE,
        /** It is tried again. */
        RETRY,
        /** It is a dead letter. */
        FAILED,
        /** It was given back, since the node shuts down, the lease was lost, or somebody cancelled it. */
        STOPPED;

        private final String text = name().toLowerCase(Locale.ROOT);

        /** As it is written in metrics. */
        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * A handler has ended. What it means for the message is written next, together with others.
     *
     * @param attempt 1 for the first
     * @param waited from when the message could be handled until its handler began, by the clock of the database, but for what it waited in this process
     * @param took how long the handler worked; its part, where one call handled several messages
     */
    record Handled(
            String store,
            QueueKind queue,
            String topic,
            UUID id,
            int attempt,
            Ending ending,
            Duration waited,
            Duration took)
            implements OfMessage {}

    /** Outcomes have been written, in one call. */
    record Settled(String store, QueueKind queue, int messages) implements OfQueue {}

    /**
     * A message is ready again, or will be, after an attempt that failed. Written when this is told.
     *
     * @param counted whether the attempt was used up
     */
    record Retried(
            String store,
            QueueKind queue,
            String topic,
            UUID id,
            int attempt,
            Duration delay,
            boolean counted,
            String error)
            implements OfMessage {}

    /** A message has failed for good, and is a dead letter. Written when this is told. */
    record DeadLettered(String store, QueueKind queue, String topic, UUID id, int attempt, String error)
            implements OfMessage {}

    /** Messages have become dead letters because nobody handled them before they expired. */
    record Expired(String store, QueueKind queue, int messages) implements OfQueue {}

    /** Handled messages have been deleted, since they were kept long enough. */
    record Cleaned(String store, QueueKind queue, int messages) implements OfQueue {}

    /** Messages are ready again because their leases had run out: their owners have died, as a rule. */
    record Reaped(String store, QueueKind queue, int messages) implements OfQueue {}

    /** Outcomes came too late: their messages had gone on to somebody else, and may be handled twice. */
    record ClaimsLost(String store, QueueKind queue, int messages) implements OfQueue {}

    /**
     * A message is in progress far beyond its lease, and nobody takes it back. Told once for each by each node.
     *
     * @param message its id; in the inbox its source and its sender's id
     * @param leaseUntil when its lease ran out
     */
    record StuckFound(String store, QueueKind queue, String message, Instant leaseUntil) implements OfQueue {}

    /** Messages of a topic wait, and this node has no handler for it. */
    record TopicUnhandled(String store, QueueKind queue, String topic) implements OfQueue {}

    /** The handler of a topic has failed so often in a row that the topic rests on this node; or it works again. */
    record CircuitChanged(String store, QueueKind queue, String topic, boolean open) implements OfQueue {}

    /**
     * Timers have become messages, in one call.
     *
     * @param late how late the one was that was due first
     */
    record TimersHandedOff(String store, int timers, Duration late) implements WindlassEvent {}

    /** A tick of a job, or a trigger, has made a run. */
    record JobRunCreated(String store, String job, UUID run) implements WindlassEvent {}

    /**
     * A node has handled the message of a job's run to its end, and with it the run. A run whose message expires, or is purged or cancelled, ends
     * without this event; its row tells.
     */
    record JobRunEnded(String store, String topic, UUID run, boolean done) implements WindlassEvent {}

    /**
     * This process has a lease.
     *
     * @param waited how long it asked for it
     */
    record LeaseAcquired(String store, String name, long fencingToken, Duration waited) implements WindlassEvent {}

    /** A lease was asked for, and somebody else has it. */
    record LeaseRefused(String store, String name) implements WindlassEvent {}

    record LeaseRenewed(String store, String name, long fencingToken) implements WindlassEvent {}

    /** This process has lost a lease that it did not give back. */
    record LeaseLost(String store, String name, long fencingToken, String reason) implements WindlassEvent {}

    /** A message arrived again in the inbox, with other content than the first time. */
    record ContentDiffers(String store, String source, String messageId) implements WindlassEvent {}

    record OutageBegan(String store, String error) implements WindlassEvent {}

    record OutageEnded(String store, Duration lasted) implements WindlassEvent {}

    /** Nobody gave back a connection in time. */
    record ConnectionsExhausted(String store) implements WindlassEvent {}

    /**
     * How much there is, told once a minute.
     *
     * @param activeLeases named leases that somebody holds
     * @param inHand how many messages this node holds, by queue
     * @param loops whether all that runs in the background of this node goes on
     */
    record Measured(
            String store,
            List<QueueMeasure> queues,
            long activeLeases,
            Map<QueueKind, Integer> inHand,
            HealthStatus loops)
            implements WindlassEvent {}

    /**
     * How much there is could not be found out, as while the database is away. Told instead of {@link Measured}, and sooner than a minute
     * later, since it is tried again sooner.
     *
     * @param inHand how many messages this node holds, by queue
     * @param loops whether all that runs in the background of this node goes on
     */
    record MeasureFailed(String store, Map<QueueKind, Integer> inHand, HealthStatus loops) implements WindlassEvent {}

    /** This node has been closed: the last that is heard of it. In a fleet, see {@link StoreRemoved}. */
    record Stopped(String store) implements WindlassEvent {}

    /** A fleet has opened a store. */
    record StoreAdded(String store) implements WindlassEvent {}

    /**
     * A fleet has let go of a store.
     *
     * @param replacement whether it goes on with another description of the same store
     */
    record StoreRemoved(String store, boolean replacement) implements WindlassEvent {}

    /** A fleet cannot open a store; it is tried again. */
    record StoreFailed(String store, String error) implements WindlassEvent {}
}
