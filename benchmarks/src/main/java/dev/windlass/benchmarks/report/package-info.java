/** What came out: numbers of all rounds, and the page and the charts that are made of them. */
@NullMarked
package dev.windlass.benchmarks.report;

import org.jspecify.annotations.NullMarked;
