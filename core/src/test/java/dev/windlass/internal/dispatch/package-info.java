@NullMarked
package dev.windlass.internal.dispatch;

import org.jspecify.annotations.NullMarked;
