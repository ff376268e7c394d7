@NullMarked
package dev.windlass.internal.join;

import org.jspecify.annotations.NullMarked;
