@NullMarked
package dev.windlass.internal.health;

import org.jspecify.annotations.NullMarked;
