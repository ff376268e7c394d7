@NullMarked
package dev.windlass.base;

import org.jspecify.annotations.NullMarked;
