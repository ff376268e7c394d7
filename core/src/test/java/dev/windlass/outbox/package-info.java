@NullMarked
package dev.windlass.outbox;

import org.jspecify.annotations.NullMarked;
