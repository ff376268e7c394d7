@NullMarked
package dev.windlass.schedule;

import org.jspecify.annotations.NullMarked;
