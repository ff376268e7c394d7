@NullMarked
package dev.windlass.inbox;

import org.jspecify.annotations.NullMarked;
