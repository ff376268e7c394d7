/**
 * For users' tests: a real database, "handle all that is due now", and control over time.
 *
 * <p>{@link dev.windlass.testkit.WindlassExtension} is all there is to know. Nothing here replaces the database or the runtime
 * by something simpler: a test runs what production runs, with shorter pauses.
 */
@NullMarked
package dev.windlass.testkit;

import org.jspecify.annotations.NullMarked;
