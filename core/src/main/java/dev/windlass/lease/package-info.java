@NullMarked
package dev.windlass.lease;

import org.jspecify.annotations.NullMarked;
