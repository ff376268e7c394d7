package dev.windlass.operator;

import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * What an operator does to a queue. Each change is recorded with the operator's name.
 *
 * <p>Thread-safe. Changes by filter are for what has failed; they go through in batches, each a transaction of its own, and touch
 * only what had failed before they began. An error leaves the batches before it done and recorded. Ids that do not fit are
 * ignored; the results tell how many did.
 *
 * @param <I> what names one of the queue
 * @param <L> one as it appears in a list: without its content
 */
public interface Operator<I, L> {

    /**
     * What the queue holds: unfinished ones of a state the oldest first; ended ones, and those of all states, the latest first.
     *
     * <p>The list walks along an index of the state. Only what is ready or has failed has one by topic: a rare topic among many
     * others of another state, or of all, takes a walk past them.
     */
    Page<L> list(MessageFilter filter, int limit);

    /** The page that begins after this position: the {@link Page#next} of a list with the same filter. */
    Page<L> list(MessageFilter filter, int limit, PagePosition after);

    /** Makes what has failed ready again. An expiry that has passed is dropped; what was erased stays as it is. */
    int requeue(Collection<I> ids, Attempts attempts);

    int requeue(MessageFilter failed, Attempts attempts);

    /** Deletes what has failed, with its history. */
    int purge(Collection<I> ids);

    int purge(MessageFilter failed);

    /**
     * Erases payload and headers of what has ended, for good; its history stays. Cancel first what nobody has handled yet.
     */
    int erase(Collection<I> ids);

    /**
     * Stops claims of a topic on all nodes. Handlers that are at work finish; what nodes have claimed and not begun they give
     * back. Returns whether it was not paused before.
     */
    boolean pause(String topic, String reason);

    /** Returns whether the topic was paused. */
    boolean resume(String topic);

    List<PausedTopic> pausedTopics();

    /**
     * Limits a topic on all nodes, from now on and until it is changed; {@link TopicLimit#none} lifts it. What is in progress goes on.
     * Returns whether that is a change; only then is it recorded.
     */
    boolean limit(String topic, TopicLimit limit);

    /** The topics that are limited. */
    Map<String, TopicLimit> limits();

    /** What operators did to this queue, the latest first. */
    Page<OperatorAction> actions(int limit);

    /** The page that begins after this position. */
    Page<OperatorAction> actions(int limit, PagePosition after);
}
