@NullMarked
package dev.windlass.internal.loop;

import org.jspecify.annotations.NullMarked;
