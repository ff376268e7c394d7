/** Small programs to copy from. Each has a {@code main} that needs no more than a JDK, and is run by the build. */
@NullMarked
package dev.windlass.examples;

import org.jspecify.annotations.NullMarked;
