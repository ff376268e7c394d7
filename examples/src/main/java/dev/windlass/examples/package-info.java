/**
 * Small programs to copy from. Each has a {@code main} that needs no more than a JDK, and is run by the build; the relays need
 * a broker, which the build brings.
 */
@NullMarked
package dev.windlass.examples;

import org.jspecify.annotations.NullMarked;
