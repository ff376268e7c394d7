/** The commands in this JVM, with their output captured, and {@code serve} as a process that gets real signals. */
@NullMarked
package dev.windlass.cli;

import org.jspecify.annotations.NullMarked;
