/**
 * Internal: the verbs of a leased queue, written once. A feature declares its table and how its rows are read.
 */
@NullMarked
package dev.windlass.internal.queue;

import org.jspecify.annotations.NullMarked;
