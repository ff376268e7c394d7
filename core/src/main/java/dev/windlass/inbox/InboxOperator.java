package dev.windlass.inbox;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * What an operator does to an inbox. Changes are logged with the operator's name.
 *
 * <p>Thread-safe. Changes by filter go through in batches, each a transaction of its own, and touch only what had died before
 * they began. Keys that do not fit are ignored; the results tell how many did.
 */
public interface InboxOperator {

    /**
     * Messages without their payloads: unfinished ones of a state the oldest first, ended ones the latest first, those of all
     * states by source and id.
     *
     * <p>The list walks along an index of the state, or of the keys. A source or topic that is rare among many of its state takes a
     * walk past the others.
     */
    List<ListedMessage> list(SeenFilter filter, int limit);

    /** The page that follows the one that ended with {@code last}. */
    List<ListedMessage> list(SeenFilter filter, int limit, ListedMessage last);

    /** Messages that were given up, the latest first, without their payloads. */
    List<SeenMessage> dead(InboxFilter filter, int limit);

    /** The page that follows the one that ended with {@code last}. */
    List<SeenMessage> dead(InboxFilter filter, int limit, SeenMessage last);

    /**
     * Messages in progress whose lease has run out, or whose attempt began longer ago than this; the oldest first, without
     * their payloads. Queued ones are taken back by the nodes; others wait until they are delivered again.
     */
    List<SeenMessage> stuck(Duration olderThan, int limit);

    /** Gives dead messages all their attempts again. Queued ones are ready at once, others when they are delivered again. */
    int revive(Collection<InboxKey> keys);

    int revive(InboxFilter filter);

    /** Deletes dead messages. The inbox forgets them: if they are delivered again, they are processed. */
    int purge(Collection<InboxKey> keys);

    int purge(InboxFilter filter);
}
