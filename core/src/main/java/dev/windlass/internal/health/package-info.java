/** Runs health checks, so that one that hangs costs no thread more than its own, and nobody else's answer. */
@NullMarked
package dev.windlass.internal.health;

import org.jspecify.annotations.NullMarked;
