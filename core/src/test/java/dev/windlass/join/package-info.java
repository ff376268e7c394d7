@NullMarked
package dev.windlass.join;

import org.jspecify.annotations.NullMarked;
