@NullMarked
package dev.windlass.internal.fleet;

import org.jspecify.annotations.NullMarked;
