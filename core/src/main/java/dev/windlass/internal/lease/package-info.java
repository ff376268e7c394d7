/**
 * Internal: leases, those who wait for them, and the loop that renews them.
 */
@NullMarked
package dev.windlass.internal.lease;

import org.jspecify.annotations.NullMarked;
