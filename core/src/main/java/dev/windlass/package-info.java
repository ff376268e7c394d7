/**
 * Reliable background work on the database you already have: {@link dev.windlass.Windlass} is where everything starts.
 *
 * <p>One {@code Windlass} serves one schema of one database. It owns the threads and the few connections that background
 * work needs; nothing is static, so several can live in one process. Each feature has a package of its own and reads top to
 * bottom there: {@code outbox} is the first. {@code base} has what they share, {@code schema} brings the database up to date. How it is
 * done is under {@code internal}, which the module does not export.
 */
@NullMarked
package dev.windlass;

import org.jspecify.annotations.NullMarked;
