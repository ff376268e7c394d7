@NullMarked
package dev.windlass.internal.inbox;

import org.jspecify.annotations.NullMarked;
