/**
 * Work that is due later: timers, once, and jobs, again and again.
 *
 * <p>What is due becomes a message of the outbox, in the transaction that ends it here, and under its own id. From then on it is
 * handled as any other message: by the handler of its topic, with retries, on whatever node has room.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>A timer is pending, claimed by one owner, or gone; if its cancellation returned true, it is never delivered.
 *   <li>A timer that is due becomes one message, whatever number of nodes look for it and whenever they die.
 *   <li>A tick of a job becomes one run at most, and exactly one where its rules do not skip it.
 *   <li>A run ends in the transaction that ends its message, with the same outcome.
 *   <li>A job that cannot be planned says why, and does not hold up the others.
 * </ul>
 *
 * <h2>What it does not promise</h2>
 *
 * <p>Handlers see a message at least once, as with every message. A timer fires at its time or later, never earlier, by the
 * database's clock.
 */
@NullMarked
package dev.windlass.schedule;

import org.jspecify.annotations.NullMarked;
