@NullMarked
package dev.windlass.benchmarks;

import org.jspecify.annotations.NullMarked;
