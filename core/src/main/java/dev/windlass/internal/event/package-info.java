/** Brings events to their listeners. */
@NullMarked
package dev.windlass.internal.event;

import org.jspecify.annotations.NullMarked;
