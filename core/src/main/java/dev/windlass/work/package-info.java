/**
 * The work queue: named queues of items with priorities, limits over all nodes, progress and results.
 *
 * <p>It is a queue like the outbox, with the same verbs and the same runtime. What is its own: an item has a type, by which its handler
 * is chosen, and a priority; items with a key take turns with those of other keys; queues can be limited; a handler can tell how far it
 * has come, and what it came to.
 */
@NullMarked
package dev.windlass.work;

import org.jspecify.annotations.NullMarked;
