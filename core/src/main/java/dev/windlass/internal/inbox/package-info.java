/**
 * Internal: the inbox: the guard against messages that arrive twice, and a queue of its own.
 */
@NullMarked
package dev.windlass.internal.inbox;

import org.jspecify.annotations.NullMarked;
