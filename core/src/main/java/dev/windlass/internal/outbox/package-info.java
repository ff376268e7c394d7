/**
 * Internal: the outbox, on a queue of its own.
 */
@NullMarked
package dev.windlass.internal.outbox;

import org.jspecify.annotations.NullMarked;
