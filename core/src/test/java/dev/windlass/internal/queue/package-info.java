@NullMarked
package dev.windlass.internal.queue;

import org.jspecify.annotations.NullMarked;
