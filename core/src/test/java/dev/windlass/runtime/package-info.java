@NullMarked
package dev.windlass.runtime;

import org.jspecify.annotations.NullMarked;
