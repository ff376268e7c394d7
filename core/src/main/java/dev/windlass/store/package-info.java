/**
 * Many databases in one process: what {@link dev.windlass.Fleet} works on.
 *
 * <p>A {@link dev.windlass.store.Store} is a schema of a database under a stable identifier. There is a list of them, or a {@link
 * dev.windlass.store.DatabaseDiscovery} that tells which there are now. Each has outbox, inbox, timers, jobs, work queue, joins and
 * leases of its own; a {@link dev.windlass.store.Router} finds them by a key. No transaction spans two stores.
 */
@NullMarked
package dev.windlass.store;

import org.jspecify.annotations.NullMarked;
