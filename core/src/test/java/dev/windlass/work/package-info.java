@NullMarked
package dev.windlass.work;

import org.jspecify.annotations.NullMarked;
