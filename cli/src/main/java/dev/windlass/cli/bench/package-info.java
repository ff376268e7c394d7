/**
 * Measures Windlass against what the database itself can do, in one run on one machine: every number has its yardstick
 * beside it. Rounds alternate between the two, and medians are shown, because machines are noisy.
 */
@NullMarked
package dev.windlass.cli.bench;

import org.jspecify.annotations.NullMarked;
