/**
 * What is done by hand to a queue, and is the same for all of them: list, requeue, purge, erase, pause.
 *
 * <p>Each change is one transaction that also records who did it. A change by filter goes through in batches, and touches only
 * what had failed before it began; so requeuing what fails again at once comes to an end. Who stops half-way, or crashes, has
 * done and recorded the batches before.
 */
@NullMarked
package dev.windlass.operator;

import org.jspecify.annotations.NullMarked;
