@NullMarked
package dev.windlass.engine;

import org.jspecify.annotations.NullMarked;
