@NullMarked
package dev.windlass.internal.work;

import org.jspecify.annotations.NullMarked;
