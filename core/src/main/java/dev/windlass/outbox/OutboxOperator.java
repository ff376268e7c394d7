package dev.windlass.outbox;

import java.util.Collection;
import java.util.List;

/**
 * What an operator does to an outbox: dead letters, privacy requests, pauses. Each change is recorded with the operator's name.
 *
 * <p>Thread-safe. Changes by filter go through in batches, each a transaction of its own, and touch only what had failed before
 * they began; an error leaves the batches before it done and recorded. Ids that do not fit are ignored; the results tell how
 * many did.
 */
public interface OutboxOperator {

    /** Whether requeued messages start again from their first attempt. */
    enum Attempts {
        RESET,
        /** A message that had used them up gets one more. */
        KEEP
    }

    /**
     * Messages without their payloads: unfinished ones of a state the oldest first, and those that wait behind others key by key;
     * ended ones, and those of all states, the latest first.
     *
     * <p>The list walks along an index of the state. Only ready and failed messages have one by topic: a rare topic among many
     * others of another state, or of all, takes a walk past them.
     */
    List<ListedMessage> list(MessageFilter filter, int limit);

    /** The page that follows the one that ended with {@code last}. */
    List<ListedMessage> list(MessageFilter filter, int limit, ListedMessage last);

    /** Failed messages, the latest first. */
    List<DeadLetter> deadLetters(DeadLetterFilter filter, int limit);

    /** The page that follows the one that ended with {@code last}. */
    List<DeadLetter> deadLetters(DeadLetterFilter filter, int limit, DeadLetter last);

    /**
     * Makes failed messages ready again. An expiry that has passed is dropped, and so are erased messages. Under an ordering
     * key that others hold by now they wait, first in line.
     */
    int requeue(Collection<OutboxMessageIdentifier> ids, Attempts attempts);

    int requeue(DeadLetterFilter filter, Attempts attempts);

    /** Deletes failed messages with their history. What waited behind them goes on. */
    int purge(Collection<OutboxMessageIdentifier> ids);

    int purge(DeadLetterFilter filter);

    /** Lets what waits behind failed messages go on; they stay dead letters. */
    int skip(Collection<OutboxMessageIdentifier> ids);

    int skip(DeadLetterFilter filter);

    /**
     * Erases payload and headers of messages that have ended, for good; their history stays. Cancel a message first that
     * nobody has handled yet.
     */
    int erase(Collection<OutboxMessageIdentifier> ids);

    /**
     * Stops claims of a topic on all nodes. Handlers that are at work finish; what nodes have claimed and not begun they give
     * back. Returns whether it was not paused before.
     */
    boolean pause(String topic, String reason);

    /** Returns whether the topic was paused. */
    boolean resume(String topic);

    List<PausedTopic> pausedTopics();

    /** What operators did, the latest first. */
    List<OperatorAction> actions(int limit);

    /** The page that follows the one that ended with {@code last}. */
    List<OperatorAction> actions(int limit, OperatorAction last);
}
