/**
 * Internal: what differs between database engines. Features do not see this package; they call routines by name through
 * {@link dev.windlass.internal.database.Database}, and the routines are in the engines' SQL files.
 */
@NullMarked
package dev.windlass.internal.engine;

import org.jspecify.annotations.NullMarked;
