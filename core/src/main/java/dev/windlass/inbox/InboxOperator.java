package dev.windlass.inbox;

import dev.windlass.operator.Operator;
import java.time.Duration;
import java.util.List;

/**
 * What an operator does to an inbox: to all that it has seen, whether the message was queued or not. A filter with a topic chooses
 * queued messages only.
 *
 * <p>Requeued messages that were queued are ready at once; others can be begun again when they are delivered again. What is purged
 * the inbox has forgotten: if it is delivered again, it is processed. Only queued messages have something to erase. In a list of
 * all states come first those that are queued, the latest first, then the others, state by state.
 */
public interface InboxOperator extends Operator<InboxKey, ListedMessage> {

    /**
     * Messages in progress whose lease has run out, or whose attempt began longer ago than this; the oldest first. Queued ones
     * are taken back by the nodes; others wait until they are delivered again.
     */
    List<ListedMessage> stuck(Duration olderThan, int limit);
}
