/**
 * Internal: the work queue.
 */
@NullMarked
package dev.windlass.internal.work;

import org.jspecify.annotations.NullMarked;
