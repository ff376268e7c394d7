/**
 * What happens inside, told to whoever wants to hear it: alerts, metrics, tests.
 *
 * <p>A {@link dev.windlass.event.WindlassListener} hears {@link dev.windlass.event.WindlassEvent}s. It runs on a thread of its own, behind a line
 * that is bounded. So one that throws or hangs harms nothing: its line fills, and what does not fit is left out and counted. Events are
 * told within hundredths of a second, in the order in which they happened on one thread.
 *
 * <p>An event is news, not a record. What happens in the moment in which a process dies may never be told. What must not be lost belongs
 * into a message, or into the tables: dead letters can be listed there.
 *
 * <p>No event carries a payload or headers. The error of an attempt is the text of the handler's exception, as it is stored with the
 * message.
 */
@NullMarked
package dev.windlass.event;

import org.jspecify.annotations.NullMarked;
