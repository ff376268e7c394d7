@NullMarked
package dev.windlass.internal.lease;

import org.jspecify.annotations.NullMarked;
