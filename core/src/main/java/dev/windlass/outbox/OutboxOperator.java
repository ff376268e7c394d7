package dev.windlass.outbox;

import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.Operator;
import java.util.Collection;

/**
 * What an operator does to an outbox. Under an ordering key that others hold by now, a requeued message waits, first in line; what
 * waited behind a purged one goes on.
 */
public interface OutboxOperator extends Operator<OutboxMessageIdentifier, ListedMessage> {

    /** Lets what waits behind failed messages go on; they stay dead letters. */
    int skip(Collection<OutboxMessageIdentifier> ids);

    int skip(MessageFilter failed);
}
