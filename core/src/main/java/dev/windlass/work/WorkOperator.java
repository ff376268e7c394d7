package dev.windlass.work;

import dev.windlass.operator.Operator;

/**
 * What an operator does to the work queue. A topic is the name of a queue here. A failed item whose unique key another one has by now
 * cannot be requeued, and stays as it is.
 */
public interface WorkOperator extends Operator<WorkIdentifier, ListedWork> {}
