/**
 * What is measured. A scenario is one class that reads from the top to the bottom: what is done for one system in one round.
 *
 * <p>The rounds of all systems are interleaved, so that a machine which is busy for a minute is so for all of them, and ratios
 * are taken within a round. A round before the first is for warming up, and is not counted. A message counts as handled when the
 * database says so, not when its handler has returned.
 */
@NullMarked
package dev.windlass.benchmarks.scenario;

import org.jspecify.annotations.NullMarked;
