/** Windlass beside other libraries, in one run: {@code ./benchmarks/run}. */
@NullMarked
package dev.windlass.benchmarks;

import org.jspecify.annotations.NullMarked;
