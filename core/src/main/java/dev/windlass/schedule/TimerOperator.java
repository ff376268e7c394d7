package dev.windlass.schedule;

import dev.windlass.operator.Operator;

/**
 * What an operator does to timers. A failed timer whose key another one has by now cannot be requeued, and stays as it is.
 *
 * <p>A pause is for programs that claim timers themselves. Nodes hand due timers of a paused topic off all the same; to hold the
 * messages back, pause the topic of the outbox.
 */
public interface TimerOperator extends Operator<TimerIdentifier, ListedTimer> {}
