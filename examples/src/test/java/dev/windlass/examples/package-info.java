@NullMarked
package dev.windlass.examples;

import org.jspecify.annotations.NullMarked;
