package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.util.Collection;

/** Something an operator does to dead letters. */
interface DeadLetterChange {

    String verb();

    String participle();

    /** What may be the matter with ids that did not fit. */
    String misfits();

    boolean fits(ListedMessage letter);

    int apply(OutboxOperator operator, Collection<OutboxMessageIdentifier> ids);

    int apply(OutboxOperator operator, MessageFilter filter);
}
