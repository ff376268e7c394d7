/**
 * Internal: timers and jobs, and the loops that hand over what is due.
 */
@NullMarked
package dev.windlass.internal.schedule;

import org.jspecify.annotations.NullMarked;
