@NullMarked
package dev.windlass.internal.engine;

import org.jspecify.annotations.NullMarked;
