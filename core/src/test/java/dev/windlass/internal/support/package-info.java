@NullMarked
package dev.windlass.internal.support;

import org.jspecify.annotations.NullMarked;
