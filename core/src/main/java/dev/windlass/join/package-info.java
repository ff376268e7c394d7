/**
 * Joins: somebody waits for the ends of several messages, and one message follows.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>The end of a member counts in its joins in the transaction that ends it, once.
 *   <li>The transaction that counts the last step ends the join, and writes what follows: one message, or none. If that message is
 *       refused, the join stays pending, all counted, and a later transaction does both.
 *   <li>Counted steps never exceed the members, nor members the expected steps; the table checks both.
 *   <li>A join that has ended does not change any more.
 * </ul>
 *
 * <p>A member that has ended before it is attached counts at once. If its row is gone by then, a note tells how it ended: whatever
 * deletes messages while a join is pending leaves one. So a message that is written after its join was started is never unknown.
 */
@NullMarked
package dev.windlass.join;

import org.jspecify.annotations.NullMarked;
