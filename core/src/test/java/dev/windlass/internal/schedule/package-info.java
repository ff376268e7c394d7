@NullMarked
package dev.windlass.internal.schedule;

import org.jspecify.annotations.NullMarked;
