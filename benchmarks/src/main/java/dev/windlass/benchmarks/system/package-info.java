/**
 * The systems under test, each set up in its best way that is documented, in a schema of its own.
 *
 * <p>All are used through their public API. Only a backlog is written inside the database, as rows like those that the API
 * writes: to write a million one by one would take longer than to measure them.
 */
@NullMarked
package dev.windlass.benchmarks.system;

import org.jspecify.annotations.NullMarked;
