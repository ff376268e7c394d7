@NullMarked
package dev.windlass.internal.outbox;

import org.jspecify.annotations.NullMarked;
